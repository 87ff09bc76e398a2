//! Any UCI engine as the teacher that says what positions are worth.

use std::{
    fmt,
    sync::{Arc, atomic::AtomicBool},
};

use chess::{Bound, ElectorName, GameId, Limits, Line, Phase, Proposal, Score, SearchId, Task, Variant};
use council::pool::{Elector, ElectorFailure, ElectorKind, ElectorSpec, EngineProgram, Job};
use engine::Position;
use training::{Record, Teacher};

/// Table of the teacher, MiB. Its searches are short.
const HASH: usize = 4;
/// What a mate is worth as a label, centipawns: beyond everything else.
const MATE: i16 = 32_000;

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

/// A teacher at work.
pub(crate) struct UciTeacher {
    name: ElectorName,
    elector: Box<dyn Elector>,
    limits: Limits,
}

impl UciTeacher {
    /// Starts the program.
    ///
    /// # Errors
    /// [`ElectorFailure`] if it cannot be started, or does not speak UCI.
    pub(crate) fn start(plan: &TeacherPlan) -> Result<Self, ElectorFailure> {
        let name = ElectorName::new(plan.program.path.to_string_lossy());
        let spec = ElectorSpec::new(name.clone(), ElectorKind::Engine(plan.program.clone()), HASH);
        let limits = match plan.effort {
            TeacherEffort::Nodes(nodes) => Limits { nodes: Some(nodes), ..Limits::default() },
            TeacherEffort::Depth(depth) => Limits { depth: Some(depth), ..Limits::default() },
        };
        Ok(Self { name, elector: spec.start()?, limits })
    }
}

impl Teacher for UciTeacher {
    type Error = ElectorFailure;

    fn forget(&mut self) {
        self.elector.new_game();
    }

    /// A position is quiet if the teacher's best move neither captures nor promotes.
    fn judge(&mut self, record: &Record) -> Result<Option<i16>, ElectorFailure> {
        let fen = record.to_fen();
        let wrong = |error: &dyn fmt::Display| ElectorFailure(format!("{fen}: {error}"));
        let line = Line::from_fen(Variant::Standard, &fen).map_err(|error| wrong(&error))?;
        let position = Position::from_line(&fen, false, []).map_err(|error| wrong(&error))?;
        let id = SearchId { game: GameId::from("lab"), ply: 0, serial: 0, phase: Phase::First };
        let task = Task { id, line: Arc::new(line), root_moves: Vec::new(), limits: self.limits };
        let mut last: Option<Proposal> = None;
        self.elector.search(&Job::new(task), &AtomicBool::new(false), &mut |proposal| {
            // A bound says less than the last exact score.
            if proposal.bound == Bound::Exact || last.is_none() {
                last = Some(proposal);
            }
        })?;
        let last = last.ok_or_else(|| ElectorFailure(format!("{} gave no score for {fen}", self.name)))?;
        let best = position.parse_move(&last.best.to_string());
        let is_quiet = best.is_some_and(|best| !position.board().is_noisy(best));
        Ok(is_quiet.then_some(match last.score {
            Score::Cp(score) => score.clamp(1 - i32::from(MATE), i32::from(MATE) - 1) as i16,
            Score::Mate(moves) if moves > 0 => MATE,
            Score::Mate(_) => -MATE,
        }))
    }
}
