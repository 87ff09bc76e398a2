//! docs/method.md §8: games against the sequential base. The published ones were cut at a number of
//! moves and scored; these are played whole.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{Reproduction, Section, or_dash, published, stopped, suites};
use crate::{
    game::{Adjudication, MatchRules},
    matches::{self, GamePair, Summary},
    openings::OpeningBook,
    player::{MatchPace, MatchPlan, PlayerSpec},
    plot::figures,
    speed::Speeds,
};
use domain::Line;
use util::Failure;

/// The moves of each side after which a game is cut and scored by the published rule.
const LONGEST: usize = 200;
/// The nodes of the scoring search of a cut game, in multiples of a move's.
const TRUNCATION: u64 = 20;
const BASE: &str = "engine";

pub(super) fn table(bench: &mut Reproduction<'_>) -> Result<Section, Failure> {
    let speeds = speeds(bench)?;
    let nodes = bench.effort.nodes_a_move;
    // No opening is played twice: with budgets of nodes it would give the same games again.
    let openings = bench.book.different((bench.effort.games as usize).div_ceil(2))?;
    let mut text = format!(
        "{} games each against complete knowledge with {nodes} nodes a move, from {}, in virtual time: every elector has a core, and \
         {nodes} nodes a move, or in equal time {nodes} times its speed: {speeds}. Games end by the rules or when both sides agree on the \
         score for some moves (`lab match --adjudicate`); after {LONGEST} moves a game is cut and scored by complete knowledge. Points of 20 \
         with 95 %; published ones have an error of about ±4.\n\n\
         | player | equal | published | here | Elo | nodes a move, its and the base's | by the rules, agreed, cut |\n\
         |---|---|---|---|---|---|---|\n",
        2 * openings.len(),
        bench.openings
    );
    let mut bars = Vec::new();
    for (name, spec, points, also_in_time) in published::PLAYERS {
        for (in_time, pace) in [(false, MatchPace::Alike(bench.pace())), (true, MatchPace::EqualTime(nodes))] {
            if in_time && !also_in_time {
                continue;
            }
            let summary = play(bench, (name, spec), pace, (&speeds, &openings))?;
            let Some(elo) = summary.elo else { continue };
            text.push_str(&row(name, points, in_time, &summary));
            let name = if in_time { format!("{name}, equal time") } else { name.to_owned() };
            bars.push((name, elo));
        }
    }
    let plot = figures("Against the sequential base, a core for each elector", "Elo", &bars, Some(0.0));
    Ok(Section { title: "§8 Games against the sequential base", text, plots: vec![("games.svg", plot)] })
}

fn row(name: &str, points: Option<f64>, in_time: bool, summary: &Summary) -> String {
    let (Some(score), Some(elo)) = (summary.score, summary.elo) else { return String::new() };
    let [its, of_base] = summary.conduct.map(|conduct| conduct.nodes_a_move());
    format!(
        "| {name} | {} | {} | {:.2} ± {:.2} | {} | {its:.0}, {of_base:.0} | {} |\n",
        if in_time { "time" } else { "nodes" },
        or_dash(points),
        20.0 * score.value,
        20.0 * score.error(),
        elo.signed(),
        endings(&summary.endings)
    )
}

/// Returns the numbers of games that ended by the rules, by agreement of both scores, and by length.
fn endings(of: &BTreeMap<String, usize>) -> String {
    let count = |words: &[&str]| words.iter().filter_map(|word| of.get(*word)).sum::<usize>();
    let (agreed, cut) = (count(&["won by score", "drawn by score"]), count(&["truncated", "length"]));
    format!("{}, {agreed}, {cut}", of.values().sum::<usize>() - agreed - cut)
}

fn read(text: &str) -> Result<PlayerSpec, Failure> {
    text.parse().map_err(|error| Failure::failed(format_args!("player {text}: {error}")))
}

/// The speeds of all instances that play in equal time: as given, as measured in an earlier run, or measured now.
fn speeds(bench: &mut Reproduction<'_>) -> Result<Speeds, Failure> {
    let mut state = bench.state::<Speeds>("reproduce-speeds", &json!({"given": bench.speeds}))?;
    if let Some(known) = state.done().get(&0) {
        return Ok(known.clone());
    }
    let mut instances = Vec::new();
    for (_, spec, ..) in published::PLAYERS.iter().filter(|(.., in_equal_time)| *in_equal_time) {
        instances.extend(read(spec)?.kind.instances().unwrap_or_default());
    }
    let speeds = bench.speeds.clone().measured(&instances, &suites(), bench.effort.nodes_a_move, bench.stop);
    let speeds = speeds.ok_or_else(stopped)?;
    state.record(0, speeds.clone())?;
    Ok(speeds)
}

fn play(
    bench: &mut Reproduction<'_>,
    (name, spec): (&str, &str),
    pace: MatchPace,
    (speeds, openings): (&Speeds, &[Arc<Line>]),
) -> Result<Summary, Failure> {
    let contender = |text: &str| Ok::<_, Failure>(pace.contender(read(text)?, speeds));
    let plan = MatchPlan {
        players: [contender(spec)?, contender(BASE)?],
        openings: openings.to_vec(),
        pairs: openings.len(),
        sprt: None,
        rules: MatchRules {
            truncation: Some(TRUNCATION * bench.effort.nodes_a_move),
            ..MatchRules::drawn_after(LONGEST, Adjudication::default())
        },
        workers: bench.workers,
        cores: 1,
    };
    let facts = facts(bench, spec, pace, speeds);
    let mut state = bench.state::<GamePair>("reproduce-games", &facts)?;
    let tell = &mut bench.tell;
    let summary = matches::run(&plan, &mut state, bench.stop, |standing| tell(name, standing.pairs(), plan.pairs))?;
    if summary.complete { Ok(summary) } else { Err(stopped()) }
}

/// Returns the facts that these games depend on besides effort, build and seed.
pub(super) fn facts(bench: &Reproduction<'_>, spec: &str, pace: MatchPace, speeds: &Speeds) -> Value {
    let timed = matches!(pace, MatchPace::EqualTime(_)).then_some(speeds);
    let mut facts = json!({"player": spec, "pace": pace.to_string(), "speeds": timed, "openings": bench.openings});
    let book = bench.book.checksum();
    // Books of one name may differ; the build identifies the built-in one.
    if book != OpeningBook::built_in(bench.seed).checksum() {
        facts["book"] = json!(format!("{book:016x}"));
    }
    facts
}
