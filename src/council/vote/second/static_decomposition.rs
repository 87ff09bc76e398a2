//! Static decomposition (docs/method.md §7): each proposed move's subtree goes to one searcher, independently.

use super::{SearchAssignment, SecondPhaseStrategy, SecondPhaseTask};
use crate::electors::SearchReport;
use domain::{Bound, GameLine, Proposal};

/// One searcher a move; with fewer searchers than moves, one takes several and searches them
/// together.
pub(super) struct StaticDecomposition<L: GameLine> {
    pub(super) newest: Vec<Option<Proposal<L::Move>>>,
}

impl<L: GameLine> SecondPhaseStrategy<L> for StaticDecomposition<L> {
    fn begin(&mut self, task: &SecondPhaseTask<L>) -> Vec<SearchAssignment<L>> {
        self.newest = vec![None; task.searchers];
        (0..task.searchers.min(task.candidates.len()))
            .map(|searcher| task.assign(searcher, moves_of(task, searcher)))
            .collect()
    }

    fn on_report(
        &mut self,
        _: &SecondPhaseTask<L>,
        searcher: usize,
        report: &SearchReport<L::Move>,
    ) -> Vec<SearchAssignment<L>> {
        if let (SearchReport::Proposal(proposal), Some(newest)) = (report, self.newest.get_mut(searcher)) {
            *newest = Some(proposal.clone());
        }
        Vec::new()
    }

    fn found(&self) -> Option<&Proposal<L::Move>> {
        best(self.newest.iter().flatten())
    }
}

/// Returns the moves of a searcher: every n-th, for n searchers.
pub(super) fn moves_of<L: GameLine>(task: &SecondPhaseTask<L>, searcher: usize) -> Vec<L::Move> {
    task.candidates.iter().copied().skip(searcher).step_by(task.searchers.max(1)).collect()
}

/// The highest score; what is only a bound comes after what is exact, and of equals the first is taken.
pub(super) fn best<'a, M: 'a>(proposals: impl DoubleEndedIterator<Item = &'a Proposal<M>>) -> Option<&'a Proposal<M>> {
    proposals.rev().max_by_key(|proposal| (proposal.bound == Bound::Exact, proposal.score))
}
