//! docs/method.md §4, *weights*: the sum of the weights of the heuristics that the proposer knows.

use super::{Ballot, Ballots, Criterion};
use crate::{council::HeuristicWeights, pool::ElectorSpec};

/// A foreign engine, whose knowledge is its own affair, weighs as complete knowledge does; a weight given by hand comes
/// before either.
pub(super) struct HandWeights(pub HeuristicWeights);

impl HandWeights {
    /// What an elector's vote weighs.
    pub(super) fn of(&self, elector: &ElectorSpec) -> f64 {
        let known = || elector.knowledge().unwrap_or_default().heuristics().map(|heuristic| self.0.of(heuristic)).sum();
        elector.weight.unwrap_or_else(known)
    }
}

impl Criterion for HandWeights {
    fn weigh(&self, ballot: &Ballot, _: &Ballots) -> f64 {
        self.of(ballot.elector)
    }

    fn most(&self, elector: &ElectorSpec) -> Option<f64> {
        Some(self.of(elector))
    }
}
