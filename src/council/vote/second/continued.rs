//! The mode `continued`: complete knowledge never stops. Its table and iterations begin the second
//! phase, and proposals are hints for it from the start. In the second phase the other cores join
//! its search as helpers over the same table; their own results are not used (Lazy SMP).

use super::{SearchAssignment, SecondPhaseStrategy, SecondPhaseTask};
use crate::electors::SearchReport;
use domain::{GameLine, Proposal};

/// The first searcher is the one that never stops; the others help it.
pub(super) struct Continued<L: GameLine> {
    newest: Option<Proposal<L::Move>>,
    over: bool,
}

impl<L: GameLine> Continued<L> {
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
