//! Criteria: which proposal is elected. Each is a small type in a file of its own behind [`Criterion`]; the next idea is one
//! more file, one more [`CriterionName`], and one more arm in [`of`].

mod depth;
mod majority;
mod optimistic;
mod relative;
mod score_margin;
mod weights;

use super::{
    CouncilSettings,
    ballots::{Ballot, Ballots},
};
use crate::{CouncilGame, electors::ElectorSpec};
use domain::CriterionName;

/// A rule of election. It weighs every proposal; the move that weighs most is elected.
pub(super) trait Criterion<L: CouncilGame>: Send + Sync {
    /// Returns the weight of a proposal, comparable within one election.
    fn weigh(&self, ballot: &Ballot<L>, ballots: &Ballots<L>) -> f64;

    /// Returns the weight of a move from its proposals' weights: by docs/method.md §4 their sum.
    fn total(&self, weights: &[f64]) -> f64 {
        weights.iter().sum()
    }

    /// Returns true if the rule compares scores, so that proven results precede it (see
    /// [`super::guards`]).
    fn is_guarded(&self) -> bool {
        false
    }

    /// The most that any proposal of this elector can weigh, where that is known before it proposes.
    fn most(&self, _elector: &ElectorSpec<L::Kind>) -> Option<f64> {
        None
    }
}

/// The highest of some weights, for rules that elect a proposal rather than count votes.
fn highest(weights: &[f64]) -> f64 {
    weights.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}

/// The rule by which the first phase elects. Re-search leaves the election to the second phase; where there is none, weights
/// decide.
pub(super) fn of<L: CouncilGame>(name: CriterionName, settings: &CouncilSettings) -> Box<dyn Criterion<L>> {
    match name {
        CriterionName::Weights | CriterionName::ReSearch => {
            Box::new(weights::HandWeights { weights: settings.weights, mean: false })
        }
        CriterionName::MeanWeights => Box::new(weights::HandWeights { weights: settings.weights, mean: true }),
        CriterionName::Depth => Box::new(depth::Depth),
        CriterionName::Relative1 => Box::new(relative::Relative1),
        CriterionName::Relative1Democratic => Box::new(relative::Relative1Democratic),
        CriterionName::Relative2 => Box::new(relative::Relative2),
        CriterionName::Majority => Box::new(majority::Majority),
        CriterionName::Optimistic => Box::new(optimistic::Optimistic),
        CriterionName::ScoreMargin => Box::new(score_margin::ScoreMargin::new(settings.margin)),
    }
}

#[cfg(test)]
mod tests;
