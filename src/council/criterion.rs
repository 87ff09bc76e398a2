//! Criteria: what a proposal weighs (METHOD.md §4). Each is a small type behind [`Criterion`], so that the next idea is one
//! more of them.

use crate::{
    chess::Proposal,
    council::{CriterionName, HeuristicWeights},
    pool::ElectorSpec,
};

/// A rule that weighs proposals. The move whose proposals weigh most together is elected.
pub(super) trait Criterion: Send {
    /// The weight of one proposal, comparable with the others of the same election.
    fn weigh(&self, elector: &ElectorSpec, proposal: &Proposal) -> f64;
}

/// METHOD.md §4, *weights*: the sum of the weights of the heuristics that the proposer knows.
/// A foreign engine, whose knowledge is its own affair, weighs as complete knowledge does.
struct Weights(HeuristicWeights);

impl Criterion for Weights {
    fn weigh(&self, elector: &ElectorSpec, _: &Proposal) -> f64 {
        elector.knowledge().unwrap_or_default().heuristics().map(|heuristic| self.0.of(heuristic)).sum()
    }
}

/// METHOD.md §4, *depth*: `k·d + nm`, `d` the completed depth, `nm` the root moves fully searched in the unfinished
/// iteration.
struct Depth;

impl Depth {
    /// More than the legal moves of any usual position, so that a completed iteration outweighs an unfinished one.
    const K: u32 = 100;
}

impl Criterion for Depth {
    fn weigh(&self, _: &ElectorSpec, proposal: &Proposal) -> f64 {
        f64::from(Self::K * proposal.depth + proposal.root_moves_done)
    }
}

/// The rule by which the first phase elects. Re-search leaves the election to the second phase; should that be impossible,
/// weights decide.
pub(super) fn of_first_phase(name: CriterionName, weights: HeuristicWeights) -> Box<dyn Criterion> {
    match name {
        CriterionName::Weights | CriterionName::ReSearch => Box::new(Weights(weights)),
        CriterionName::Depth => Box::new(Depth),
    }
}
