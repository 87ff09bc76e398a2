//! An instance of our own engine as an elector: translates tasks and iterations between the engine's plain texts and the
//! house's values.

use std::sync::atomic::AtomicBool;

use shakmaty::CastlingMode;

use super::{Elector, ElectorFailure};
use crate::{
    chess::{Bound, ElectorName, Knowledge, Limits, Line, Proposal, Score, Task, UciMove},
    engine::{self, Engine, EngineOptions, Iteration, Position, PositionError, ScoreBound},
};

pub(super) struct OwnElector {
    name: ElectorName,
    engine: Engine,
}

impl OwnElector {
    pub(super) fn new(name: ElectorName, knowledge: Knowledge, hash: usize, threads: usize) -> Self {
        let options = EngineOptions { hash, threads, knowledge, ..EngineOptions::default() };
        Self { name, engine: Engine::new(options) }
    }
}

impl Elector for OwnElector {
    fn search(
        &mut self,
        task: &Task,
        stop: &AtomicBool,
        report: &mut dyn FnMut(Proposal),
    ) -> Result<(), ElectorFailure> {
        let failure = |error: &dyn std::fmt::Display| ElectorFailure(error.to_string());
        let line = &task.line;
        if !line.variant().is_standard_rules() {
            return Err(failure(&format_args!("our own engine does not play {}", line.variant())));
        }
        let position = engine_position(line).map_err(|error| failure(&error))?;
        let root_moves: Vec<_> =
            task.root_moves.iter().filter_map(|uci| position.parse_move(&uci.to_string())).collect();

        let Limits { time, nodes, depth, clocks: _ } = task.limits;
        let limits = engine::Limits { time, nodes, depth, mate: None };
        self.engine.search(&position, &root_moves, &limits, stop, &mut |iteration| {
            if let Some(proposal) = proposal(&self.name, task, &position, iteration) {
                report(proposal);
            }
        });
        Ok(())
    }

    fn new_game(&mut self) {
        self.engine.new_game();
    }
}

/// A line of standard rules as our engine takes it.
///
/// # Errors
/// [`PositionError`] if the engine does not understand the position, as those of other rules.
pub fn engine_position(line: &Line) -> Result<Position, PositionError> {
    let start = line.start_fen().unwrap_or_else(|| "startpos".to_owned());
    let chess960 = line.castling_mode() == CastlingMode::Chess960;
    let moves: Vec<String> = line.moves().iter().map(ToString::to_string).collect();
    Position::from_line(&start, chess960, moves.iter().map(String::as_str))
}

/// What an iteration proposes.
fn proposal(elector: &ElectorName, task: &Task, position: &Position, iteration: &Iteration) -> Option<Proposal> {
    let pv: Vec<UciMove> = position.line_to_uci(&iteration.pv).iter().map_while(|text| text.parse().ok()).collect();
    Some(Proposal {
        search: task.id.clone(),
        elector: elector.clone(),
        machine: None,
        best: *pv.first()?,
        score: match iteration.score {
            engine::Score::Cp(centipawns) => Score::Cp(centipawns),
            engine::Score::Mate(moves) => Score::Mate(moves),
        },
        bound: match iteration.bound {
            ScoreBound::Exact => Bound::Exact,
            ScoreBound::Lower => Bound::Lower,
            ScoreBound::Upper => Bound::Upper,
        },
        depth: iteration.depth,
        selective_depth: iteration.selective_depth,
        root_moves_done: iteration.root_moves_done,
        nodes: iteration.nodes,
        time: iteration.time,
        pv,
    })
}
