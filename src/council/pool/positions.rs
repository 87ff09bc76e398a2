//! Anybody's program that reads positions and prints moves as an elector (docs/own-player.md): a line of JSON in, a move out.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use serde::Serialize;

use super::{Elector, ElectorFailure, EngineProgram, Job, Process};
use chess::{Bound, ElectorName, Proposal, Score, Task, moves_text};

/// How long after the time is up an answer is waited for.
const STOP_TIMEOUT: Duration = Duration::from_secs(1);
/// How often the stop flag is looked at while the program is silent.
const POLL: Duration = Duration::from_millis(2);
/// A line that begins so is no answer.
const COMMENT: char = '#';

/// What the program reads of a position. New fields may come; none will go.
#[derive(Debug, Serialize)]
struct PositionText {
    variant: &'static str,
    /// The position to move in.
    fen: String,
    /// The position that the game began with.
    start: String,
    /// The moves since then, in UCI notation with blanks between them.
    moves: String,
    /// The legal moves.
    legal: Vec<String>,
    /// How long the answer is waited for, as far as is known.
    seconds: Option<f64>,
}

impl PositionText {
    fn of(Job { task, time, .. }: &Job) -> Self {
        let line = &task.line;
        let legal = if task.root_moves.is_empty() { line.legal_moves() } else { task.root_moves.clone() };
        Self {
            variant: line.variant().key(),
            fen: line.fen(),
            start: line.prefix(0).fen(),
            moves: moves_text(line.moves()),
            legal: legal.iter().map(ToString::to_string).collect(),
            seconds: time.iter().copied().chain(task.limits.time).min().map(|time| time.as_secs_f64()),
        }
    }
}

pub(super) struct PositionsElector {
    name: ElectorName,
    process: Process,
}

impl PositionsElector {
    pub(super) fn start(name: ElectorName, program: &EngineProgram) -> Result<Self, ElectorFailure> {
        if !program.options.is_empty() {
            let path = program.path.display();
            return Err(ElectorFailure(format!("{path} speaks no protocol that has options; use arguments")));
        }
        Ok(Self { name, process: Process::spawn(program)? })
    }

    /// What an answer proposes: a move, and its value in centipawns from the mover's side if it likes.
    fn proposal(&self, answer: &str, task: &Task, time: Duration) -> Result<Proposal, ElectorFailure> {
        let mut words = answer.split_ascii_whitespace();
        let best = words.next().and_then(|word| task.line.read_move(word));
        let best = best.ok_or_else(|| ElectorFailure(format!("{} gave no legal move: {answer:?}", self.name)))?;
        let score = words.next().and_then(|word| word.parse().ok());
        Ok(Proposal {
            search: task.id.clone(),
            elector: self.name.clone(),
            machine: None,
            best,
            score: Score::Cp(score.unwrap_or(0)),
            bound: Bound::Exact,
            depth: 1,
            selective_depth: 1,
            root_moves_done: 0,
            nodes: 1,
            time,
            pv: vec![best],
        })
    }
}

impl Elector for PositionsElector {
    fn search(&mut self, job: &Job, stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> Result<(), ElectorFailure> {
        let text = serde_json::to_string(&PositionText::of(job)).map_err(|error| ElectorFailure(error.to_string()))?;
        self.process.send(&text)?;
        let (began, mut stopped) = (Instant::now(), None);
        loop {
            if stop.load(Ordering::Relaxed) {
                stopped.get_or_insert_with(Instant::now);
            }
            if stopped.is_some_and(|since| since.elapsed() > STOP_TIMEOUT) {
                return Err(ElectorFailure(format!("{} gave no move and was killed", self.name)));
            }
            let Some(answer) = self.process.read(POLL)? else { continue };
            if !answer.trim().is_empty() && !answer.starts_with(COMMENT) {
                report(self.proposal(&answer, &job.task, began.elapsed())?);
                return Ok(());
            }
        }
    }
}
