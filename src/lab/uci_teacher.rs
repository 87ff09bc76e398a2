//! Any UCI engine as the teacher that says what positions are worth.

use std::{
    fmt,
    time::{Duration, Instant},
};

use chess::{Bound, Limits, Score};
use council::pool::{
    ElectorFailure, EngineProgram,
    uci::{UciEngine, protocol},
};
use engine::Position;
use training::{Record, Teacher};

/// Table of the teacher, MiB. Its searches are short.
const HASH: usize = 4;
/// What a mate is worth as a label, centipawns: beyond everything else.
const MATE: i16 = 32_000;
/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the teacher may spend on a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TeacherEffort {
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

/// How a teacher is started and what it may spend.
#[derive(Clone, Debug)]
pub(crate) struct TeacherPlan {
    /// The program.
    pub(crate) program: EngineProgram,
    /// For each position.
    pub(crate) effort: TeacherEffort,
}

impl fmt::Display for TeacherPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.program.path.display())?;
        for (name, value) in &self.program.options {
            write!(f, " {name}={value}")?;
        }
        write!(f, " at {}", self.effort)
    }
}

/// A teacher at work. It answers within a millisecond, so what is said around its searches is kept short.
pub(crate) struct UciTeacher {
    engine: UciEngine,
    /// What it is told for each position.
    go: String,
}

impl UciTeacher {
    /// Starts the program.
    ///
    /// # Errors
    /// [`ElectorFailure`] if it cannot be started, or does not speak UCI.
    pub(crate) fn start(plan: &TeacherPlan) -> Result<Self, ElectorFailure> {
        let limits = match plan.effort {
            TeacherEffort::Nodes(nodes) => Limits { nodes: Some(nodes), ..Limits::default() },
            TeacherEffort::Depth(depth) => Limits { depth: Some(depth), ..Limits::default() },
        };
        Ok(Self { engine: UciEngine::start(&plan.program, HASH, 1)?, go: protocol::go_within(&limits) })
    }
}

impl Teacher for UciTeacher {
    type Error = ElectorFailure;

    fn forget(&mut self) -> Result<(), ElectorFailure> {
        self.engine.new_game()
    }

    /// A position is quiet if the teacher's best move neither captures nor promotes.
    fn judge(&mut self, record: &Record) -> Result<Option<i16>, ElectorFailure> {
        let fen = record.to_fen();
        let wrong = |reason: &dyn fmt::Display| ElectorFailure(format!("{fen}: {reason}"));
        let position = Position::from_line(&fen, false, []).map_err(|error| wrong(&error))?;
        self.engine.send(&format!("position fen {fen}"))?;
        self.engine.send(&self.go)?;
        let deadline = Instant::now() + PATIENCE;
        let mut last: Option<Score> = None;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let line = self.engine.hear(left)?.ok_or_else(|| wrong(&"no best move within a minute"))?;
            if let Some(best) = protocol::best_move(&line) {
                let score = last.ok_or_else(|| wrong(&"a best move and no score"))?;
                let best = best.and_then(|best| position.parse_move(&best.to_string()));
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

/// A score as a label, centipawns.
fn label_of(score: Score) -> i16 {
    match score {
        Score::Cp(score) => score.clamp(1 - i32::from(MATE), i32::from(MATE) - 1) as i16,
        Score::Mate(moves) if moves > 0 => MATE,
        Score::Mate(_) => -MATE,
    }
}
