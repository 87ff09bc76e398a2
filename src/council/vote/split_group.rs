//! A group of the first phase with a common search, by PV-split (docs/method.md §7).

use std::sync::Arc;

use super::second::{PvSplit, SearchAssignment, SecondPhaseStrategy, SecondPhaseTask};
use crate::electors::SearchReport;
use domain::{GameLine, Proposal};

/// The searchers of one elector, and the state of their common search.
pub(super) struct SplitGroup<L: GameLine> {
    task: SecondPhaseTask<L>,
    strategy: PvSplit<L>,
    /// The searchers, by their numbers in the first phase.
    members: Vec<usize>,
}

impl<L: GameLine> SplitGroup<L> {
    pub(super) fn begin(task: SecondPhaseTask<L>, members: Vec<usize>) -> (Self, Vec<SearchAssignment<L>>) {
        let mut group = Self { task, strategy: PvSplit::new(), members };
        let assignments = group.strategy.begin(&group.task);
        let assignments = group.numbered(assignments);
        (group, assignments)
    }

    /// Returns the next assignments of its members, after a report of one of them.
    pub(super) fn on_report(&mut self, number: usize, report: &SearchReport<L::Move>) -> Vec<SearchAssignment<L>> {
        let Some(member) = self.members.iter().position(|member| *member == number) else { return Vec::new() };
        let assignments = self.strategy.on_report(&self.task, member, report);
        self.numbered(assignments)
    }

    pub(super) fn line(&self) -> &Arc<L> {
        &self.task.line
    }

    pub(super) fn found(&self) -> Option<&Proposal<L::Move>> {
        self.strategy.found()
    }

    fn numbered(&self, mut assignments: Vec<SearchAssignment<L>>) -> Vec<SearchAssignment<L>> {
        for assignment in &mut assignments {
            assignment.searcher = self.members[assignment.searcher];
        }
        assignments
    }
}
