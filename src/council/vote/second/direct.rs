//! The modes with one assignment for each searcher (docs/method.md §7):
//!
//! | mode | searchers and moves |
//! |---|---|
//! | `sequential`, `shared` | one searcher, on one core or on all, searches all proposed moves |
//! | `static` | each searcher takes a part of the moves |
//! | `peer` | each searcher takes one move, and several may share it |
//! | `peer-score` | `peer`; the best score found sets the aspiration window of all |
//! | `continued` | the anchor goes on with its search of the first phase; the others help over the same table (Lazy SMP) |

use std::sync::Arc;

use super::{SearchAssignment, SecondPhaseStrategy, SecondPhaseTask};
use crate::electors::SearchReport;
use domain::{Bound, GameLine, Proposal, SecondPhaseMode};

pub(super) struct Direct<L: GameLine> {
    task: SecondPhaseTask<L>,
    mode: SecondPhaseMode,
    newest: Vec<Option<Proposal<L::Move>>>,
    over: bool,
}

impl<L: GameLine> Direct<L> {
    pub(super) fn new(mode: SecondPhaseMode, task: SecondPhaseTask<L>, before: Option<Proposal<L::Move>>) -> Self {
        let mut newest = vec![before];
        newest.resize(task.searchers, None);
        Self { task, mode, newest, over: false }
    }
}

impl<L: GameLine> SecondPhaseStrategy<L> for Direct<L> {
    fn begin(&mut self) -> Vec<SearchAssignment<L>> {
        let task = &self.task;
        let (searchers, candidates) = (task.searchers, &task.candidates);
        let every_nth = |searcher| candidates.iter().copied().skip(searcher).step_by(searchers.max(1)).collect();
        let best_of_group = (self.mode == SecondPhaseMode::PeerScore).then(Arc::default);
        let peer = |searcher: usize| {
            let one = candidates.get(searcher % candidates.len().max(1)).filter(|_| searchers >= candidates.len());
            let (searcher, mut search) =
                task.assign(searcher, one.map_or_else(|| every_nth(searcher), |one| vec![*one]));
            search.guidance.best_of_group.clone_from(&best_of_group);
            (searcher, search)
        };
        match self.mode {
            SecondPhaseMode::Sequential | SecondPhaseMode::Shared => vec![task.assign(0, candidates.clone())],
            SecondPhaseMode::Static => {
                (0..searchers.min(candidates.len())).map(|number| task.assign(number, every_nth(number))).collect()
            }
            SecondPhaseMode::Continued => (1..searchers).map(|number| task.assign(number, Vec::new())).collect(),
            SecondPhaseMode::Peer | SecondPhaseMode::PeerScore | SecondPhaseMode::PvSplit => {
                (0..searchers).map(peer).collect()
            }
        }
    }

    fn on_report(&mut self, searcher: usize, report: &SearchReport<L::Move>) -> Vec<SearchAssignment<L>> {
        let continued = self.mode == SecondPhaseMode::Continued;
        match (report, self.newest.get_mut(searcher)) {
            // Helpers fill the anchor's table; their own results are not used.
            _ if continued && searcher != 0 => {}
            (SearchReport::Proposal(proposal), Some(newest)) => *newest = Some(proposal.clone()),
            (SearchReport::Proposal(_), None) => {}
            (SearchReport::Finished(..) | SearchReport::Failed(..), _) => self.over = continued,
        }
        Vec::new()
    }

    /// The highest of the deepest scores of each move. An exact score counts more than a bound of any depth, and of equals the
    /// first is taken.
    fn found(&self) -> Option<&Proposal<L::Move>> {
        let worth = |proposal: &Proposal<L::Move>| (proposal.bound == Bound::Exact, proposal.depth);
        let mut deepest: Vec<&Proposal<L::Move>> = Vec::new();
        for proposal in self.newest.iter().flatten() {
            match deepest.iter_mut().find(|known| known.best == proposal.best) {
                Some(known) if worth(known) < worth(proposal) => *known = proposal,
                Some(_) => {}
                None => deepest.push(proposal),
            }
        }
        deepest.into_iter().rev().max_by_key(|proposal| (proposal.bound == Bound::Exact, proposal.score))
    }

    fn is_over(&self) -> bool {
        self.over
    }
}
