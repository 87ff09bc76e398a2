//! The second phase: complete knowledge searches the proposed moves again, by one of several modes (docs/method.md §7).
//!
//! A mode is a state machine: it assigns searches at the beginning and after each report. [`SecondPhaseRun`] sends and waits,
//! for all modes.

mod direct;
mod pv_split;

pub(super) use pv_split::PvSplit;

use std::sync::Arc;

use super::{
    question::Progress,
    search_session::{Event, SearchSession},
    searcher::{CouncilSearcher, search_id},
};
use crate::{
    CouncilGame,
    electors::{Guidance, SearchReport, Task, Verification},
};
use domain::{GameLine, Limits, Phase, Proposal, SecondPhaseMode};
use engine::Turnstile;

pub(super) struct SecondPhaseTask<L: GameLine> {
    pub line: Arc<L>,
    pub candidates: Vec<L::Move>,
    pub searchers: usize,
    pub limits: Limits,
}

#[derive(Debug, Clone)]
pub(super) struct SearchAssignment<L: GameLine> {
    pub searcher: usize,
    pub line: Arc<L>,
    /// The moves to search; empty means all.
    pub root_moves: Vec<L::Move>,
    pub limits: Limits,
    pub guidance: Guidance<L::Move>,
}

impl<L: GameLine> SecondPhaseTask<L> {
    /// Assigns a search of `root_moves` in the position itself, without guidance.
    pub(super) fn assign(&self, searcher: usize, root_moves: Vec<L::Move>) -> SearchAssignment<L> {
        let (line, limits) = (Arc::clone(&self.line), self.limits);
        SearchAssignment { searcher, line, root_moves, limits, guidance: Guidance::default() }
    }
}

/// A way of searching the proposed moves with several searchers.
pub(super) trait SecondPhaseStrategy<L: GameLine>: Send {
    fn begin(&mut self, task: &SecondPhaseTask<L>) -> Vec<SearchAssignment<L>>;

    /// Returns the next assignments, after a report of a searcher.
    fn on_report(
        &mut self,
        task: &SecondPhaseTask<L>,
        searcher: usize,
        report: &SearchReport<L::Move>,
    ) -> Vec<SearchAssignment<L>>;

    /// Returns the current choice: a proposal for the position itself.
    fn found(&self) -> Option<&Proposal<L::Move>>;

    /// Returns true if the result is final although searchers are still running.
    fn is_over(&self) -> bool {
        false
    }
}

/// The slots of a mode, the threads of each, and whether they share one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub slots: usize,
    pub threads: usize,
    pub one_table: bool,
}

impl Layout {
    pub(super) fn of(mode: SecondPhaseMode, cores: usize) -> Self {
        let cores = cores.max(1);
        match mode {
            SecondPhaseMode::Sequential => Self { slots: 1, threads: 1, one_table: false },
            SecondPhaseMode::Shared => Self { slots: 1, threads: cores, one_table: false },
            SecondPhaseMode::Static => Self { slots: cores, threads: 1, one_table: false },
            SecondPhaseMode::Peer | SecondPhaseMode::PeerScore | SecondPhaseMode::PvSplit => {
                Self { slots: cores, threads: 1, one_table: true }
            }
            // The anchor has one core.
            SecondPhaseMode::Continued => Self { slots: cores - 1, threads: 1, one_table: true },
        }
    }

    /// Returns the number of tables.
    pub(super) fn tables(&self) -> usize {
        if self.one_table { 1 } else { self.slots }
    }
}

/// Creates the strategy of a mode. `before` is the anchor's newest proposal.
pub(super) fn of<L: GameLine>(
    mode: SecondPhaseMode,
    before: Option<Proposal<L::Move>>,
) -> Box<dyn SecondPhaseStrategy<L>> {
    match mode {
        SecondPhaseMode::PvSplit => Box::new(PvSplit::new()),
        _ => Box::new(direct::Direct::new(mode, before)),
    }
}

