//! A vote that counts more the better its score is, as among the threads of Stockfish's parallel search: every proposal weighs its
//! score less the lowest one proposed, plus a constant. Of electors that evaluate alike the one that searched deeper knows better:
//! a vote weighs a tenth for every ply that it is less deep than the deepest of them, so that only a score that is far higher
//! lets it be elected.

use super::{Ballot, Ballots, Criterion};
use crate::CouncilGame;

/// The factor of a vote's weight for every ply that it is less deep. With a half or a quarter, a
/// machine 24 % of a move away made play weaker (docs/experiments.md, "Votes from afar").
const PER_PLY: f64 = 0.1;

/// Votes that count more the better their scores are.
pub(super) struct ScoreMargin {
    /// The weight of the lowest score, in centipawns; Stockfish has 14 of its own units.
    constant: f64,
}

impl ScoreMargin {
    pub(super) fn new(constant: f64) -> Self {
        Self { constant }
    }
}

impl<L: CouncilGame> Criterion<L> for ScoreMargin {
    fn weigh(&self, ballot: &Ballot<L>, ballots: &Ballots<L>) -> f64 {
        let is_alike = |other: &Ballot<L>| other.elector.kind == ballot.elector.kind;
        let lowest = ballots.iter().map(|other| other.score()).fold(f64::INFINITY, f64::min);
        // A bound says too little about the value to weigh more than a bare vote.
        let margin = if ballot.is_exact() { ballot.score() - lowest } else { 0.0 };
        let alike = ballots.iter().filter(is_alike);
        let deepest = alike.map(|other| other.proposal.depth).max().unwrap_or(ballot.proposal.depth);
        (margin + self.constant) * PER_PLY.powi((deepest - ballot.proposal.depth).min(30) as i32)
    }

    fn is_guarded(&self) -> bool {
        true
    }
}
