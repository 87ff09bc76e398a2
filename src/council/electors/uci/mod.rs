//! A foreign UCI engine as an elector: a child process. It ends with us, because its standard input closes.
//!
//! The engine is never trusted to answer: starting, stopping and every reply have a deadline, after which it is killed and
//! its failure reported.

mod engine;
pub mod protocol;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use shakmaty::CastlingMode;

use super::{Elector, ElectorFailure, ElectorResult, ElectorSpec, EngineProgram, Task, process::POLL};
use domain::{Bound, ElectorName, Proposal, Score, UciMove, Variant};
use engine::CHESS960;
use protocol::Info;

pub use engine::UciEngine;

/// The time to wait for a best move after `stop`.
const STOP_TIMEOUT: Duration = Duration::from_millis(1000);

pub(super) struct UciElector {
    name: ElectorName,
    engine: UciEngine,
    variant: Option<(Variant, CastlingMode)>,
}

impl UciElector {
    pub(super) fn start(spec: &ElectorSpec, program: &EngineProgram) -> ElectorResult<Self> {
        let engine = UciEngine::start(program, spec.hash, spec.threads)?;
        Ok(Self { name: spec.name.clone(), engine, variant: None })
    }

    pub(super) fn variants(&self) -> Vec<Variant> {
        let listed = self.engine.values_of("UCI_Variant");
        let chess960 = self.engine.has_option(CHESS960);
        Variant::ALL
            .into_iter()
            .filter(|variant| match variant {
                Variant::Standard | Variant::FromPosition => true,
                Variant::Chess960 => chess960,
                other => listed.iter().any(|name| name == other.uci_name()),
            })
            .collect()
    }

    fn set_rules(&mut self, variant: Variant, castling: CastlingMode) -> ElectorResult {
        if self.variant == Some((variant, castling)) {
            return Ok(());
        }
        if !variant.is_standard_rules() && !self.variants().contains(&variant) {
            return Err(ElectorFailure(format!("{} does not play {variant}", self.name)));
        }
        if self.engine.has_option("UCI_Variant") {
            self.engine.set("UCI_Variant", variant.uci_name())?;
        }
        if !self.engine.set_castling(castling)? {
            return Err(ElectorFailure(format!("{} does not play chess960", self.name)));
        }
        self.variant = Some((variant, castling));
        self.engine.wait_until_ready()
    }
}

impl Elector for UciElector {
    fn search(&mut self, task: &Task, stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> ElectorResult {
        self.set_rules(task.line.variant(), task.line.castling_mode())?;
        self.engine.process.send(&protocol::position(&task.line))?;
        self.engine.process.send(&protocol::go(task))?;
        let started = Instant::now();
        let mut told_to_stop: Option<Instant> = None;
        let mut newest: Option<Proposal> = None;
        loop {
            if told_to_stop.is_none() && stop.load(Ordering::Relaxed) {
                self.engine.process.send("stop")?;
                told_to_stop = Some(Instant::now());
            }
            if told_to_stop.is_some_and(|since| since.elapsed() > STOP_TIMEOUT) {
                return Err(ElectorFailure(format!("{} did not stop and was killed", self.name)));
            }
            let Some(line) = self.engine.process.read(POLL)? else { continue };
            task.state.hear();
            if let Some(best) = protocol::best_move(&line) {
                let best = best.ok_or_else(|| ElectorFailure(format!("{} gave no move: {line:?}", self.name)))?;
                // A best move that no line announced (a book move, a single reply) is a proposal of
                // its own, and so is one announced with a bound only.
                match newest {
                    Some(told) if told.best == best && told.bound == Bound::Exact => (),
                    // A mate that is only a bound proves nothing.
                    Some(told) if told.best == best && matches!(told.score, Score::Mate(_)) => (),
                    Some(told) if told.best == best => report(Proposal { bound: Bound::Exact, ..told }),
                    told => {
                        let info = Info { pv: vec![best], ..told.as_ref().map(Info::of).unwrap_or_default() };
                        report(self.proposal(task, info, started.elapsed()));
                    }
                }
                return Ok(());
            }
            if let Some(info) = protocol::info(&line).filter(|info| !info.pv.is_empty()) {
                let proposal = self.proposal(task, info, started.elapsed());
                newest = Some(proposal.clone());
                report(proposal);
            }
        }
    }

    fn new_game(&mut self) {
        // A failure shows at the next search, where it can be reported.
        let _ = self.engine.new_game();
    }
}

impl UciElector {
    fn proposal(&self, task: &Task, info: Info, time: Duration) -> Proposal {
        let pv = task_moves(task, &info.pv);
        let best = pv.first().or(info.pv.first()).copied().unwrap_or(UciMove::Null);
        Info { pv, ..info }.proposal(task, &self.name, best, time)
    }
}

/// The legal beginning of a line the engine gave, written as our line writes moves.
fn task_moves(task: &Task, moves: &[UciMove]) -> Vec<UciMove> {
    let mut line = (*task.line).clone();
    let played = moves.iter().take_while(|uci| line.play(**uci).is_ok()).count();
    line.moves()[line.ply() - played..].to_vec()
}
