//! docs/method.md §8: games against the sequential base. The published ones were cut at a number of
//! moves and scored; these are played whole.

use std::{collections::BTreeMap, time::Duration};

use serde_json::{Value, json};

use super::{
    ReproduceError, Reproduction, Section, or_dash,
    published::{self, Player},
    suites,
};
use crate::{
    game::{Adjudication, MatchRules},
    matches::{self, Contender, GamePair, MatchError, MatchPlan, Summary},
    openings::OpeningBook,
    player::{MatchPace, PlayerFailure, PlayerSpec},
    plot::{Bar, figures},
    speed::Speeds,
};

/// The moves of each side after which a game is cut, and scored by the published rule. Few last
/// that long.
const LONGEST: usize = 200;
/// The nodes of the scoring search of a cut game, in multiples of a move's.
const TRUNCATION: u64 = 20;
const BASE: &str = "engine";

pub(super) fn table(bench: &mut Reproduction<'_>) -> Result<Section, ReproduceError> {
    let speeds = speeds(bench)?;
    let nodes = bench.effort.nodes_a_move;
    let mut text = format!(
        "{} games each against complete knowledge with {nodes} nodes a move, from {}, in virtual time: every elector has a core, and \
         {nodes} nodes a move, or in equal time {nodes} times its speed: {speeds}. Games end by the rules or when both sides agree on the \
         score for some moves (`lab match --adjudicate`); after {LONGEST} moves a game is cut and scored by complete knowledge. Points of 20 \
         with 95 %; published ones have an error of about ±4.\n\n\
         | player | equal | published | here | Elo | nodes a move, its and the base's | by the rules, agreed, cut |\n\
         |---|---|---|---|---|---|---|\n",
        2 * pairs(bench),
        bench.openings
    );
    let mut bars = Vec::new();
    for player in &published::PLAYERS {
        for (in_time, pace) in [(false, MatchPace::Alike(bench.pace())), (true, MatchPace::EqualTime(nodes))] {
            if in_time && !player.in_equal_time {
                continue;
            }
            let summary = play(bench, player, pace, &speeds)?;
            let Some(elo) = summary.elo else { continue };
            text.push_str(&row(player, in_time, &summary));
            let name = if in_time { format!("{}, equal time", player.name) } else { player.name.to_owned() };
            bars.push(Bar { name, estimate: elo });
        }
    }
    let plot = figures("Against the sequential base, a core for each elector", "Elo", &bars, Some(0.0));
    Ok(Section { title: "§8 Games against the sequential base", text, plots: vec![("games.svg", plot)] })
}

/// Pairs of games for each player. No opening is played twice: with budgets of nodes it would give the same games again.
fn pairs(bench: &Reproduction<'_>) -> usize {
    (bench.effort.games as usize).div_ceil(2).min(bench.book.len())
}

fn row(player: &Player, in_time: bool, summary: &Summary) -> String {
    let (Some(score), Some(elo)) = (summary.score, summary.elo) else { return String::new() };
    let [its, of_base] = summary.conduct.map(|conduct| conduct.nodes_a_move());
    format!(
        "| {} | {} | {} | {:.2} ± {:.2} | {} | {its:.0}, {of_base:.0} | {} |\n",
        player.name,
        if in_time { "time" } else { "nodes" },
        or_dash(player.points),
        20.0 * score.value,
        20.0 * score.error(),
        elo.signed(),
        endings(&summary.endings)
    )
}

/// Returns the numbers of games that ended by the rules of chess, by agreement of both sides'
/// scores, and by their length.
fn endings(of: &BTreeMap<String, usize>) -> String {
    let count = |words: &[&str]| words.iter().filter_map(|word| of.get(*word)).sum::<usize>();
    let (agreed, cut) = (count(&["won by score", "drawn by score"]), count(&["truncated", "length"]));
    format!("{}, {agreed}, {cut}", of.values().sum::<usize>() - agreed - cut)
}

fn read(text: &str) -> Result<PlayerSpec, MatchError> {
    text.parse().map_err(|error| MatchError::Player(text.to_owned(), PlayerFailure::Failed(format!("{error}"))))
}

/// The speeds of all instances that play in equal time: as given, as measured in an earlier run, or measured now.
fn speeds(bench: &mut Reproduction<'_>) -> Result<Speeds, ReproduceError> {
    let mut state = bench.state::<Measured>("reproduce-speeds", &json!({"given": bench.speeds}))?;
    if let Some(known) = state.done().get(&0) {
        return Ok(known.speeds.clone());
    }
    let mut instances = Vec::new();
    for player in published::PLAYERS.iter().filter(|player| player.in_equal_time) {
        instances.extend(read(player.spec)?.instances().unwrap_or_default());
    }
    let speeds = bench.speeds.clone().measured(&instances, &suites(), bench.effort.nodes_a_move, bench.stop);
    let speeds = speeds.ok_or(ReproduceError::Stopped)?;
    state.record(0, Measured { speeds: speeds.clone() })?;
    Ok(speeds)
}

/// The stored form of a measurement.
#[derive(serde::Serialize, serde::Deserialize)]
struct Measured {
    speeds: Speeds,
}

fn play(
    bench: &mut Reproduction<'_>,
    player: &Player,
    pace: MatchPace,
    speeds: &Speeds,
) -> Result<Summary, ReproduceError> {
    let contender = |text: &str| Ok::<_, MatchError>(Contender::at(read(text)?, pace, speeds));
    let plan = MatchPlan {
        players: [contender(player.spec)?, contender(BASE)?],
        book: bench.book.clone(),
        pairs: pairs(bench),
        sprt: None,
        rules: MatchRules {
            adjudication: Adjudication::default(),
            longest: LONGEST,
            truncation: Some(TRUNCATION * bench.effort.nodes_a_move),
            margin: Duration::ZERO,
        },
        workers: bench.workers,
        cores: 1,
    };
    let facts = facts(bench, player, pace, speeds);
    let mut state = bench.state::<GamePair>("reproduce-games", &facts)?;
    let tell = &mut bench.tell;
    let summary =
        matches::run(&plan, &mut state, bench.stop, |standing| tell(player.name, standing.pairs(), plan.pairs))?;
    if summary.complete { Ok(summary) } else { Err(ReproduceError::Stopped) }
}

/// Returns the facts that these games depend on besides effort, build and seed.
pub(super) fn facts(bench: &Reproduction<'_>, player: &Player, pace: MatchPace, speeds: &Speeds) -> Value {
    let timed = matches!(pace, MatchPace::EqualTime(_)).then_some(speeds);
    let mut facts = json!({"player": player.spec, "pace": pace, "speeds": timed, "openings": bench.openings});
    let book = bench.book.checksum();
    // Books of one name may differ; what is built in is known by the build.
    if book != OpeningBook::built_in(bench.seed).checksum() {
        facts["book"] = json!(format!("{book:016x}"));
    }
    facts
}
