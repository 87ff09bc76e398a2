//! One vote an elector: the baseline of all other rules.

use super::{Ballot, Ballots, Criterion};
use crate::pool::ElectorSpec;

/// The move that most electors propose.
pub(super) struct Majority;

impl Criterion for Majority {
    fn weigh(&self, _: &Ballot, _: &Ballots) -> f64 {
        1.0
    }

    fn most(&self, _: &ElectorSpec) -> Option<f64> {
        Some(1.0)
    }
}
