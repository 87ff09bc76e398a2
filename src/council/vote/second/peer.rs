//! Peer cooperation (docs/method.md §7): every searcher takes the subtree of a proposed move, several may share one, and per move
//! the deepest score counts. With score sharing, the best score that one of them has found
//! sets the aspiration window of all.

use std::sync::Arc;

use super::{
    SearchAssignment, SecondPhaseStrategy, SecondPhaseTask,
    static_decomposition::{best, moves_of},
};
use crate::electors::SearchReport;
use domain::{Bound, GameLine, Proposal};
use engine::BestOfGroup;

/// All searchers are one group.
pub(super) struct Peer<L: GameLine> {
    best_of_group: Option<Arc<BestOfGroup>>,
    newest: Vec<Option<Proposal<L::Move>>>,
    deepest: Vec<Proposal<L::Move>>,
}

impl<L: GameLine> Peer<L> {
    pub(super) fn new(shares_score: bool) -> Self {
        Self { best_of_group: shares_score.then(Arc::default), newest: Vec::new(), deepest: Vec::new() }
    }
}

impl<L: GameLine> SecondPhaseStrategy<L> for Peer<L> {
    fn begin(&mut self, task: &SecondPhaseTask<L>) -> Vec<SearchAssignment<L>> {
        self.newest = vec![None; task.searchers];
        let assignment = |searcher: usize| {
            let moves = match task.candidates.get(searcher % task.candidates.len().max(1)) {
                Some(only) if task.searchers >= task.candidates.len() => vec![*only],
                _ => moves_of(task, searcher),
            };
            let mut assignment = task.assign(searcher, moves);
            assignment.guidance.best_of_group.clone_from(&self.best_of_group);
            assignment
        };
        (0..task.searchers).map(assignment).collect()
    }

    fn on_report(
        &mut self,
        _: &SecondPhaseTask<L>,
        searcher: usize,
        report: &SearchReport<L::Move>,
    ) -> Vec<SearchAssignment<L>> {
        if let (SearchReport::Proposal(proposal), Some(newest)) = (report, self.newest.get_mut(searcher)) {
            *newest = Some(proposal.clone());
            self.deepest = deepest(self.newest.iter().flatten());
        }
        Vec::new()
    }

    fn found(&self) -> Option<&Proposal<L::Move>> {
        best(self.deepest.iter())
    }
}

/// Returns the deepest proposal of every move. A bound at any depth counts less than an exact
/// score.
fn deepest<'a, M: Copy + PartialEq + 'a>(proposals: impl Iterator<Item = &'a Proposal<M>>) -> Vec<Proposal<M>> {
    let worth = |proposal: &Proposal<M>| (proposal.bound == Bound::Exact, proposal.depth);
    let mut deepest: Vec<Proposal<M>> = Vec::new();
    for proposal in proposals {
        let best = proposal.best;
        match deepest.iter_mut().find(|known| known.best == best) {
            Some(known) if worth(known) < worth(proposal) => known.clone_from(proposal),
            Some(_) => {}
            None => deepest.push(proposal.clone()),
        }
    }
    deepest
}
