//! Static decomposition (docs/method.md §7): each proposed move's subtree goes to one process, independently.

use super::{Mode, Order, Stage};
use crate::pool::Report;
use chess::{Bound, Proposal, UciMove};

/// Where there are fewer processes than moves, one takes several and searches them together.
#[derive(Default)]
pub struct StaticDecomposition {
    newest: Vec<Option<Proposal>>,
}

impl Mode for StaticDecomposition {
    fn begin(&mut self, stage: &Stage) -> Vec<Order> {
        self.newest = vec![None; stage.processes];
        (0..stage.processes.min(stage.candidates.len()))
            .map(|process| stage.order(process, moves_of(stage, process)))
            .collect()
    }

    fn hear(&mut self, _: &Stage, process: usize, report: &Report) -> Vec<Order> {
        if let (Report::Proposal(proposal), Some(newest)) = (report, self.newest.get_mut(process)) {
            *newest = Some(proposal.clone());
        }
        Vec::new()
    }

    fn found(&self) -> Option<&Proposal> {
        best(self.newest.iter().flatten())
    }
}

/// The moves of a process: every so many'th.
pub(super) fn moves_of(stage: &Stage, process: usize) -> Vec<UciMove> {
    stage.candidates.iter().copied().skip(process).step_by(stage.processes.max(1)).collect()
}

/// The highest score; what is only a bound comes after what is exact, and of equals the first is taken.
pub(super) fn best<'a>(proposals: impl DoubleEndedIterator<Item = &'a Proposal>) -> Option<&'a Proposal> {
    proposals.rev().max_by_key(|proposal| (proposal.bound == Bound::Exact, proposal.score))
}
