//! Labels by a teacher, any UCI program, as a pass of its own over shards that are there.
//!
//! Positions that the teacher finds not quiet (its best move captures or promotes) are left out: no static value does them
//! justice. Shards that are there already are left as they are, so a pass that was ended is taken up by the same call.

use std::{
    fs,
    io::{self, BufRead, BufReader, Write},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    },
    thread,
};

use engine::Position;

use crate::{Record, Shard, ShardError};

/// What a mate is worth as a label, in centipawns: beyond everything else.
const MATE: i16 = 32_000;

/// How a teacher is started and what it may spend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TeacherPlan {
    /// The program to start, by path or by name.
    pub program: PathBuf,
    /// Nodes a position.
    pub nodes: u64,
}

/// Why there are no labels.
#[derive(Debug, thiserror::Error)]
pub enum TeacherError {
    /// The program cannot be started, or has ended.
    #[error("teacher {program}: {error}")]
    Program {
        /// The program, as given.
        program: PathBuf,
        /// What is wrong with it.
        error: io::Error,
    },
    /// It does not say what a position is worth.
    #[error("teacher {program}: no score for {fen}")]
    NoScore {
        /// The program, as given.
        program: PathBuf,
        /// The position it was asked about.
        fen: String,
    },
    /// A file of records cannot be read or written.
    #[error(transparent)]
    Shard(#[from] ShardError),
}

/// A teacher at work.
struct Teacher<'a> {
    plan: &'a TeacherPlan,
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl<'a> Teacher<'a> {
    fn start(plan: &'a TeacherPlan) -> Result<Self, TeacherError> {
        let failed = |error| TeacherError::Program { program: plan.program.clone(), error };
        let mut command = Command::new(&plan.program);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed(io::ErrorKind::BrokenPipe.into()));
        };
        let mut teacher = Self { plan, child, input, output: BufReader::new(output) };
        teacher.ask("uci", "uciok", |_| {})?;
        teacher.ask("setoption name Hash value 1\nisready", "readyok", |_| {})?;
        Ok(teacher)
    }

    /// Sends a line and hands over all answers up to the one that begins with `last`.
    fn ask(&mut self, line: &str, last: &str, mut answer: impl FnMut(&str)) -> Result<(), TeacherError> {
        let failed = |error| TeacherError::Program { program: self.plan.program.clone(), error };
        writeln!(self.input, "{line}").and_then(|()| self.input.flush()).map_err(failed)?;
        let mut text = String::new();
        loop {
            text.clear();
            if self.output.read_line(&mut text).map_err(failed)? == 0 {
                return Err(failed(io::Error::new(io::ErrorKind::UnexpectedEof, "it has ended")));
            }
            answer(text.trim());
            if text.starts_with(last) {
                return Ok(());
            }
        }
    }

    /// Forgets everything, so that no shard depends on another.
    fn forget(&mut self) -> Result<(), TeacherError> {
        self.ask("ucinewgame\nisready", "readyok", |_| {})
    }

    /// Centipawns for the player to move; nothing for a position that is not quiet.
    fn judge(&mut self, record: &Record) -> Result<Option<i16>, TeacherError> {
        let fen = record.to_fen();
        let (mut score, mut best) = (None, String::new());
        let question = format!("position fen {fen}\ngo nodes {}", self.plan.nodes);
        self.ask(&question, "bestmove", |line| {
            if let Some(mv) = line.strip_prefix("bestmove ") {
                best = mv.split(' ').next().unwrap_or_default().to_owned();
            } else if let Some(said) = read_score(line) {
                score = Some(said);
            }
        })?;
        let score =
            score.ok_or_else(|| TeacherError::NoScore { program: self.plan.program.clone(), fen: fen.clone() })?;
        let position = Position::from_line(&fen, false, []).ok();
        let quiet = position.and_then(|position| position.parse_move(&best).map(|mv| !position.board().is_noisy(mv)));
        Ok(quiet.unwrap_or(false).then_some(score))
    }
}

