//! Makes labelled positions for [`tune`](super::tune): quiet positions of the engine's own games, each with the score that a
//! teacher (any UCI engine) gives it, mixed with how the game ended.
//!
//! A game depends on the plan and its number only, and games are written in the order of their numbers, so the same plan
//! makes the same file with any number of threads (if the teacher, too, answers alike) and a file that was cut off is
//! continued where its last whole game ends.

mod file;
mod game;
mod teacher;
#[cfg(test)]
mod tests;

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

use council::pool::{ElectorFailure, UciProgram};
use file::DataFile;
use game::DataPlayer;
use teacher::LabelTeacher;

/// What the teacher may spend on a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeacherEffort {
    /// Nodes for each position.
    Nodes(u64),
    /// Plies, for engines that do not obey a number of nodes.
    Depth(u32),
}

impl fmt::Display for TeacherEffort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nodes(nodes) => write!(f, "{nodes} nodes"),
            Self::Depth(depth) => write!(f, "depth {depth}"),
        }
    }
}

/// Which positions to make.
#[derive(Clone, Debug)]
pub struct DataPlan {
    /// Who gives the scores.
    pub teacher: UciProgram,
    /// What a position is worth to it.
    pub effort: TeacherEffort,
    /// So many positions are wanted.
    pub positions: u64,
    /// Of each move of the games.
    pub nodes: u64,
    /// The part of the label that is the result of the game, 0 to 1; the rest is the teacher's.
    pub result_share: f64,
    /// The score in centipawns for which the teacher's side is expected to get 73 % (the unit of the sigmoid).
    pub scale: f64,
    /// The part of the quiet positions that is used, 0 to 1: neighbours say much the same.
    pub keep: f64,
    /// Decides the random openings.
    pub seed: u64,
    /// Games that are played at once.
    pub threads: NonZeroUsize,
}

impl DataPlan {
    /// Everything the positions depend on, as the first lines of the file.
    fn description(&self) -> String {
        let Self { teacher, effort, nodes, result_share, scale, keep, seed, .. } = self;
        let mut text = format!(
            "# concilio lab data, seed {seed}: own games at {nodes} nodes a move, {keep} of the quiet positions, scores by {}",
            teacher.path.display()
        );
        for (name, value) in &teacher.options {
            let _ = write!(text, " {name}={value}");
        }
        let _ = write!(
            text,
            " at {effort}\n# FEN;label # the teacher's centipawns for white, the result for white\n\
             # label: {result_share} of the result, the rest 1 / (1 + exp(-centipawns / {scale}))\n"
        );
        text
    }

    /// What white should expect.
    fn label(&self, centipawns: i32, result: f64) -> f64 {
        let expected = 1.0 / (1.0 + (-f64::from(centipawns) / self.scale).exp());
        self.result_share * result + (1.0 - self.result_share) * expected
    }
}

/// How far it has come.
#[derive(Clone, Copy, Debug)]
pub struct DataProgress {
    /// Positions in the file.
    pub positions: u64,
    /// Games they are from.
    pub games: u64,
    /// Time the rest will take, if it goes on so; unknown before the first game.
    pub left: Option<Duration>,
}

/// Why there are not as many positions as were wanted.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The teacher does not start or gives no score.
    #[error("teacher: {0}")]
    Teacher(#[from] ElectorFailure),
    /// The file of positions cannot be read or written.
    #[error("{path}: {error}")]
    Output {
        /// The file that could not be used.
        path: PathBuf,
        /// What is wrong with it.
        error: io::Error,
    },
    /// The file holds something else, or positions of another plan.
    #[error("{0}: not made by this plan and teacher; name another file")]
    OtherPlan(PathBuf),
    /// It was stopped before the end.
    #[error("stopped at {0} positions; the same command goes on from there")]
    Stopped(u64),
}

/// A game's labelled positions, a line each.
struct LabelledGame {
    number: u64,
    lines: Vec<String>,
}

/// Plays and labels until `output` holds as many positions as are wanted. An `output` of the same plan is continued.
///
/// # Errors
/// See [`DataError`]; whole games that were written stay.
pub fn generate(
    plan: &DataPlan,
    output: &Path,
    stop: &AtomicBool,
    mut progress: impl FnMut(&DataProgress),
) -> Result<(), DataError> {
    // A teacher that does not start leaves no file behind.
    LabelTeacher::start(&plan.teacher, plan.effort)?;
    let unusable = |error| DataError::Output { path: output.to_owned(), error };
    let mut file = DataFile::open(output, &plan.description())
        .map_err(unusable)?
        .ok_or_else(|| DataError::OtherPlan(output.to_owned()))?;
    let (began, first) = (Instant::now(), file.positions());
    let (next, halt) = (AtomicU64::new(file.games()), AtomicBool::new(false));
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..plan.threads.get() {
            let (sender, next, halt) = (sender.clone(), &next, &halt);
            scope.spawn(move || {
                if let Err(failure) = work(plan, next, halt, &sender) {
                    // Nobody listens any more when another failed first.
                    let _ = sender.send(Err(failure));
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let outcome = loop {
            if file.positions() >= plan.positions {
                break Ok(());
            }
            if stop.load(Relaxed) {
                break Err(DataError::Stopped(file.positions()));
            }
            match receiver.recv_timeout(Duration::from_millis(100)) {
                Ok(Ok(LabelledGame { number, lines })) => early.insert(number, lines),
                Ok(Err(failure)) => break Err(failure.into()),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => break Err(DataError::Stopped(file.positions())),
            };
            while let Some(lines) = early.remove(&file.games())
                && file.positions() < plan.positions
            {
                if let Err(error) = file.append(&lines) {
                    halt.store(true, Relaxed);
                    return Err(unusable(error));
                }
                let done = file.positions() - first;
                let share = (plan.positions.saturating_sub(file.positions())) as f64 / done.max(1) as f64;
                let left = (done > 0).then(|| began.elapsed().mul_f64(share));
                progress(&DataProgress { positions: file.positions(), games: file.games(), left });
            }
        };
        halt.store(true, Relaxed);
        outcome
    })
}

/// One thread: plays and labels game after game.
fn work(
    plan: &DataPlan,
    next: &AtomicU64,
    halt: &AtomicBool,
    results: &mpsc::Sender<Result<LabelledGame, ElectorFailure>>,
) -> Result<(), ElectorFailure> {
    let mut teacher = LabelTeacher::start(&plan.teacher, plan.effort)?;
    let mut player = DataPlayer::new(plan.nodes);
    loop {
        let number = next.fetch_add(1, Relaxed);
        let Some(game) = player.play(plan.seed, number, plan.keep, halt) else { return Ok(()) };
        teacher.new_game();
        let mut lines = Vec::with_capacity(game.quiet.len());
        for fen in &game.quiet {
            if let Some(centipawns) = teacher.judge(fen, halt)? {
                let label = plan.label(centipawns, game.result);
                lines.push(format!("{fen};{label:.4} # {centipawns} {}", game.result));
            }
            if halt.load(Relaxed) {
                return Ok(());
            }
        }
        if results.send(Ok(LabelledGame { number, lines })).is_err() {
            return Ok(());
        }
    }
}
