//! docs/method.md §4, *weights*: the sum of the weights of the heuristics that the proposer knows, or in Tozzi's variant their mean.

use super::{Ballot, Ballots, Criterion};
use crate::{council::HeuristicWeights, pool::ElectorSpec};

/// A foreign engine, whose knowledge is its own affair, weighs as complete knowledge does; a weight given by hand comes
/// before either.
pub(super) struct HandWeights {
    pub(super) weights: HeuristicWeights,
    /// Whether an elector weighs the mean of its heuristics' weights instead of their sum.
    pub(super) mean: bool,
}

impl HandWeights {
    /// What an elector's vote weighs.
    pub(super) fn of(&self, elector: &ElectorSpec) -> f64 {
        elector.weight.unwrap_or_else(|| {
            let heuristics = elector.knowledge().unwrap_or_default().heuristics();
            let (sum, count) =
                heuristics.fold((0.0, 0.0), |(sum, count), heuristic| (sum + self.weights.of(heuristic), count + 1.0));
            if self.mean { sum / f64::max(count, 1.0) } else { sum }
        })
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
