//! Static decomposition (docs/method.md §7): each proposed move's subtree goes to one searcher, independently.

use super::{SearchAssignment, SecondPhaseStrategy, SecondPhaseTask};
use crate::pool::SearchReport;
use chess::{Bound, Proposal, UciMove};

/// Where there are fewer searchers than moves, one takes several and searches them together.
#[derive(Default)]
pub(super) struct StaticDecomposition {
    newest: Vec<Option<Proposal>>,
}

impl SecondPhaseStrategy for StaticDecomposition {
    fn begin(&mut self, task: &SecondPhaseTask) -> Vec<SearchAssignment> {
        self.newest = vec![None; task.searchers];
        (0..task.searchers.min(task.candidates.len()))
            .map(|searcher| task.assign(searcher, moves_of(task, searcher)))
            .collect()
    }

    fn on_report(&mut self, _: &SecondPhaseTask, searcher: usize, report: &SearchReport) -> Vec<SearchAssignment> {
        if let (SearchReport::Proposal(proposal), Some(newest)) = (report, self.newest.get_mut(searcher)) {
            *newest = Some(proposal.clone());
        }
        Vec::new()
    }

    fn found(&self) -> Option<&Proposal> {
        best(self.newest.iter().flatten())
    }
}

/// The moves of a searcher: every so many'th.
pub(super) fn moves_of(task: &SecondPhaseTask, searcher: usize) -> Vec<UciMove> {
    task.candidates.iter().copied().skip(searcher).step_by(task.searchers.max(1)).collect()
}

/// The highest score; what is only a bound comes after what is exact, and of equals the first is taken.
pub(super) fn best<'a>(proposals: impl DoubleEndedIterator<Item = &'a Proposal>) -> Option<&'a Proposal> {
    proposals.rev().max_by_key(|proposal| (proposal.bound == Bound::Exact, proposal.score))
}