impl Drop for Teacher<'_> {
    fn drop(&mut self) {
        // It ends by itself when it is told; if it does not listen, it is ended.
        if writeln!(self.input, "quit").is_err() {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// The exact score in an `info` line.
fn read_score(line: &str) -> Option<i16> {
    let mut words = line.strip_prefix("info ")?.split_ascii_whitespace().skip_while(|word| *word != "score").skip(1);
    let (kind, number) = (words.next()?, words.next()?.parse::<i32>().ok()?);
    match (kind, words.next()) {
        (_, Some("lowerbound" | "upperbound")) => None,
        ("cp", _) => Some(number.clamp(1 - i32::from(MATE), i32::from(MATE) - 1) as i16),
        ("mate", _) => Some(if number > 0 { MATE } else { -MATE }),
        _ => None,
    }
}

/// Labels every shard of `from` and writes it under the same name to `to`. `progress` is told the positions of every shard
/// that was written.
///
/// # Errors
/// See [`TeacherError`]; what was written stays.
pub fn label(
    plan: &TeacherPlan,
    from: &Path,
    to: &Path,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    progress: impl Fn(usize) + Sync,
) -> Result<(), TeacherError> {
    let unusable = |path: &Path| {
        let path = path.to_owned();
        move |error| TeacherError::Shard(ShardError::File { path, error })
    };
    fs::create_dir_all(to).map_err(unusable(to))?;
    let mut paths = Vec::new();
    for entry in fs::read_dir(from).map_err(unusable(from))? {
        paths.push(entry.map_err(unusable(from))?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "shard"));
    paths.sort();
    let (next, failure) = (AtomicUsize::new(0), Mutex::new(None));
    let work = || -> Result<(), TeacherError> {
        let mut teacher = Teacher::start(plan)?;
        while let Some(path) = paths.get(next.fetch_add(1, Relaxed)) {
            let Some(target) = path.file_name().map(|name| to.join(name)).filter(|target| !target.exists()) else {
                continue;
            };
            let shard = Shard::read(path)?;
            teacher.forget()?;
            let mut records = Vec::with_capacity(shard.records.len());
            for record in shard.records {
                if stop.load(Relaxed) {
                    return Ok(());
                }
                if let Some(score) = teacher.judge(&record)? {
                    records.push(record.with_teacher(score));
                }
            }
            let said = format!("; teacher: {} at {} nodes", plan.program.display(), plan.nodes);
            let labelled = Shard { description: shard.description + &said, records };
            labelled.write(&target)?;
            progress(labelled.records.len());
        }
        Ok(())
    };
    thread::scope(|scope| {
        for _ in 0..threads.get() {
            scope.spawn(|| {
                if let Err(error) = work() {
                    next.store(usize::MAX / 2, Relaxed);
                    if let Ok(mut first) = failure.lock() {
                        first.get_or_insert(error);
                    }
                }
            });
        }
    });
    failure.into_inner().ok().flatten().map_or(Ok(()), Err)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_read_from_info_lines() {
        for (line, score) in [
            ("info depth 3 seldepth 3 multipv 1 score cp -31 nodes 64 nps 1000 pv e7e5", Some(-31)),
            ("info depth 3 score mate -2 nodes 64", Some(-MATE)),
            ("info depth 3 score cp 20 lowerbound nodes 64", None),
            ("info string hello", None),
            ("bestmove e2e4", None),
        ] {
            assert_eq!(read_score(line), score, "{line}");
        }
    }

    #[test]
    fn a_teacher_that_is_not_there_is_one_clear_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = TeacherPlan { program: "no-such-engine".into(), nodes: 1 };
        let stop = AtomicBool::new(false);
        let failed = label(&plan, folder.path(), folder.path(), NonZeroUsize::MIN, &stop, |_| {});
        let text = failed.expect_err("there is no teacher").to_string();
        assert!(text.starts_with("teacher no-such-engine: "), "{text}");
    }
}
