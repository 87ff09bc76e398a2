//! Players at the same positions: where their decisions differ, a trusted engine values each move.
//!
//! Two players that differ in little make the same move nearly everywhere. A game spends its nodes on all of these moves; here only
//! those are looked at on which they differ, so that a difference is seen with a small part of the nodes. What it says is about
//! moves, not about games: a change that loses nothing here may still be worth nothing there.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fmt::Write as _,
    num::NonZeroUsize,
    sync::atomic::AtomicBool,
};

use serde::{Deserialize, Serialize};

use super::{
    player::{Contender, MatchPlayer, MoveRequest, PlayerFailure, PlayerKind as _},
    positions::Oracle,
    searches::Searches,
    state::ExperimentState,
    stats::{Estimate, bootstrap},
    suite::TestPosition,
};
use domain::{Line, Score, UciMove, engine_position};
use engine::proof::{Attack, Effort, MateSolver, Verdict};
use util::Failure;

/// Nodes of the search for a mate by checks after a move.
const REFUTING_NODES: u64 = 20_000;
const REFUTING_TABLE: usize = 4;

#[derive(Debug)]
pub struct DecisionsPlan {
    /// The players; all others are held against the first.
    pub players: Vec<Contender>,
    pub positions: Vec<TestPosition>,
    pub oracle: Option<Oracle>,
    /// Positions at once.
    pub workers: NonZeroUsize,
    pub seed: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DecidedMove {
    #[serde(with = "super::move_text")]
    pub best: UciMove,
    /// Of all electors and threads.
    pub nodes: u64,
    /// True if the player announces a mate.
    pub mates: bool,
    /// True if the opponent mates by checks after the move.
    pub mated: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DecisionFigures {
    pub name: String,
    pub positions: usize,
    /// Nodes a decision, all electors and threads together.
    pub nodes: f64,
    /// Positions with known best moves at which the player chose one.
    pub best: usize,
    /// Of these, positions at which the first player chose another move.
    pub won: usize,
    /// Positions at which only the first player chose a best move.
    pub lost: usize,
    /// Positions at which it announces that it mates.
    pub mates: usize,
    /// Positions at which its move lets the opponent mate by checks, as far as a solver sees with 20,000 nodes.
    pub mated: usize,
    /// The share of decisions that are not the first player's, 0 to 1.
    pub differs: f64,
    /// Expected gain over the first player, points a decision over all positions.
    pub gain: Option<Estimate>,
}

/// Lets every player decide at every position as in a new game, as far as `state` does not know it (part `c * positions + p` is what
/// player `c` decided at position `p`), and values the moves where they differ. Returns the figures of the players and a table of
/// all decisions as CSV; `None` if `stop` was set before the end.
pub fn compare(
    plan: &DecisionsPlan,
    state: &mut ExperimentState<DecidedMove>,
    values: &mut Searches,
    stop: &AtomicBool,
    mut progress: impl FnMut(&'static str, usize, usize),
) -> Result<Option<(Vec<DecisionFigures>, String)>, Failure> {
    let all = plan.players.len() * plan.positions.len();
    let one = |started: &mut _, part| one(plan, started, part);
    if !state.complete(all, plan.workers, stop, |done, of| progress("decisions", done, of), BTreeMap::new, one)? {
        return Ok(None);
    }
    let chosen = |position: usize| -> Vec<DecidedMove> {
        (0..plan.players.len())
            .filter_map(|player| state.done().get(&(player * plan.positions.len() + position)).copied())
            .collect()
    };
    if let Some(oracle) = &plan.oracle {
        let disputed = plan.positions.iter().enumerate().filter(|(index, _)| is_disputed(&chosen(*index)));
        let requests = disputed.flat_map(|(index, position)| {
            chosen(index).into_iter().map(|decided| oracle.request_for(position, decided.best))
        });
        let requests: Vec<_> = requests.collect();
        if !values.ensure(&requests, stop, |done, of| progress("oracle", done, of))? {
            return Ok(None);
        }
    }
    // Each move with its expected score, 0 to 1, if the players differ and an oracle values it.
    let valued = |(index, position): (usize, &TestPosition)| -> Vec<(DecidedMove, Option<f64>)> {
        let chosen = chosen(index);
        let oracle = plan.oracle.as_ref().filter(|_| is_disputed(&chosen));
        let worth = |best: UciMove| oracle.and_then(|oracle| oracle.worth(position, best, values));
        chosen.into_iter().map(|decided| (decided, worth(decided.best))).collect()
    };
    let decisions: Vec<_> = plan.positions.iter().enumerate().map(valued).collect();
    let players = (0..plan.players.len()).map(|player| figures(plan, player, &decisions)).collect();
    Ok(Some((players, csv(plan, &decisions))))
}

fn is_disputed(chosen: &[DecidedMove]) -> bool {
    chosen.iter().any(|decided| decided.best != chosen[0].best)
}

fn allows_mate(line: &Line, best: UciMove) -> bool {
    let mut after = line.clone();
    let Some(position) = after.play(best).ok().and_then(|_| engine_position(&after).ok()) else { return false };
    let stop = AtomicBool::new(false);
    let mut effort = Effort::new(REFUTING_NODES, &stop);
    let mut solver = MateSolver::new(Attack::Checks, REFUTING_TABLE);
    matches!(solver.solve(&position, &[], REFUTING_NODES, &mut effort), Verdict::Mate(_))
}

/// One decision of one player; those that this worker has started are asked again.
fn one(
    plan: &DecisionsPlan,
    started: &mut BTreeMap<usize, Box<dyn MatchPlayer<Line>>>,
    part: usize,
) -> Result<DecidedMove, Failure> {
    let (player, position) = (part / plan.positions.len(), part % plan.positions.len());
    let Contender { spec, pace } = &plan.players[player];
    let failed = |failure: PlayerFailure| Failure::failed(format_args!("player {}: {failure}", spec.name()));
    let player = match started.entry(player) {
        Entry::Occupied(player) => player.into_mut(),
        Entry::Vacant(place) => place.insert(spec.kind.start(1).map_err(failed)?),
    };
    player.new_game(&plan.positions[position].line).map_err(failed)?;
    let request = MoveRequest { line: plan.positions[position].line.clone(), pace: *pace, clocks: None };
    let chosen = player.choose(&request).map_err(failed)?;
    Ok(DecidedMove {
        best: chosen.best,
        nodes: chosen.nodes,
        mates: matches!(chosen.score, Some(Score::Mate(1..))),
        mated: allows_mate(&plan.positions[position].line, chosen.best),
    })
}

fn figures(plan: &DecisionsPlan, player: usize, decisions: &[Vec<(DecidedMove, Option<f64>)>]) -> DecisionFigures {
    let name = plan.players[player].spec.name().to_owned();
    let mut figures = DecisionFigures { name, positions: decisions.len(), ..DecisionFigures::default() };
    let (mut differs, mut gains) = (0, Vec::new());
    for (position, players) in plan.positions.iter().zip(decisions) {
        let ((first, first_worth), (own, own_worth)) = (players[0], players[player]);
        let [best, first_best] = [own, first].map(|decided| position.best.contains(&decided.best));
        let same = own.best == first.best;
        figures.best += usize::from(best);
        figures.won += usize::from(best && !first_best);
        figures.lost += usize::from(first_best && !best);
        figures.mates += usize::from(own.mates);
        figures.mated += usize::from(own.mated);
        figures.nodes += own.nodes as f64;
        differs += usize::from(!same);
        let gain = if same { Some(0.0) } else { own_worth.zip(first_worth).map(|(own, first)| own - first) };
        gains.extend(gain.map(|gain| (position.game.clone(), gain)));
    }
    let positions = decisions.len().max(1) as f64;
    figures.nodes /= positions;
    figures.differs = differs as f64 / positions;
    if plan.oracle.is_some() && player > 0 {
        figures.gain = bootstrap(gains, plan.seed);
    }
    figures
}

/// A line a position: its FEN, and the move of each player with what it is expected to score, where they differ.
fn csv(plan: &DecisionsPlan, decisions: &[Vec<(DecidedMove, Option<f64>)>]) -> String {
    let named = |player: &Contender| {
        let name = player.spec.name().replace([',', '"'], " ");
        format!(",{name},{name} expects")
    };
    let mut text = format!("position{}\n", plan.players.iter().map(named).collect::<String>());
    for (position, players) in plan.positions.iter().zip(decisions) {
        text.push_str(&position.line.fen());
        for (decided, worth) in players {
            let worth = worth.map(|worth| format!("{worth:.4}")).unwrap_or_default();
            // Writing to a string cannot fail.
            let _ = write!(text, ",{},{worth}", decided.best);
        }
        text.push('\n');
    }
    text
}

/// Returns the table in Markdown. Gains are in per cent of a point a decision.
pub fn markdown(players: &[DecisionFigures]) -> String {
    let mut text = "| player | positions | nodes | best (won, lost) | mates | mated | other decisions, % | gain on the first, % of a point |\n"
        .to_owned();
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for figures in players {
        let DecisionFigures { name, positions, nodes, best, won, lost, mates, mated, differs, gain } = figures;
        let (gain, differs) = (gain.map(Estimate::percent).unwrap_or_default(), 100.0 * differs);
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "| {name} | {positions} | {nodes:.0} | {best} (+{won} −{lost}) | {mates} | {mated} | {differs:.1} | {gain} |"
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        player::{Pace, PlayerSpec},
        suite::Suite,
    };
    use council::electors::ElectorSpec;

    fn plan(players: &[&str]) -> DecisionsPlan {
        let suite = "2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - bm Qg6; id \"WAC.001\";\n\
                     5rk1/1ppb3p/p1pb4/6q1/3P1p1r/2P1R2P/PP1BQ1P1/5RKN w - - bm Rg3; id \"WAC.003\";";
        let contender = |text: &&str| {
            let spec: PlayerSpec = text.parse().expect("a player");
            Contender { pace: spec.pace.unwrap_or(Pace::Nodes(2_000)), spec }
        };
        DecisionsPlan {
            players: players.iter().map(contender).collect(),
            positions: Suite::parse(suite).positions,
            oracle: Some(Oracle { engine: ElectorSpec::own(domain::Knowledge::COMPLETE, 1), nodes: 20_000 }),
            workers: NonZeroUsize::MIN,
            seed: 1,
        }
    }

    fn compared(plan: &DecisionsPlan, state: &mut ExperimentState<DecidedMove>) -> Vec<DecisionFigures> {
        let mut values = Searches::in_memory(NonZeroUsize::MIN);
        let figures = compare(plan, state, &mut values, &AtomicBool::new(false), |_, _, _| ());
        let (figures, csv) = figures.unwrap_or_else(|error| panic!("{error}")).expect("not stopped");
        assert_eq!(csv.lines().count(), 1 + plan.positions.len());
        figures
    }

    #[test]
    fn who_sees_less_decides_worse() {
        let plan = plan(&["engine", "engine:mbxkcpar,name=again", "engine:m,nodes=20"]);
        let figures = compared(&plan, &mut ExperimentState::in_memory());
        assert_eq!(figures[0].gain, None, "a player does not gain on itself");
        assert_eq!(figures[1].gain.map(|gain| gain.value), Some(0.0));
        assert_eq!((figures[1].differs, figures[1].best), (0.0, figures[0].best));
        assert!(figures[2].differs > 0.0 && figures[2].gain.is_some_and(|gain| gain.value < 0.0), "{figures:?}");
        assert!(markdown(&figures).contains("| again | 2 |"));
    }

    #[test]
    fn provers_find_mates_beyond_short_searches() {
        let player =
            |advisers| format!("council:roster=complete-2,hash=1,advice=0.5,split=1,advisers={advisers},nodes=3000");
        let (alone, proving) = (player(""), player("mates"));
        let suite = "1b5k/7P/p1p2np1/2P2p2/PP3P2/4RQ1R/q2r3P/6K1 w - - bm Re8+; id \"a\";";
        let plan = DecisionsPlan { positions: Suite::parse(suite).positions, ..plan(&[&alone, &proving]) };
        let figures = compared(&plan, &mut ExperimentState::in_memory());
        assert_eq!(
            figures.iter().map(|one| (one.mates, one.won, one.lost)).collect::<Vec<_>>(),
            [(0, 0, 0), (1, 1, 0)]
        );
        assert!(figures[1].nodes <= figures[0].nodes + 500.0, "{figures:?}");
    }

    #[test]
    fn stored_decisions_are_not_repeated() {
        let (first, other) = (plan(&["engine"]), plan(&["engine:m,nodes=20"]));
        let mut state = ExperimentState::in_memory();
        let figures = compared(&first, &mut state);
        assert_eq!(state.done().len(), 2);
        assert_eq!(compared(&other, &mut state)[0].nodes, figures[0].nodes, "the state knows it");
    }

    #[test]
    fn who_cannot_be_started_is_named() {
        let plan = plan(&["uci:/nowhere/engine,name=ghost"]);
        let mut values = Searches::in_memory(NonZeroUsize::MIN);
        let mut state = ExperimentState::in_memory();
        let error = compare(&plan, &mut state, &mut values, &AtomicBool::new(false), |_, _, _| ()).expect_err("none");
        assert!(error.to_string().starts_with("player ghost: "), "{error}");
    }
}
