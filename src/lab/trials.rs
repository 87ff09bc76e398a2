//! Players tried on single positions, as whole players: what they would play, whether they announce mate, and whether they walk into one.

use std::sync::atomic::{AtomicBool, Ordering};

use serde::Serialize;

use super::{
    player::{MatchPlayer, MoveRequest, Pace, PlayerFailure, PlayerSpec},
    stats::Estimate,
    suite::{Judgement, TestPosition},
};
use chess::{Line, Score, UciMove, engine_position};
use engine::proof::{Attack, Effort, MateSolver, Verdict};

/// For a mate by checks that a move allows, so many nodes are looked at.
const REFUTING_NODES: u64 = 20_000;

/// The table for that, MiB.
const REFUTING_TABLE: usize = 4;

/// What a player did in the positions.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Trials {
    /// The player, as written.
    pub player: String,
    /// Positions tried.
    pub positions: usize,
    /// Of those in which the best moves are known: how many.
    pub judged: usize,
    /// Those of them in which it plays one of these.
    pub best: usize,
    /// Positions in which it announces that it mates.
    pub mates: usize,
    /// Positions in which its move allows a mate by checks.
    pub allowed: usize,
    /// Positions in which it plays one of the best moves, and the first player does not; and the other way round.
    pub gained: usize,
    /// See [`Self::gained`].
    pub lost: usize,
    /// Nodes of all its searches.
    pub nodes: u64,
    solved: Vec<bool>,
}

impl Trials {
    /// How many of the judged positions it solves, with the error of a share of so many.
    pub fn score(&self) -> Estimate {
        let (all, value) = (self.judged.max(1) as f64, self.best as f64 / self.judged.max(1) as f64);
        let error = 1.96 * (value * (1.0 - value) / all).sqrt();
        Estimate { value, low: value - error, high: value + error }
    }

    fn note(&mut self, position: &TestPosition, best: UciMove, score: Option<Score>, nodes: u64) {
        self.positions += 1;
        self.nodes += nodes;
        self.mates += usize::from(matches!(score, Some(Score::Mate(1..))));
        self.allowed += usize::from(allows_mate(&position.line, best));
        if position.is_judged() {
            let solved = position.judge(best) == Judgement::Best;
            self.judged += 1;
            self.best += usize::from(solved);
            self.solved.push(solved);
        }
    }
}

/// Tries every player on every position, each time as in a new game. What is done when `stop` is set is told.
///
/// # Errors
/// [`PlayerFailure`] if a player gives no move.
pub fn try_players(
    players: &[PlayerSpec],
    positions: &[TestPosition],
    pace: Pace,
    stop: &AtomicBool,
    mut progress: impl FnMut(usize, usize),
) -> Result<Vec<Trials>, PlayerFailure> {
    let mut all: Vec<Trials> = Vec::new();
    for (number, spec) in players.iter().enumerate() {
        let mut trials = Trials { player: spec.name().to_owned(), ..Trials::default() };
        let mut player = spec.start(1)?;
        for (done, position) in positions.iter().enumerate() {
            if stop.load(Ordering::Relaxed) {
                break;
            }
            progress(number * positions.len() + done, players.len() * positions.len());
            let (best, score, nodes) = choose(&mut *player, position, spec.pace().unwrap_or(pace))?;
            trials.note(position, best, score, nodes);
        }
        if let Some(first) = all.first() {
            let pairs = || trials.solved.iter().zip(&first.solved);
            (trials.gained, trials.lost) = (
                pairs().filter(|(own, first)| **own && !**first).count(),
                pairs().filter(|(own, first)| !**own && **first).count(),
            );
        }
        all.push(trials);
    }
    Ok(all)
}

fn choose(
    player: &mut dyn MatchPlayer,
    position: &TestPosition,
    pace: Pace,
) -> Result<(UciMove, Option<Score>, u64), PlayerFailure> {
    player.new_game()?;
    let chosen = player.choose(&MoveRequest { line: position.line.clone(), pace, clocks: None })?;
    Ok((chosen.best, chosen.score, chosen.nodes))
}

/// Whether the opponent mates by checks after a move.
fn allows_mate(line: &Line, best: UciMove) -> bool {
    let mut after = line.clone();
    let Some(position) = after.play(best).ok().and_then(|_| engine_position(&after).ok()) else { return false };
    let stop = AtomicBool::new(false);
    let mut effort = Effort::new(REFUTING_NODES, &stop);
    let mut solver = MateSolver::new(Attack::Checks, REFUTING_TABLE);
    matches!(solver.solve(&position, &[], REFUTING_NODES, &mut effort), Verdict::Mate(_))
}

/// The figures as a table.
pub fn markdown(trials: &[Trials]) -> String {
    let mut text = "| player | best moves | gained, lost | mates told | mates allowed | nodes a position |\n|---|---|---|---|---|---|\n".to_owned();
    for trials in trials {
        let Trials { player, positions, judged, best, mates, allowed, gained, lost, nodes, .. } = trials;
        let score = if *judged == 0 {
            "–".to_owned()
        } else {
            format!("{best} of {judged}: {}", trials.score().percent_with_error())
        };
        let nodes = nodes / (*positions).max(1) as u64;
        text += &format!("| {player} | {score} | +{gained} −{lost} | {mates} of {positions} | {allowed} | {nodes} |\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::Suite;

    #[test]
    fn provers_tell_a_mate_that_a_short_search_does_not_see() {
        let suite = Suite::parse(
            "1b5k/7P/p1p2np1/2P2p2/PP3P2/4RQ1R/q2r3P/6K1 w - - bm Re8+; id \"a\";\n4r1k1/4qppp/8/8/8/8/1R3PPP/R5K1 w - - am Rb7; id \"b\";",
        );
        let player = |advisers: &str| -> PlayerSpec {
            let text = format!("council:roster=complete-2,hash=1,advice=0.5,split=1,advisers={advisers}");
            text.parse().unwrap_or_else(|error| panic!("{error}"))
        };
        let players = [player(""), player("mates checks")];
        let pace = Pace::Nodes(3_000);
        let stop = AtomicBool::new(false);
        let trials = try_players(&players, &suite.positions, pace, &stop, |_, _| {}).expect("moves");
        assert_eq!((trials[0].mates, trials[1].mates), (0, 1));
        assert_eq!((trials[1].best, trials[1].gained, trials[1].allowed), (2, 1, 0), "{}", markdown(&trials));
        assert!(trials[1].nodes <= trials[0].nodes + 1_000, "{}", markdown(&trials));
    }
}
