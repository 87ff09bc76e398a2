//! The move of the proposer with the highest score (Sugiyama, Obata, Hoki, Ito: Optimistic selection rule better than
//! majority voting system, CG 2010).

use super::{Ballot, Ballots, Criterion, highest};
use crate::CouncilGame;

/// Elects the highest score.
pub(super) struct Optimistic;

impl<L: CouncilGame> Criterion<L> for Optimistic {
    fn weigh(&self, ballot: &Ballot<L>, _: &Ballots<L>) -> f64 {
        ballot.score()
    }

    fn total(&self, weights: &[f64]) -> f64 {
        highest(weights)
    }

    fn is_guarded(&self) -> bool {
        true
    }
}
