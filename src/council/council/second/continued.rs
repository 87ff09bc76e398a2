//! The complete instance never stops: its table and its iterations are the second phase's beginning, and the proposals have
//! entered it as hints while they were made. Now the other cores join its search as helpers: they search the same position
//! over the same table, and their own results are not asked for (Lazy SMP).

use super::{SearchAssignment, SecondPhaseStrategy, SecondPhaseTask};
use crate::pool::SearchReport;
use chess::{GameLine, Proposal};

/// The first searcher is the one that never stops; the others help it.
pub(super) struct Continued<L: GameLine> {
    newest: Option<Proposal<L::Move>>,
    over: bool,
}

impl<L: GameLine> Continued<L> {
    /// With what it has proposed so far.
    pub(super) fn new(newest: Option<Proposal<L::Move>>) -> Self {
        Self { newest, over: false }
    }
}

impl<L: GameLine> SecondPhaseStrategy<L> for Continued<L> {
    fn begin(&mut self, task: &SecondPhaseTask<L>) -> Vec<SearchAssignment<L>> {
        (1..task.searchers).map(|searcher| task.assign(searcher, Vec::new())).collect()
    }

    fn on_report(
        &mut self,
        _: &SecondPhaseTask<L>,
        searcher: usize,
        report: &SearchReport<L::Move>,
    ) -> Vec<SearchAssignment<L>> {
        match report {
            SearchReport::Proposal(proposal) if searcher == 0 => self.newest = Some(proposal.clone()),
            SearchReport::Finished(..) | SearchReport::Failed(..) if searcher == 0 => self.over = true,
            _ => {}
        }
        Vec::new()
    }

    fn found(&self) -> Option<&Proposal<L::Move>> {
        self.newest.as_ref()
    }

    fn is_over(&self) -> bool {
        self.over
    }
}
