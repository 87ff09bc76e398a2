//! docs/method.md §8: games against the sequential base, cut after some moves and scored by complete knowledge, as theirs were.

use std::{fmt::Write, time::Duration};

use serde_json::json;

use super::{ReproduceError, Reproduction, Section, or_dash, published};
use crate::{
    game::{Adjudication, MatchRules},
    matches::{self, Contender, GamePair, MatchError, MatchPlan, Summary},
    openings::OpeningBook,
    player::{Pace, PlayerFailure, PlayerSpec},
    plot::{Bar, figures},
};

/// Moves of each side after which a game is cut.
const LONGEST: usize = 40;
/// A game that is cut is scored by a search of so many times the nodes of a move.
const TRUNCATION: u64 = 20;

pub(super) fn table(bench: &mut Reproduction<'_>) -> Result<Section, ReproduceError> {
    let mut text = format!(
        "{} games each against complete knowledge with {} nodes a move; every elector and every process has as many, in virtual time: a core for \
         each. Cut after {LONGEST} moves and scored by complete knowledge. Points are given as of 20, with 95 %. What they call points of 20 has an error of \
         about ±4 for want of games.\n\n| player | theirs of 20 | ours of 20 | Elo | nodes a move |\n|---|---|---|---|---|\n",
        bench.effort.games, bench.effort.nodes
    );
    let mut bars = Vec::new();
    for (name, player, theirs) in published::PLAYERS {
        let summary = play(bench, name, player)?;
        let nodes = summary.conduct[0].nodes_a_move();
        let (Some(score), Some(elo)) = (summary.score, summary.elo) else { continue };
        let _ = writeln!(
            text,
            "| {name} | {} | {:.2} ± {:.2} | {:+.0} [{:+.0}, {:+.0}] | {nodes:.0} |",
            or_dash(theirs),
            20.0 * score.value,
            20.0 * score.error(),
            elo.value,
            elo.low,
            elo.high
        );
        bars.push(Bar { name: name.to_owned(), estimate: elo });
    }
    let plot = figures("Against the sequential base, a core for each elector", "Elo", &bars, Some(0.0));
    Ok(Section { title: "§8 Games against the sequential base", text, plots: vec![("games.svg", plot)] })
}

fn play(bench: &mut Reproduction<'_>, name: &str, player: &str) -> Result<Summary, ReproduceError> {
    let nodes = bench.effort.nodes;
    let contender = |text: &str| -> Result<Contender, MatchError> {
        let spec: PlayerSpec = text
            .parse()
            .map_err(|error| MatchError::Player(text.to_owned(), PlayerFailure::Failed(format!("{error}"))))?;
        Ok(Contender { spec, pace: Pace::Nodes(nodes) })
    };
    let plan = MatchPlan {
        players: [contender(player)?, contender("engine:hash=8")?],
        book: OpeningBook::built_in(bench.seed),
        pairs: (bench.effort.games as usize).div_ceil(2),
        sprt: None,
        rules: MatchRules {
            adjudication: Adjudication { win: None, draw: None, tablebases: None },
            longest: LONGEST,
            truncation: Some(TRUNCATION * nodes),
            margin: Duration::ZERO,
        },
        workers: bench.workers,
        cores: 1,
    };
    let mut state = bench.state::<GamePair>("reproduce-games", &json!({"player": player}))?;
    let tell = &mut bench.tell;
    let summary = matches::run(&plan, &mut state, bench.stop, |standing| tell(name, standing.pairs(), plan.pairs))?;
    if summary.complete { Ok(summary) } else { Err(ReproduceError::Stopped) }
}
