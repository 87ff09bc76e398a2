//! Our engine in this process.

use std::sync::atomic::AtomicBool;

use super::{Choice, Player, PlayerFailure, Turn};
use crate::{
    chess::Score,
    engine::{self, Engine, EngineOptions},
    pool::engine_position,
};

pub(super) struct OwnPlayer {
    engine: Engine,
}

impl OwnPlayer {
    pub(super) fn new(options: EngineOptions) -> Self {
        Self { engine: Engine::new(options) }
    }
}

impl Player for OwnPlayer {
    fn new_game(&mut self) -> Result<(), PlayerFailure> {
        self.engine.new_game();
        Ok(())
    }

    fn choose(&mut self, turn: &Turn) -> Result<Choice, PlayerFailure> {
        let threads = self.engine.options().threads;
        if !turn.pace.is_timed() && threads > 1 && !self.engine.options().virtual_time {
            // Where nodes are the measure, several threads advance in step, on however few cores.
            let options = EngineOptions { virtual_time: true, ..self.engine.options().clone() };
            self.engine.set_options(options);
        }
        let nodes = turn.nodes().map(|nodes| nodes.saturating_mul(threads as u64));
        let position = engine_position(&turn.line).map_err(|error| PlayerFailure::Failed(error.to_string()))?;
        let limits = engine::Limits { time: turn.time(), nodes, ..engine::Limits::default() };
        let found = self.engine.search(&position, &[], &limits, &AtomicBool::new(false), &mut |_| {});
        let iteration = found.ok_or_else(|| PlayerFailure::Failed("no legal move".to_owned()))?;
        let best = position.move_to_uci(iteration.best).parse();
        Ok(Choice {
            best: best.map_err(|_| PlayerFailure::Failed("a move that UCI cannot write".to_owned()))?,
            score: Some(match iteration.score {
                engine::Score::Cp(centipawns) => Score::Cp(centipawns),
                engine::Score::Mate(moves) => Score::Mate(moves),
            }),
            depth: iteration.depth,
            nodes: iteration.nodes,
        })
    }
}
