//! Anybody's engine that speaks the Chess Engine Communication Protocol (xboard's).
//!
//! Unlike an elector of the pool, it plays by the clock of the game, and whatever goes wrong is its own loss.

use std::{
    mem,
    time::{Duration, Instant},
};

use super::{ChosenMove, MatchPlayer, MoveRequest, Pace, PlayerFailure, hanging, patience};
use council::electors::cecp::{CecpEngine, protocol::EngineAnswer};
use domain::{Clocks, Line, UciMove};

pub(super) struct XboardPlayer {
    pub(super) engine: CecpEngine,
    /// True until it knows the time of the whole game.
    pub(super) is_new: bool,
}

impl XboardPlayer {
    /// Sends the limits of the move, in a new game also those of the whole game.
    fn set_time(&mut self, turn: &MoveRequest<Line>) -> Result<(), PlayerFailure> {
        match turn.pace {
            Pace::Nodes(_) | Pace::Depth(_) => {
                let reason = "CECP knows no node budget; give it tc= or movetime=";
                Err(PlayerFailure::Failed(reason.to_owned()))
            }
            Pace::MoveTime(time) => Ok(self.engine.set_move_time(Some(time))?),
            Pace::Clock { initial, increment } => {
                if mem::take(&mut self.is_new) {
                    self.engine.send(&level(initial, increment))?;
                }
                let clocks: Clocks = turn.clocks.unwrap_or_default();
                let (ours, theirs) = (clocks.of(turn.line.turn()), clocks.of(!turn.line.turn()));
                Ok(self.engine.set_clocks(ours.remaining, theirs.remaining)?)
            }
        }
    }
}

impl MatchPlayer<Line> for XboardPlayer {
    fn new_game(&mut self, opening: &Line) -> Result<(), PlayerFailure> {
        self.engine.forget();
        // To set up a game may take a while: none of it is time of a move.
        self.is_new = self.engine.follow(opening)?;
        Ok(())
    }

    fn choose(&mut self, turn: &MoveRequest<Line>) -> Result<ChosenMove<UciMove>, PlayerFailure> {
        self.is_new |= self.engine.follow(&turn.line)?;
        self.set_time(turn)?;
        self.engine.send("go")?;
        let deadline = Instant::now() + patience(turn);
        let mut choice = ChosenMove { best: UciMove::Null, score: None, depth: 0, nodes: 0 };
        while let Some(answer) = self.engine.hear_before(deadline)? {
            match answer {
                EngineAnswer::Thinking(thinking) => {
                    let nodes = choice.nodes.max(thinking.nodes);
                    choice = ChosenMove { score: thinking.score, depth: thinking.depth, nodes, ..choice };
                }
                EngineAnswer::Move(best) => return Ok(ChosenMove { best, ..choice }),
                EngineAnswer::Unreadable(text) => return Err(PlayerFailure::Illegal(text)),
                EngineAnswer::Refused(text) => return Err(PlayerFailure::Failed(text)),
                EngineAnswer::Resigns => return Err(PlayerFailure::Resigned),
                EngineAnswer::Over | EngineAnswer::Nothing => {}
            }
        }
        Err(hanging())
    }
}

/// Writes a side's time for the whole game, in the protocol's whole seconds. Less than one would
/// mean a game without time; the exact rest is sent before every move.
fn level(initial: Duration, increment: Duration) -> String {
    let seconds = initial.as_millis().div_ceil(1000);
    format!("level 0 {}:{:02} {}", seconds / 60, seconds % 60, increment.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_clock_is_sent_as_one_second() {
        let told = |initial, increment| level(Duration::from_millis(initial), Duration::from_millis(increment));
        assert_eq!(told(500, 10), "level 0 0:01 0.01");
        assert_eq!(told(60_000, 0), "level 0 1:00 0");
        assert_eq!(told(10_500, 100), "level 0 0:11 0.1");
    }
}
