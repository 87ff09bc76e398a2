//! The vote of the threads in Stockfish's parallel search: every proposal weighs its score less the lowest one proposed, plus
//! a constant.

use super::{Ballot, Ballots, Criterion};
use crate::CouncilGame;

/// Votes that count more the better their scores are.
pub(super) struct ScoreMargin {
    /// What even the lowest score weighs, in centipawns; Stockfish has 14 of its own units.
    constant: f64,
}

impl ScoreMargin {
    pub(super) fn new(constant: f64) -> Self {
        Self { constant }
    }
}

impl<L: CouncilGame> Criterion<L> for ScoreMargin {
    fn weigh(&self, ballot: &Ballot<L>, ballots: &Ballots<L>) -> f64 {
        // A bound says too little about the value to weigh more than a bare vote.
        let margin = if ballot.is_exact() { ballot.score() - ballots.score_range().0 } else { 0.0 };
        margin + self.constant
    }

    fn is_guarded(&self) -> bool {
        true
    }
}
