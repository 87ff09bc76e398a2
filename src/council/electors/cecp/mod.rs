//! An engine that speaks the Chess Engine Communication Protocol (xboard's) as an elector: a child
//! process.
//!
//! It gets the time for its answer, and proposes the first moves of its thinking lines. An engine
//! that does not show its thinking is told to move before the time is up, because its move is its
//! only proposal. Every wait has a deadline.

mod engine;
pub mod protocol;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use super::{
    Elector, ElectorFailure, ElectorResult, ElectorSpec, EngineProgram, Task, process::POLL, uci::protocol::Info,
};
use domain::{ElectorName, Proposal, Score, UciMove};
use protocol::EngineAnswer;

pub use engine::CecpEngine;

/// The time to wait for a move after the order to move. Some engines only check the clock between
/// two whole seconds.
const STOP_TIMEOUT: Duration = Duration::from_secs(2);
/// The part of the time that its answer is waited for which an engine is given.
const SHARE: f64 = 0.9;
/// The search time of an engine that does not show its thinking, if no limit is known.
const SILENT: Duration = Duration::from_secs(5);
/// The value of a position in which an engine resigns, centipawns, unless it had seen worse.
const RESIGNED: Score = Score::Cp(-2000);
/// The depth for an engine that was given one and now is to have none, plies.
const NO_DEPTH: u32 = 99;

pub(super) struct CecpElector {
    name: ElectorName,
    engine: CecpEngine,
    depth: Option<u32>,
}

impl CecpElector {
    pub(super) fn start(spec: &ElectorSpec, program: &EngineProgram) -> ElectorResult<Self> {
        let engine = CecpEngine::start(program, spec.hash, spec.threads)?;
        Ok(Self { name: spec.name.clone(), engine, depth: None })
    }

    fn set_bounds(&mut self, task: &Task) -> ElectorResult {
        let waited_for = task.time.map(|time| time.mul_f64(SHARE));
        self.engine.set_move_time(waited_for.into_iter().chain(task.limits.time).min())?;
        let depth = task.limits.depth;
        if depth != self.depth {
            self.engine.send(&format!("sd {}", depth.unwrap_or(NO_DEPTH)))?;
            self.depth = depth;
        }
        Ok(())
    }
}

impl Elector for CecpElector {
    fn search(&mut self, task: &Task, stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> ElectorResult {
        if self.engine.follow(&task.line)? {
            self.depth = None;
        }
        self.set_bounds(task)?;
        self.engine.send("go")?;
        let mut search = CecpSearch { name: &self.name, task, began: Instant::now(), newest: None, nodes: 0, report };
        let (mut told_to_move, mut stopped): (bool, Option<Instant>) = (false, None);
        loop {
            if stopped.is_none() && stop.load(Ordering::Relaxed) {
                stopped = Some(Instant::now());
            }
            if !told_to_move && (stopped.is_some() || search.is_enough()) {
                self.engine.send("?")?;
                told_to_move = true;
            }
            if stopped.is_some_and(|since| since.elapsed() > STOP_TIMEOUT) {
                return Err(ElectorFailure(format!("{} did not stop and was killed", self.name)));
            }
            let Some(heard) = self.engine.hear(POLL)? else { continue };
            task.state.hear();
            match heard {
                EngineAnswer::Thinking(thinking) => search.thinks(thinking),
                EngineAnswer::Move(best) => {
                    search.moves(best);
                    return Ok(());
                }
                EngineAnswer::Resigns => {
                    self.engine.forget();
                    return search.ends("resigns", Some(RESIGNED));
                }
                EngineAnswer::Over => {
                    self.engine.forget();
                    return search.ends("takes the game to be over", None);
                }
                EngineAnswer::Unreadable(text) => {
                    return Err(ElectorFailure(format!("{} gave no legal move: {text:?}", self.name)));
                }
                EngineAnswer::Refused(text) => return Err(engine::refusal(&text)),
                EngineAnswer::Nothing => (),
            }
        }
    }

    fn new_game(&mut self) {
        self.engine.forget();
    }
}

struct CecpSearch<'a> {
    name: &'a ElectorName,
    task: &'a Task,
    began: Instant,
    newest: Option<Proposal>,
    nodes: u64,
    report: &'a mut dyn FnMut(Proposal),
}

impl CecpSearch<'_> {
    /// Returns true if it must be told to move although it has not been stopped.
    fn is_enough(&self) -> bool {
        let limits = &self.task.limits;
        let silent = self.task.time.map_or(SILENT, |time| time.mul_f64(SHARE));
        let elapsed = self.began.elapsed();
        limits.time.is_some_and(|most| elapsed >= most)
            || limits.nodes.is_some_and(|most| self.nodes >= most)
            || self.newest.is_none() && elapsed >= silent
    }

    fn thinks(&mut self, thinking: Info) {
        self.nodes = self.nodes.max(thinking.nodes);
        if !thinking.pv.is_empty() {
            self.propose(thinking);
        }
    }

    /// Handles its move. A move that no line announced (a book move, a single reply) is a proposal
    /// of its own.
    fn moves(&mut self, best: UciMove) {
        if self.newest.as_ref().is_some_and(|proposal| proposal.best == best) {
            return;
        }
        let newest = self.newest.as_ref().map(Info::of).unwrap_or_default();
        self.propose(Info { nodes: self.nodes, pv: vec![best], ..newest });
    }

    /// Handles an end without a move: its last proposal stands, with this score unless its own was
    /// worse.
    fn ends(&mut self, how: &str, score: Option<Score>) -> ElectorResult {
        let last = self.newest.clone().ok_or_else(|| ElectorFailure(format!("{} {how}", self.name)))?;
        if let Some(score) = score.filter(|score| *score < last.score) {
            (self.report)(Proposal { score, ..last });
        }
        Ok(())
    }

    fn propose(&mut self, info: Info) {
        let best = info.pv.first().copied().unwrap_or(UciMove::Null);
        let proposal = info.proposal(self.task, self.name, best, self.began.elapsed());
        self.newest = Some(proposal.clone());
        (self.report)(proposal);
    }
}

#[cfg(test)]
mod tests;
