//! Voter weights by class of position: in the endgame it matters more who knows pawns, with kings on opposite wings who knows
//! attack. After the ensembles that choose a player by phase or opening (AZ_db 2023, M2CTS 2025).

use super::{Ballot, Ballots, Criterion, score_margin::ScoreMargin, weights::HandWeights};
use crate::{
    CouncilGame,
    council::{CouncilSettings, HeuristicWeights, Model, position_class::PositionClasses},
};

/// The score-margin vote, each elector's weighed by what its knowledge is worth in this class of position.
pub(super) struct Routing {
    weights: HeuristicWeights,
    model: Model,
    margin: ScoreMargin,
}

impl Routing {
    pub(super) fn new(settings: &CouncilSettings) -> Self {
        let margin = ScoreMargin::new(settings.margin);
        Self { weights: settings.weights, model: settings.model.clone(), margin }
    }

    /// The weights of the heuristics, times the factors of all classes that the position belongs to.
    fn weights_in(&self, classes: &PositionClasses) -> HeuristicWeights {
        classes.iter().fold(self.weights, |weights, class| weights.times(&self.model.factors_of(class)))
    }
}

impl<L: CouncilGame> Criterion<L> for Routing {
    fn weigh(&self, ballot: &Ballot<L>, ballots: &Ballots<L>) -> f64 {
        let voter = HandWeights { weights: self.weights_in(ballots.classes()), mean: false }.of::<L>(ballot.elector);
        voter * self.margin.weigh(ballot, ballots)
    }

    fn is_guarded(&self) -> bool {
        true
    }
}
