//! One search of all proposed moves: on one core (`sequential`, the theses' base version) or on all of them (`shared`).

use super::{SearchAssignment, SecondPhaseStrategy, SecondPhaseTask};
use crate::pool::SearchReport;
use chess::Proposal;

/// One searcher searches them all.
#[derive(Default)]
pub(super) struct Whole {
    newest: Option<Proposal>,
}

impl SecondPhaseStrategy for Whole {
    fn begin(&mut self, task: &SecondPhaseTask) -> Vec<SearchAssignment> {
        vec![task.assign(0, task.candidates.clone())]
    }

    fn on_report(&mut self, _: &SecondPhaseTask, _: usize, report: &SearchReport) -> Vec<SearchAssignment> {
        if let SearchReport::Proposal(proposal) = report {
            self.newest = Some(proposal.clone());
        }
        Vec::new()
    }

    fn found(&self) -> Option<&Proposal> {
        self.newest.as_ref()
    }
}
