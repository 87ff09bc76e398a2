//! Any UCI engine as the teacher that says what positions are worth.

use std::{
    fmt,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::{Duration, Instant},
};

use crate::training::{Record, Teacher};
use council::electors::{
    ElectorFailure, EngineProgram,
    uci::{UciEngine, protocol},
};
use domain::{Bound, Limits, Score, UciMove};
use engine::Position;

use crate::program_files::files_of_program;
use experiment::state::file_checksum;

/// Table of the teacher, MiB. Its searches are short.
const HASH: usize = 4;
/// Label of a mate, centipawns; beyond all other scores.
const MATE: i16 = 32_000;
const PATIENCE: Duration = Duration::from_secs(60);
/// A teacher is not tried on fewer positions than this: chance could make it pass.
const ENOUGH: usize = 32;
/// A teacher that takes longer than this for the positions it is tried on, is asked singly: nothing is saved by asking it ahead.
const SLOW: Duration = Duration::from_secs(1);
/// Timeout for an answer while a teacher is tried, which may have lost the question.
const TRIAL_PATIENCE: Duration = Duration::from_secs(5);

/// Command and limits of a teacher.
#[derive(Clone, Debug)]
pub(crate) struct TeacherPlan {
    pub(crate) program: EngineProgram,
    /// Nodes of a search, or plies for engines that do not obey a number of nodes.
    pub(crate) limits: Limits,
}

impl TeacherPlan {
    /// Returns the mark of the labels, by which no folder has labels of two teachers or versions.
    pub(crate) fn mark(&self) -> String {
        let mut words = vec![self.program.path.display().to_string()];
        words.extend(self.program.arguments.iter().cloned());
        words.extend(self.program.options.iter().map(|(name, value)| format!("{name}={value}")));
        words.extend(
            files_of_program(&self.program).iter().filter_map(|file| file_checksum(file)).map(|sum| format!("#{sum}")),
        );
        let Limits { nodes, depth, .. } = self.limits;
        let nodes = nodes.map(|nodes| format!("{nodes} nodes"));
        let effort = depth.map(|depth| format!("depth {depth}")).or(nodes).unwrap_or_default();
        format!("{} at {effort}", words.join(" "))
    }

    /// The two lines that ask what a position is worth.
    fn question(&self, record: &Record) -> String {
        format!("position fen {}\n{}", record.to_fen(), protocol::go_within(&self.limits))
    }
}

/// A teacher at work. It answers within a millisecond, so few commands surround its searches.
pub(crate) struct UciTeacher {
    engine: UciEngine,
    plan: TeacherPlan,
    asking: Asking,
}

/// Number of questions that a teacher gets before its first answer is read.
///
/// An engine that ends a search before it hears the next `go`, as Stockfish does, can get many at
/// once, which saves a quarter of the time, as the engine never waits. UCI promises nothing of the
/// kind, so each teacher is tried.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asking {
    Untried,
    /// One after the other.
    Singly,
    /// All at once.
    Ahead,
}

impl UciTeacher {
    pub(crate) fn start(plan: &TeacherPlan) -> Result<Self, ElectorFailure> {
        let engine = UciEngine::start(&plan.program, HASH, 1)?;
        Ok(Self { engine, plan: plan.clone(), asking: Asking::Untried })
    }

    /// Asks these singly and then ahead; a teacher that says the same of all is asked ahead from now on. One that does not may
    /// still be at work on what it was asked: it is started anew.
    fn try_asking_ahead(&mut self, records: &[Record], stop: &AtomicBool) -> Result<Vec<Option<i16>>, ElectorFailure> {
        self.forget()?;
        let begin = Instant::now();
        let singly = self.ask_singly(records, stop)?;
        if stop.load(Relaxed) {
            return Ok(singly);
        }
        if begin.elapsed() > SLOW {
            self.asking = Asking::Singly;
            return Ok(singly);
        }
        self.forget()?;
        if self.ask_ahead(records, TRIAL_PATIENCE).is_ok_and(|ahead| ahead == singly) {
            self.asking = Asking::Ahead;
            return Ok(singly);
        }
        *self = Self { asking: Asking::Singly, ..Self::start(&self.plan)? };
        self.forget()?;
        self.ask_singly(records, stop)
    }

    fn ask_singly(&mut self, records: &[Record], stop: &AtomicBool) -> Result<Vec<Option<i16>>, ElectorFailure> {
        let asked = records.iter().take_while(|_| !stop.load(Relaxed));
        asked
            .map(|record| {
                self.engine.process.send(&self.plan.question(record))?;
                self.answer(record, PATIENCE)
            })
            .collect()
    }

    /// Asks all at once; each answer is waited for as long as `patience`.
    fn ask_ahead(&mut self, records: &[Record], patience: Duration) -> Result<Vec<Option<i16>>, ElectorFailure> {
        let questions: Vec<_> = records.iter().map(|record| self.plan.question(record)).collect();
        self.engine.process.send(&questions.join("\n"))?;
        records.iter().map(|record| self.answer(record, patience)).collect()
    }

