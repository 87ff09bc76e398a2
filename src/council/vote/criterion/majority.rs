//! A majority: the baseline of all other rules.

use super::{Ballot, Ballots, Criterion};
use crate::{CouncilGame, electors::ElectorSpec};

/// The move that most electors propose.
pub(super) struct Majority;

impl<L: CouncilGame> Criterion<L> for Majority {
    fn weigh(&self, _: &Ballot<L>, _: &Ballots<L>) -> f64 {
        1.0
    }

    fn most(&self, _: &ElectorSpec<L::Kind>) -> Option<f64> {
        Some(1.0)
    }
}
