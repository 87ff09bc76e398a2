//! One search of all proposed moves: on one core (`sequential`, the theses' base version) or on all
//! of them (`shared`).

use super::{SearchAssignment, SecondPhaseStrategy, SecondPhaseTask};
use crate::electors::SearchReport;
use domain::{GameLine, Proposal};

/// A single searcher for all moves.
pub(super) struct Whole<L: GameLine> {
    pub(super) newest: Option<Proposal<L::Move>>,
}

impl<L: GameLine> SecondPhaseStrategy<L> for Whole<L> {
    fn begin(&mut self, task: &SecondPhaseTask<L>) -> Vec<SearchAssignment<L>> {
        vec![task.assign(0, task.candidates.clone())]
    }

    fn on_report(
        &mut self,
        _: &SecondPhaseTask<L>,
        _: usize,
        report: &SearchReport<L::Move>,
    ) -> Vec<SearchAssignment<L>> {
        if let SearchReport::Proposal(proposal) = report {
            self.newest = Some(proposal.clone());
        }
        Vec::new()
    }

    fn found(&self) -> Option<&Proposal<L::Move>> {
        self.newest.as_ref()
    }
}
