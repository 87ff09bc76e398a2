//! Players at the same positions: where they decide otherwise, an engine that is believed says what each move is worth.
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
    matches::Contender,
    player::{MatchPlayer, MoveRequest, PlayerFailure},
    positions::Oracle,
    searches::{SearchError, Searches},
    state::{ExperimentState, StateError},
    stats::{Clusters, Estimate, bootstrap},
    suite::TestPosition,
};
use domain::{Line, Score, UciMove, engine_position};
use engine::proof::{Attack, Effort, MateSolver, Verdict};

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
    /// Nodes of all electors and threads.
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

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// By player, in their order.
    pub players: Vec<DecisionFigures>,
    /// By position, in their order.
    #[serde(skip)]
    pub decisions: Vec<PositionDecisions>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct PositionDecisions {
    pub fen: String,
    pub players: Vec<ValuedMove>,
}

/// A move that a player chose, and what is said of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValuedMove {
    pub decided: DecidedMove,
    /// Expected score, 0 to 1; known if the players differ and an oracle or suite values the move.
    pub worth: Option<f64>,
}

#[derive(Debug, thiserror::Error)]
pub enum DecisionsError {
    /// A player cannot be started, or gives no move.
    #[error("player {0}: {1}")]
    Player(String, PlayerFailure),
    /// The engine that is believed gives nothing, or what it gave cannot be kept.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// Decisions cannot be stored.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Lets every player decide at every position as in a new game, as far as `state` does not know it (part `c * positions + p` is what
/// player `c` decided at position `p`), and values the moves where they differ. `None` if `stop` was set before the end.
///
/// # Errors
/// [`DecisionsError`] if a player fails, or something cannot be kept.
pub fn compare(
    plan: &DecisionsPlan,
    state: &mut ExperimentState<DecidedMove>,
    values: &mut Searches,
    stop: &AtomicBool,
    mut progress: impl FnMut(&'static str, usize, usize),
) -> Result<Option<Comparison>, DecisionsError> {
    let all = plan.players.len() * plan.positions.len();
    let one = |seated: &mut _, part| one(plan, seated, part);
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
    let positions = plan.positions.iter().enumerate();
    let decisions: Vec<PositionDecisions> =
        positions.map(|(index, position)| valued(plan, position, &chosen(index), values)).collect();
    let players = (0..plan.players.len()).map(|player| figures(plan, player, &decisions));
    Ok(Some(Comparison { players: players.collect(), decisions }))
}

/// Returns true if the players chose more than one move.
fn is_disputed(chosen: &[DecidedMove]) -> bool {
    chosen.iter().any(|decided| decided.best != chosen[0].best)
}

/// Returns the values of the moves that were chosen at a position.
fn valued(
    plan: &DecisionsPlan,
    position: &TestPosition,
    chosen: &[DecidedMove],
    values: &Searches,
) -> PositionDecisions {
    let oracle = plan.oracle.as_ref().filter(|_| is_disputed(chosen));
    let worth = |best: UciMove| oracle.and_then(|oracle| oracle.worth(position, best, values));
    let players = chosen.iter().map(|decided| ValuedMove { decided: *decided, worth: worth(decided.best) });
    PositionDecisions { fen: position.line.fen(), players: players.collect() }
}

/// Returns true if the opponent mates by checks after `best`.
fn allows_mate(line: &Line, best: UciMove) -> bool {
    let mut after = line.clone();
    let Some(position) = after.play(best).ok().and_then(|_| engine_position(&after).ok()) else { return false };
    let stop = AtomicBool::new(false);
    let mut effort = Effort::new(REFUTING_NODES, &stop);
    let mut solver = MateSolver::new(Attack::Checks, REFUTING_TABLE);
    matches!(solver.solve(&position, &[], REFUTING_NODES, &mut effort), Verdict::Mate(_))
}

/// One decision of one player, by those who sit at this worker already.
fn one(
    plan: &DecisionsPlan,
    seated: &mut BTreeMap<usize, Box<dyn MatchPlayer>>,
    part: usize,
) -> Result<DecidedMove, DecisionsError> {
    let (player, position) = (part / plan.positions.len(), part % plan.positions.len());
    let Contender { spec, pace } = &plan.players[player];
    let failed = |failure| DecisionsError::Player(spec.name().to_owned(), failure);
    let seat = match seated.entry(player) {
        Entry::Occupied(seat) => seat.into_mut(),
        Entry::Vacant(seat) => seat.insert(spec.start(1).map_err(failed)?),
    };
    seat.new_game(&plan.positions[position].line).map_err(failed)?;
    let request = MoveRequest { line: plan.positions[position].line.clone(), pace: *pace, clocks: None };
    let chosen = seat.choose(&request).map_err(failed)?;
    Ok(DecidedMove {
        best: chosen.best,
        nodes: chosen.nodes,
        mates: matches!(chosen.score, Some(Score::Mate(1..))),
        mated: allows_mate(&plan.positions[position].line, chosen.best),
    })
}

fn figures(plan: &DecisionsPlan, player: usize, decisions: &[PositionDecisions]) -> DecisionFigures {
    let name = plan.players[player].spec.name().to_owned();
    let mut figures = DecisionFigures { name, positions: decisions.len(), ..DecisionFigures::default() };
    let (mut differs, mut gains) = (0, Vec::new());
    for (position, PositionDecisions { players, .. }) in plan.positions.iter().zip(decisions) {
        let (first, own) = (&players[0], &players[player]);
        let [best, first_best] = [own, first].map(|valued| position.best().contains(&valued.decided.best));
        let same = own.decided.best == first.decided.best;
        figures.best += usize::from(best);
        figures.won += usize::from(best && !first_best);
        figures.lost += usize::from(first_best && !best);
        figures.mates += usize::from(own.decided.mates);
        figures.mated += usize::from(own.decided.mated);
        figures.nodes += own.decided.nodes as f64;
        differs += usize::from(!same);
        let gain = if same { Some(0.0) } else { own.worth.zip(first.worth).map(|(own, first)| own - first) };
        gains.extend(gain.map(|gain| (position.game.clone(), gain)));
    }
    let positions = decisions.len().max(1) as f64;
    figures.nodes /= positions;
    figures.differs = differs as f64 / positions;
    if plan.oracle.is_some() && player > 0 {
        figures.gain = bootstrap(&Clusters::new(gains), plan.seed);
    }
    figures
}

/// A line a position: its FEN, and the move of each player with what it is expected to score, where they differ.
pub fn csv(comparison: &Comparison) -> String {
    let named = |DecisionFigures { name, .. }: &DecisionFigures| {
        let name = name.replace([',', '"'], " ");
        format!(",{name},{name} expects")
    };
    let mut text = format!("position{}\n", comparison.players.iter().map(named).collect::<String>());
    for PositionDecisions { fen, players } in &comparison.decisions {
        text.push_str(fen);
        for ValuedMove { decided, worth, .. } in players {
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
            Contender { pace: spec.pace().unwrap_or(Pace::Nodes(2_000)), spec }
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
        let comparison = figures.unwrap_or_else(|error| panic!("{error}")).expect("not stopped");
        assert_eq!(csv(&comparison).lines().count(), 1 + plan.positions.len());
        comparison.players
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
