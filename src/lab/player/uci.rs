//! Anybody's UCI engine.
//!
//! Unlike an elector of the pool, it is judged here: what it says at last counts, legal or not, and whatever goes wrong is
//! its own loss.

use std::time::Instant;

use super::{ChosenMove, MatchPlayer, MoveRequest, PlayerFailure, hanging, patience};
use council::electors::{
    Task,
    uci::{UciEngine, protocol},
};
use domain::{Limits, Line, UciMove};

pub(super) struct UciPlayer(pub(super) UciEngine);

impl UciPlayer {
    fn answer(&mut self, deadline: Instant) -> Result<ChosenMove<UciMove>, PlayerFailure> {
        let (mut score, mut depth, mut nodes) = (None, 0, 0);
        while let Some(line) = self.0.process.read_before(deadline)? {
            if let Some(best) = protocol::best_move(&line) {
                let best = best.ok_or(PlayerFailure::Illegal(line))?;
                return Ok(ChosenMove { best, score, depth, nodes });
            }
            if let Some(info) = protocol::info(&line) {
                score = info.score.or(score);
                depth = depth.max(info.depth);
                nodes = nodes.max(info.nodes);
            }
        }
        Err(hanging())
    }
}

impl MatchPlayer<Line> for UciPlayer {
    fn new_game(&mut self, opening: &Line) -> Result<(), PlayerFailure> {
        if !self.0.set_castling(opening.castling_mode())? {
            return Err(PlayerFailure::Failed("it does not play chess960".to_owned()));
        }
        Ok(self.0.new_game()?)
    }

    fn choose(&mut self, turn: &MoveRequest<Line>) -> Result<ChosenMove<UciMove>, PlayerFailure> {
        let limits = Limits { clocks: turn.clocks, ..turn.pace.limits() };
        let task = Task { limits, ..Task::alone(turn.line.clone()) };
        self.0.process.send(&protocol::position(&task.line))?;
        self.0.process.send(&protocol::go(&task))?;
        self.answer(Instant::now() + patience(turn))
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::time::Duration;

    use super::*;
    use council::electors::EngineProgram;

    #[test]
    fn endless_output_counts_as_a_hang() {
        let script = "while read -r word rest; do case $word in uci) echo uciok;; isready) echo readyok;; \
                      go) while :; do echo info depth 1; done;; esac; done";
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        let program = EngineProgram { path: "/bin/sh".into(), arguments, ..EngineProgram::default() };
        let mut player = UciPlayer(UciEngine::start(&program, 1, 1).expect("a shell"));
        player.0.process.send("go").expect("it listens");
        assert!(player.0.process.read(Duration::from_secs(60)).expect("it runs").is_some(), "it has begun to talk");
        assert_eq!(player.answer(Instant::now()), Err(hanging()));
    }
}
