//! Guards of the criteria that compare scores, after the vote of the threads in Stockfish. A proven
//! win is elected, the shortest mate first. A proven loss is elected only if all proposals lose;
//! then the longest defence is.

use super::ballots::Ballot;
use crate::CouncilGame;
use domain::Score;

/// Returns the eligible proposals.
pub(super) fn guarded<L: CouncilGame>(ballots: Vec<Ballot<'_, L>>) -> Vec<Ballot<'_, L>> {
    if let Some(shortest) = ballots.iter().filter(|ballot| is_won(ballot)).map(mate_in).min() {
        return ballots.into_iter().filter(|ballot| is_won(ballot) && mate_in(ballot) == shortest).collect();
    }
    let longest = ballots.iter().filter(|ballot| is_lost(ballot)).map(mate_in).max();
    match longest {
        Some(longest) if ballots.iter().all(is_lost) => {
            ballots.into_iter().filter(|ballot| mate_in(ballot) == longest).collect()
        }
        _ => ballots.into_iter().filter(|ballot| !is_lost(ballot)).collect(),
    }
}

/// Returns true for an exact mate: a bound proves nothing.
fn is_won<L: CouncilGame>(ballot: &Ballot<L>) -> bool {
    ballot.is_exact() && matches!(ballot.proposal.score, Score::Mate(1..))
}

fn is_lost<L: CouncilGame>(ballot: &Ballot<L>) -> bool {
    ballot.is_exact() && matches!(ballot.proposal.score, Score::Mate(..=0))
}

/// Moves to mate, of either side.
fn mate_in<L: CouncilGame>(ballot: &Ballot<L>) -> u32 {
    match ballot.proposal.score {
        Score::Mate(moves) => moves.unsigned_abs(),
        Score::Cp(_) => u32::MAX,
    }
}
