//! The second phase: complete knowledge searches the proposed moves again, by one of several modes (docs/method.md §7).
//!
//! A mode is a state machine: it says what the processes do first, and what next when one of them has said something. It
//! sends nothing and waits for nothing; that is done here, once for all modes. The next mode is one more file, one more
//! [`SecondPhaseMode`], and one more arm in [`of`].

mod continued;
mod peer;
mod pv_split;
mod static_decomposition;
mod whole;

use std::sync::Arc;

use super::{
    SecondPhaseMode,
    hearing::{Event, Hearing},
    process::{Process, next_serial},
    question::Progress,
};
use crate::pool::{Guidance, Job, Report};
use chess::{GameId, Limits, Line, Phase, Proposal, SearchId, Task, UciMove};
use engine::Turnstile;

/// What the second phase is about.
pub(super) struct Stage {
    /// The position.
    pub line: Arc<Line>,
    /// The moves proposed, at least one.
    pub candidates: Vec<UciMove>,
    /// How many processes there are, at least one.
    pub processes: usize,
    /// Bounds for each of them.
    pub limits: Limits,
}

/// What a process is to do.
#[derive(Debug, Clone)]
pub(super) struct Order {
    pub process: usize,
    pub line: Arc<Line>,
    /// Empty: all.
    pub root_moves: Vec<UciMove>,
    pub limits: Limits,
    pub guidance: Guidance,
}

impl Stage {
    /// Those moves searched in the position itself, without more guidance.
    pub fn order(&self, process: usize, root_moves: Vec<UciMove>) -> Order {
        let (line, limits) = (Arc::clone(&self.line), self.limits);
        Order { process, line, root_moves, limits, guidance: Guidance::default() }
    }
}

/// A way of searching the proposed moves with several processes.
pub(super) trait Mode: Send {
    /// What the processes do first.
    fn begin(&mut self, stage: &Stage) -> Vec<Order>;

    /// What they do next, after a process has reported on its newest order.
    fn hear(&mut self, stage: &Stage, process: usize, report: &Report) -> Vec<Order>;

    /// What would be elected now: a proposal for the position itself.
    fn found(&self) -> Option<&Proposal>;

    /// Whether nothing more will come of it although processes are searching.
    fn is_over(&self) -> bool {
        false
    }
}

/// How many seats a mode needs on so many cores, each with how many threads, and whether they search with one table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub seats: usize,
    pub threads: usize,
    pub one_table: bool,
}

impl Layout {
    /// The layout of a mode.
    pub fn of(mode: SecondPhaseMode, cores: usize) -> Self {
        let cores = cores.max(1);
        match mode {
            SecondPhaseMode::Sequential => Self { seats: 1, threads: 1, one_table: false },
            SecondPhaseMode::Shared => Self { seats: 1, threads: cores, one_table: false },
            SecondPhaseMode::Static => Self { seats: cores, threads: 1, one_table: false },
            SecondPhaseMode::Peer | SecondPhaseMode::PeerScore | SecondPhaseMode::PvSplit => {
                Self { seats: cores, threads: 1, one_table: true }
            }
            // One core goes on with the search of the first phase.
            SecondPhaseMode::Continued => Self { seats: cores - 1, threads: 1, one_table: true },
        }
    }
}

/// The mode of this name. `before` is what the process that never stops has proposed, where there is one.
pub(super) fn of(mode: SecondPhaseMode, before: Option<Proposal>) -> Box<dyn Mode> {
    match mode {
        SecondPhaseMode::Sequential | SecondPhaseMode::Shared => Box::new(whole::Whole::default()),
        SecondPhaseMode::Static => Box::new(static_decomposition::StaticDecomposition::default()),
        SecondPhaseMode::Peer => Box::new(peer::Peer::new(false)),
        SecondPhaseMode::PeerScore => Box::new(peer::Peer::new(true)),
        SecondPhaseMode::PvSplit => Box::new(pv_split::PvSplit::default()),
        SecondPhaseMode::Continued => Box::new(continued::Continued::new(before)),
    }
}

/// The second phase as it runs.
pub(super) struct SecondPhase<'a> {
    pub stage: Stage,
    pub mode: Box<dyn Mode>,
    pub processes: &'a mut [Process],
    /// What the clock is told; its leader is replaced by what is found.
    pub progress: Progress,
}

impl SecondPhase<'_> {
    /// Searches until the time of the move is over or nothing is left to do. The outer `None` if cancelled, the inner one if
    /// nothing was found.
    pub async fn hear(mut self, hearing: &mut Hearing<'_>) -> Option<Option<Proposal>> {
        let mut orders = self.mode.begin(&self.stage);
        if hearing.question.in_step {
            take_places(&mut orders);
        }
        self.carry_out(orders, hearing);
        let mut deadline = hearing.deadline(&self.progress, 1.0);
        while !self.mode.is_over() && self.processes.iter().any(Process::is_searching) {
            match hearing.next(deadline, true).await {
                Event::Cancelled => return None,
                Event::TimeIsUp => break,
                Event::Reconsider => deadline = hearing.deadline(&self.progress, 1.0),
                Event::Report(report) => {
                    let Some(process) = self.processes.iter_mut().position(|process| process.hears(&report)) else {
                        continue;
                    };
                    let orders = self.mode.hear(&self.stage, process, &report);
                    self.carry_out(orders, hearing);
                    if self.notice(hearing) {
                        deadline = hearing.deadline(&self.progress, 1.0);
                    }
                }
            }
        }
        Some(self.mode.found().cloned())
    }

    fn carry_out(&mut self, orders: Vec<Order>, hearing: &Hearing) {
        for Order { process, line, root_moves, limits, guidance } in orders {
            let Some(seat) = self.processes.get_mut(process) else { continue };
            let id = search_id(hearing.question.game.clone(), &line);
            let task = Task { id, line, root_moves, limits };
            seat.search(Job::guided(task, guidance), &hearing.reports);
        }
    }

    /// Tells of what is found, if that is new.
    fn notice(&mut self, hearing: &mut Hearing) -> bool {
        let Some(found) = self.mode.found() else { return false };
        let now = (Some(found.best), Some(found.score), found.depth);
        let progress = &mut self.progress;
        if now == (progress.leader, progress.score, progress.depth) {
            return false;
        }
        progress.changes += u32::from(progress.leader != now.0);
        (progress.leader, progress.score, progress.depth) = now;
        hearing.show(found);
        true
    }
}

/// Gives those who begin together their places where they take turns. What is ordered later is searched when it comes.
fn take_places(orders: &mut [Order]) {
    let turnstile = Turnstile::new(orders.len());
    for (index, order) in orders.iter_mut().enumerate() {
        order.guidance.place = Some(Arc::new(turnstile.place(index)));
    }
}

/// The identity of a new search of the second phase.
pub(super) fn search_id(game: GameId, line: &Line) -> SearchId {
    SearchId { game, ply: line.ply(), serial: next_serial(), phase: Phase::Second }
}

#[cfg(test)]
mod tests;
