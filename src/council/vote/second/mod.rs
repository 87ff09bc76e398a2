//! The second phase: complete knowledge searches the proposed moves again, by one of several modes (docs/method.md §7).
//!
//! A mode is a state machine: it assigns searches at the beginning and after each report. [`SecondPhaseRun`] sends and waits,
//! for all modes.

mod direct;
mod pv_split;

use pv_split::PvSplit;
pub(super) use pv_split::SplitGroup;

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
use domain::{GameId, GameLine, Limits, Phase, Proposal, SecondPhaseMode};
use engine::Turnstile;

#[derive(Clone)]
pub(super) struct SecondPhaseTask<L: GameLine> {
    pub game: GameId,
    pub phase: Phase,
    pub line: Arc<L>,
    pub candidates: Vec<L::Move>,
    pub searchers: usize,
    pub limits: Limits,
}

/// The number of a searcher, and its next search.
pub(super) type SearchAssignment<L> = (usize, Task<L>);

impl<L: GameLine> SecondPhaseTask<L> {
    /// Assigns a search of `root_moves` in the position itself, without guidance.
    fn assign(&self, searcher: usize, root_moves: Vec<L::Move>) -> SearchAssignment<L> {
        (searcher, Task { root_moves, ..self.search(Arc::clone(&self.line)) })
    }

    /// Returns a search of all moves at the end of a line, without guidance.
    fn search(&self, line: Arc<L>) -> Task<L> {
        Task { limits: self.limits, ..Task::new(search_id(&self.game, &*line, self.phase), line) }
    }
}

pub(super) trait SecondPhaseStrategy<L: GameLine>: Send {
    fn begin(&mut self) -> Vec<SearchAssignment<L>>;

    fn on_report(&mut self, searcher: usize, report: &SearchReport<L::Move>) -> Vec<SearchAssignment<L>>;

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

    pub(super) fn tables(&self) -> usize {
        if self.one_table { 1 } else { self.slots }
    }
}

/// Creates the strategy of a mode. `before` is the anchor's newest proposal.
pub(super) fn of<L: GameLine>(
    mode: SecondPhaseMode,
    task: SecondPhaseTask<L>,
    before: Option<Proposal<L::Move>>,
) -> Box<dyn SecondPhaseStrategy<L>> {
    match mode {
        SecondPhaseMode::PvSplit => Box::new(PvSplit::new(task)),
        _ => Box::new(direct::Direct::new(mode, task, before)),
    }
}

pub(super) struct SecondPhaseRun<'a, L: CouncilGame> {
    pub strategy: Box<dyn SecondPhaseStrategy<L>>,
    pub searchers: &'a mut [CouncilSearcher<L>],
    /// The progress for the clock; its leader is replaced by the current choice.
    pub progress: Progress<L::Move>,
    /// The choice of the home electors in the first phase.
    pub home: Option<L::Move>,
    pub verification: Option<Arc<Verification<L::Move>>>,
}

impl<L: CouncilGame> SecondPhaseRun<'_, L> {
    /// Searches until the time of the move is over or all searches have ended. Returns the outer `None` if cancelled, the inner
    /// one without a result.
    pub(super) async fn run(mut self, session: &mut SearchSession<'_, L>) -> Option<Option<Proposal<L::Move>>> {
        let mut assignments = self.strategy.begin();
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
                    let assignments = self.strategy.on_report(searcher, &report);
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
        for (searcher, task) in assignments {
            let Some(slot) = self.searchers.get_mut(searcher) else { continue };
            let guidance = Guidance { verification: self.verification.clone(), ..task.guidance };
            slot.search(Task { guidance, time, ..task }, &session.reports);
        }
    }

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
    for (index, (_, task)) in assignments.iter_mut().enumerate() {
        task.guidance.turn = Some(Arc::new(round_robin.place(index)));
    }
}

#[cfg(test)]
mod tests;