    /// Returns the label of a position, which is quiet if the best move neither captures nor promotes.
    fn answer(&mut self, record: &Record, patience: Duration) -> Result<Option<i16>, ElectorFailure> {
        let fen = record.to_fen();
        let wrong = |reason: &dyn fmt::Display| ElectorFailure(format!("{fen}: {reason}"));
        let position = Position::from_line(&fen, false, []).map_err(|error| wrong(&error))?;
        let deadline = Instant::now() + patience;
        let mut last: Option<Score> = None;
        loop {
            let heard = self.engine.process.read_before(deadline)?;
            let line = heard.ok_or_else(|| wrong(&format_args!("no best move within {patience:?}")))?;
            if let Some(best) = protocol::best_move(&line) {
                let score = last.ok_or_else(|| wrong(&"a best move and no score"))?;
                // A best move of another position would be the answer to another question.
                let legal = |told: UciMove| position.parse_move(&told.to_string()).ok_or(told);
                let best =
                    best.map(legal).transpose().map_err(|told| wrong(&format_args!("{told} is no move here")))?;
                let is_quiet = best.is_some_and(|best| !position.board().is_noisy(best));
                return Ok(is_quiet.then_some(label_of(score)));
            }
            let Some(info) = protocol::info(&line).filter(|info| !info.pv.is_empty()) else { continue };
            // A bound says less than the last exact score.
            if info.bound == Bound::Exact || last.is_none() {
                last = info.score.or(last);
            }
        }
    }
}

impl Teacher for UciTeacher {
    fn forget(&mut self) -> Result<(), ElectorFailure> {
        self.engine.new_game()
    }

    fn judge(&mut self, records: &[Record], stop: &AtomicBool) -> Result<Vec<Option<i16>>, ElectorFailure> {
        match self.asking {
            Asking::Untried if records.len() >= ENOUGH => self.try_asking_ahead(records, stop),
            Asking::Untried | Asking::Singly => self.ask_singly(records, stop),
            Asking::Ahead => self.ask_ahead(records, PATIENCE),
        }
    }
}

/// A score as a label, centipawns.
fn label_of(score: Score) -> i16 {
    match score {
        Score::Cp(score) => score.clamp(1 - i32::from(MATE), i32::from(MATE) - 1) as i16,
        Score::Mate(moves) if moves > 0 => MATE,
        Score::Mate(_) => -MATE,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use domain::Pace;

    use super::*;

    fn teacher(said: &str) -> UciTeacher {
        let script = format!(
            "while read -r word rest; do case $word in uci) echo uciok;; isready) echo readyok;; go) {said};; quit) exit;; esac; done"
        );
        let arguments = vec!["-c".to_owned(), script];
        let program = EngineProgram { path: "/bin/sh".into(), arguments, ..EngineProgram::default() };
        UciTeacher::start(&TeacherPlan { program, limits: Pace::Nodes(64).limits() }).expect("a shell")
    }

    fn start() -> Record {
        let position = Position::from_line("startpos", false, []).expect("a position");
        Record::new(position.board()).expect("standard chess")
    }

    fn judged(teacher: &mut UciTeacher, count: usize) -> Result<Vec<Option<i16>>, ElectorFailure> {
        teacher.judge(&vec![start(); count], &AtomicBool::new(false))
    }

    #[test]
    fn ordered_teacher_is_asked_ahead() {
        let mut teacher = teacher("echo info depth 1 score cp 12 pv g1f3; echo bestmove g1f3");
        assert_eq!(judged(&mut teacher, ENOUGH - 1).expect("labels"), vec![Some(12); ENOUGH - 1]);
        assert!(teacher.asking == Asking::Untried, "one or two would say nothing");
        for _ in 0..2 {
            assert_eq!(judged(&mut teacher, ENOUGH).expect("labels"), vec![Some(12); ENOUGH]);
            assert!(teacher.asking == Asking::Ahead);
        }
    }

    /// The trial leaves no trace: the labels are those of a teacher that was never tried.
    #[test]
    fn inconsistent_teacher_is_asked_singly() {
        let mut teacher = teacher("n=$((n + 1)); echo info depth 1 score cp $n pv g1f3; echo bestmove g1f3");
        let expected: Vec<_> = (1..=ENOUGH as i16).map(Some).collect();
        assert_eq!(judged(&mut teacher, ENOUGH).expect("labels"), expected);
        assert!(teacher.asking == Asking::Singly);
        assert_eq!(judged(&mut teacher, 1).expect("a label"), [Some(ENOUGH as i16 + 1)]);
    }

    #[test]
    fn endless_teacher_output_is_cut_off() {
        let mut teacher = teacher("while :; do echo info depth 1; done");
        teacher.engine.process.send("go").expect("it listens");
        assert!(teacher.engine.process.read(PATIENCE).expect("it runs").is_some(), "it has begun to talk");
        let failure = teacher.answer(&start(), Duration::ZERO).expect_err("no move").to_string();
        assert!(failure.contains("no best move within"), "{failure}");
    }

    #[test]
    fn answer_to_another_question_is_ignored() {
        let mut teacher = teacher("echo info depth 1 score cp 12 pv e7e5; echo bestmove e7e5");
        let failure = judged(&mut teacher, 1).expect_err("black's move").to_string();
        assert!(failure.ends_with("e7e5 is no move here"), "{failure}");
    }
}
