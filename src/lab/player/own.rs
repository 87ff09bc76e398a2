//! Our engine in this process. It spends its clock as it does under any other program.

use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};

use super::{ChosenMove, MatchPlayer, MoveRequest, Pace, PlayerFailure};
use domain::{Color, Line, UciMove, engine_position};
use engine::{
    Engine, EngineOptions,
    uci::{Go, Stopwatch, searchable},
};

/// The time left on the clock: nothing lies between this player and the arbiter.
const OVERHEAD: Duration = Duration::from_millis(5);

pub(super) struct OwnPlayer(pub(super) Engine);

impl MatchPlayer<Line> for OwnPlayer {
    fn new_game(&mut self, _: &Line) -> Result<(), PlayerFailure> {
        self.0.new_game();
        Ok(())
    }

    fn choose(&mut self, turn: &MoveRequest<Line>) -> Result<ChosenMove<UciMove>, PlayerFailure> {
        let Self(engine) = self;
        let threads = engine.options().threads;
        if !turn.pace.is_timed() && threads > 1 && !engine.options().virtual_time {
            // With a budget of nodes, several threads advance in step, on any number of cores.
            let options = EngineOptions { virtual_time: true, ..engine.options().clone() };
            engine.set_options(options);
        }
        let domain::Limits { nodes, depth, .. } = turn.pace.limits();
        let nodes = nodes.map(|nodes| nodes.saturating_mul(threads as u64));
        let position = engine_position(&turn.line).map_err(|error| PlayerFailure::Failed(error.to_string()))?;
        let go = go(turn);
        let only_move = position.legal_moves().len() == 1;
        let mut stopwatch = Stopwatch::new(&go, position.board().turn(), OVERHEAD).for_only_move(only_move);
        let limits = engine::Limits { time: stopwatch.hard().or(go.limits.time), nodes, depth, ..go.limits };
        let stop = AtomicBool::new(false);
        let found = engine.search(&position, &[], &limits, &stop, &mut |iteration| {
            // A better move reported before the end of its iteration ends nothing, as under UCI.
            if iteration.rank == 1 && iteration.is_whole() && stopwatch.is_enough(iteration) {
                stop.store(true, SeqCst);
            }
        });
        let iteration = found.ok_or_else(|| PlayerFailure::Failed("no legal move".to_owned()))?;
        let best = position.move_to_uci(iteration.best).parse();
        Ok(ChosenMove {
            best: best.map_err(|_| PlayerFailure::Failed("a move that UCI cannot write".to_owned()))?,
            score: Some(iteration.score),
            depth: iteration.depth,
            nodes: iteration.nodes,
        })
    }
}

/// Returns the arguments of `go`: the clocks, or the time of this move.
fn go(turn: &MoveRequest<Line>) -> Go<()> {
    let mut go = Go::default();
    match turn.pace {
        Pace::Nodes(_) | Pace::Depth(_) => {}
        Pace::MoveTime(time) => go.limits.time = Some(searchable(time, OVERHEAD)),
        Pace::Clock { initial, .. } => {
            for (place, color) in [Color::White, Color::Black].into_iter().enumerate() {
                let clock = turn.clocks.map(|clocks| clocks.of(color));
                go.time[place] = Some(clock.map_or(initial, |clock| clock.remaining));
                go.increment[place] = clock.map_or(Duration::ZERO, |clock| clock.increment);
            }
        }
    }
    go
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::player::only_move;

    #[test]
    fn only_move_gets_a_score_at_once() {
        let chosen = OwnPlayer(Engine::new(EngineOptions::default())).choose(&only_move()).expect("a move");
        assert_eq!((chosen.best.to_string().as_str(), chosen.depth), ("h1h2", 6));
    }
}
