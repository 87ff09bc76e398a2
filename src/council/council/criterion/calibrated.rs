//! Scores become probabilities of winning before they are compared: what +50 means depends on who says it.

use super::{Ballot, Ballots, Criterion, highest};
use crate::{CouncilGame, council::Model};

/// The highest probability of winning is elected.
pub(super) struct Calibrated {
    model: Model,
}

impl Calibrated {
    pub(super) fn new(model: &Model) -> Self {
        Self { model: model.clone() }
    }

    /// What the proposer expects to score, 0 to 1, by its own map.
    pub(super) fn expectation<L: CouncilGame>(&self, ballot: &Ballot<L>) -> f64 {
        self.model.calibration_of(&ballot.elector.name).expectation(ballot.score())
    }
}

impl<L: CouncilGame> Criterion<L> for Calibrated {
    fn weigh(&self, ballot: &Ballot<L>, _: &Ballots<L>) -> f64 {
        self.expectation(ballot)
    }

    fn total(&self, weights: &[f64]) -> f64 {
        highest(weights)
    }

    fn is_guarded(&self) -> bool {
        true
    }
}
