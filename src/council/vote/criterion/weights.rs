//! docs/method.md §4, *weights*: the sum of the weights of the proposer's heuristics, or in Tozzi's
//! variant their mean.

use super::{Ballot, Ballots, Criterion};
use crate::{CouncilGame, electors::ElectorSpec, vote::HeuristicWeights};

/// Weights by knowledge. An external engine, whose knowledge is unknown, weighs as complete
/// knowledge does; a weight given by hand precedes either.
pub(super) struct HandWeights {
    pub(super) weights: HeuristicWeights,
    /// True for the mean of the heuristics' weights instead of their sum.
    pub(super) mean: bool,
}

impl HandWeights {
    /// Returns the weight of an elector's vote.
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
