//! A UCI engine that says what positions are worth.

use std::sync::{Arc, atomic::AtomicBool};

use super::TeacherEffort;
use chess::{
    Bound, Color, ElectorName, GameId, Limits, Line, Phase, Proposal, Score, SearchId, Task, UciMove, Variant,
};
use council::pool::{Elector, ElectorFailure, ElectorKind, ElectorSpec, Job, UciProgram};
use engine::Position;

/// Table of the teacher, MiB. Its searches are short.
const HASH: usize = 4;
/// Beyond so many centipawns a position teaches nothing about the weights.
const DECIDED: i32 = 1500;

/// A teacher at work.
pub(super) struct LabelTeacher {
    name: ElectorName,
    elector: Box<dyn Elector>,
    limits: Limits,
}

impl LabelTeacher {
    /// Starts the program.
    pub(super) fn start(program: &UciProgram, effort: TeacherEffort) -> Result<Self, ElectorFailure> {
        let name = ElectorName::new(program.path.to_string_lossy());
        let spec = ElectorSpec::new(name.clone(), ElectorKind::Uci(program.clone()), HASH);
        let limits = match effort {
            TeacherEffort::Nodes(nodes) => Limits { nodes: Some(nodes), ..Limits::default() },
            TeacherEffort::Depth(depth) => Limits { depth: Some(depth), ..Limits::default() },
        };
        Ok(Self { name, elector: spec.start()?, limits })
    }

    /// Forgets the last game, so that no label depends on it.
    pub(super) fn new_game(&mut self) {
        self.elector.new_game();
    }

    /// Centipawns from white's side; nothing for a position that is decided or in which the teacher would capture or
    /// promote: those are for the search to see through.
    pub(super) fn judge(&mut self, fen: &str, stop: &AtomicBool) -> Result<Option<i32>, ElectorFailure> {
        let wrong = |error: &dyn std::fmt::Display| ElectorFailure(error.to_string());
        let line = Line::from_fen(Variant::Standard, fen).map_err(|error| wrong(&error))?;
        let position = Position::from_line(fen, false, []).map_err(|error| wrong(&error))?;
        let white_to_move = line.turn() == Color::White;
        let id = SearchId { game: GameId::from("lab"), ply: 0, serial: 0, phase: Phase::First };
        let task = Task { id, line: Arc::new(line), root_moves: Vec::new(), limits: self.limits };
        let mut last: Option<Proposal> = None;
        self.elector.search(&Job::new(task), stop, &mut |proposal| {
            // A bound says less than the last exact score.
            if proposal.bound == Bound::Exact || last.is_none() {
                last = Some(proposal);
            }
        })?;
        let last = last.ok_or_else(|| ElectorFailure(format!("{} gave no score for {fen}", self.name)))?;
        let Score::Cp(score) = last.score else { return Ok(None) };
        let quiet = !is_noisy(&position, last.best) && score.abs() <= DECIDED;
        Ok(quiet.then_some(if white_to_move { score } else { -score }))
    }
}

fn is_noisy(position: &Position, best: UciMove) -> bool {
    position.parse_move(&best.to_string()).is_none_or(|mv| position.board().is_noisy(mv))
}