pub(super) struct SecondPhaseRun<'a, L: CouncilGame> {
    pub task: SecondPhaseTask<L>,
    pub strategy: Box<dyn SecondPhaseStrategy<L>>,
    pub searchers: &'a mut [CouncilSearcher<L>],
    /// The progress for the clock; its leader is replaced by the current choice.
    pub progress: Progress<L::Move>,
    /// The choice of the home electors in the first phase.
    pub home: Option<L::Move>,
    /// The verification of other machines' proposals.
    pub verification: Option<Arc<Verification<L::Move>>>,
}

impl<L: CouncilGame> SecondPhaseRun<'_, L> {
    /// Searches until the time of the move is over or all searches have ended. Returns the outer `None` if cancelled, the inner
    /// one without a result.
    pub(super) async fn run(mut self, session: &mut SearchSession<'_, L>) -> Option<Option<Proposal<L::Move>>> {
        let mut assignments = self.strategy.begin(&self.task);
        if session.question.in_step {
            take_turns(&mut assignments);
        }
        self.carry_out(assignments, session);
        let mut deadline = session.deadline(&self.progress, 1.0);
        while !self.strategy.is_over() && self.searchers.iter().any(CouncilSearcher::is_searching) {
            let here = self.searchers.iter().any(CouncilSearcher::is_searching_here);
            let others = session.is_endless(deadline).then(|| session.patience_with_others(here, true)).flatten();
            match session.next(others.unwrap_or(deadline), true).await {
                Event::Cancelled => return None,
                Event::TimeIsUp => break,
                Event::Verified => {}
                Event::Reconsider => deadline = session.deadline(&self.progress, 1.0),
                Event::SearchReport(report) => {
                    let Some(searcher) = self.searchers.iter_mut().position(|searcher| searcher.accepts(&report))
                    else {
                        continue;
                    };
                    let assignments = self.strategy.on_report(&self.task, searcher, &report);
                    self.carry_out(assignments, session);
                    if self.notice(session) {
                        deadline = session.deadline(&self.progress, 1.0);
                    }
                }
            }
        }
        Some(self.strategy.found().cloned())
    }

    fn carry_out(&mut self, assignments: Vec<SearchAssignment<L>>, session: &mut SearchSession<L>) {
        let time = session.time_left(1.0);
        for SearchAssignment { searcher, line, root_moves, limits, guidance } in assignments {
            let Some(slot) = self.searchers.get_mut(searcher) else { continue };
            let id = search_id(&session.question.game, &*line, Phase::Second);
            let guidance = Guidance { verification: self.verification.clone(), ..guidance };
            slot.search(Task { root_moves, limits, guidance, time, ..Task::new(id, line) }, &session.reports);
        }
    }

    /// Reports the current choice, if it is new.
    fn notice(&mut self, session: &mut SearchSession<L>) -> bool {
        let Some(found) = self.strategy.found() else { return false };
        let now = (Some(found.best), Some(found.score), found.depth);
        let progress = &mut self.progress;
        if now == (progress.leader, progress.score, progress.depth) {
            return false;
        }
        progress.changes += u32::from(progress.leader != now.0);
        (progress.leader, progress.score, progress.depth) = now;
        (progress.effort, progress.to_be_continued) = (None, false);
        if let (Some(verification), Some(_)) = (&self.verification, &found.machine) {
            verification.contest(self.home, Some(found.best));
        }
        session.show(found);
        true
    }
}

/// Gives the first searches their turns in virtual time. Later searches take no turns.
fn take_turns<L: GameLine>(assignments: &mut [SearchAssignment<L>]) {
    let round_robin = Turnstile::new(assignments.len());
    for (index, assignment) in assignments.iter_mut().enumerate() {
        assignment.guidance.turn = Some(Arc::new(round_robin.place(index)));
    }
}

#[cfg(test)]
mod tests;
