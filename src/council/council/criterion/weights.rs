//! docs/method.md §4, *weights*: the sum of the weights of the heuristics that the proposer knows, or in Tozzi's variant their mean.

use super::{Ballot, Ballots, Criterion};
use crate::{CouncilGame, council::HeuristicWeights, pool::ElectorSpec};

/// A foreign engine, whose knowledge is its own affair, weighs as complete knowledge does; a weight given by hand comes
/// before either.
pub(super) struct HandWeights {
    pub(super) weights: HeuristicWeights,
    /// Whether an elector weighs the mean of its heuristics' weights instead of their sum.
    pub(super) mean: bool,
}

impl HandWeights {
    /// What an elector's vote weighs.
    pub(super) fn of<L: CouncilGame>(&self, elector: &ElectorSpec<L::Kind>) -> f64 {
        elector.weight.unwrap_or_else(|| {
            let weights = L::hand_weights(elector, &self.weights);
            let sum: f64 = weights.iter().sum();
            if self.mean { sum / weights.len().max(1) as f64 } else { sum }
        })
    }
}

impl<L: CouncilGame> Criterion<L> for HandWeights {
    fn weigh(&self, ballot: &Ballot<L>, _: &Ballots<L>) -> f64 {
        self.of::<L>(ballot.elector)
    }

    fn most(&self, elector: &ElectorSpec<L::Kind>) -> Option<f64> {
        Some(self.of::<L>(elector))
    }
}
