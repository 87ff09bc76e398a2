//! A vote that counts more the better its score is, as among the threads of Stockfish's parallel search: every proposal weighs its
//! score less the lowest one proposed, plus a constant. Of electors that evaluate alike the one that searched deeper knows better:
//! a vote weighs a tenth for every ply that it is less deep than the deepest of them, so that only a score that is far higher
//! lets it be elected.

use super::{Ballot, Ballots, Criterion};
use crate::CouncilGame;

/// What a vote weighs of itself for every ply that it is less deep. With a half or a quarter, a machine 24 % of a move away made
/// play weaker (docs/experiments.md, "Votes from afar").
const PER_PLY: f64 = 0.1;

/// A vote from another machine weighs nothing where its score is so far below the best of this machine's own, in centipawns: how deep it
/// came, and with how many cores, is its word alone, and must not be enough to elect what it says itself is bad. Honest deeper searches
/// seldom differ so much from the best of shallower ones; what that costs was not measured.
const FAR_BELOW: f64 = 300.0;

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
        let is_alike = |other: &Ballot<L>| other.elector.kind == ballot.elector.kind;
        let is_here = |other: &Ballot<L>| other.proposal.machine.is_none();
        let here = ballots.iter().filter(|other| is_alike(other) && is_here(other) && other.is_exact());
        let best_here = here.map(|other| other.score()).fold(f64::NEG_INFINITY, f64::max);
        let is_far_below = |of: &Ballot<L>| is_alike(of) && !is_here(of) && of.score() < best_here - FAR_BELOW;
        if is_far_below(ballot) {
            return 0.0;
        }
        let counted = || ballots.iter().filter(|other| !is_far_below(other));
        let lowest = counted().map(|other| other.score()).fold(f64::INFINITY, f64::min);
        // A bound says too little about the value to weigh more than a bare vote.
        let margin = if ballot.is_exact() { ballot.score() - lowest } else { 0.0 };
        let alike = counted().filter(|other| is_alike(other));
        let deepest = alike.map(|other| other.proposal.depth).max().unwrap_or(ballot.proposal.depth);
        (margin + self.constant) * PER_PLY.powi((deepest - ballot.proposal.depth).min(30) as i32)
    }

    fn is_guarded(&self) -> bool {
        true
    }
}
