//! Games that stop before their end, aborted or adjourned by agreement or because of a lost
//! connection, and their resumption.
//!
//! Lichess has none of this: its clocks run on while a player is away. The Internet chess servers
//! adjourn.

use std::time::Duration;

use super::{End, GameChange, GameOutcome, PracticeGame, offers};
use domain::{Color, Offers};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Abort,
    Adjourn,
}

/// The effect of a player's lost connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionLoss {
    /// The game waits until both players resume it.
    Adjourns,
    Aborts,
    Forfeits,
}

impl PracticeGame {
    /// Agrees to the opponent's request to stop or makes one (`yes`), or declines theirs or
    /// withdraws the own one.
    pub fn stop(&mut self, color: Color, stop: Stop, yes: bool, now: Duration) {
        self.tick(now);
        if self.must_run().is_err() {
            return;
        }
        let offer = match stop {
            Stop::Abort => &mut self.abort_offer,
            Stop::Adjourn => &mut self.adjourn_offer,
        };
        match (yes, *offer) {
            (true, Some(by)) if by != color => match stop {
                Stop::Abort => return self.finish(GameOutcome::aborted(), now),
                Stop::Adjourn => return self.adjourn(now),
            },
            (true, None) => *offer = Some(color),
            (false, Some(_)) => *offer = None,
            _ => return,
        }
        self.changes.push(GameChange::State);
    }

    /// Handles the lost connection of `color`. A game that could still be aborted is aborted in any
    /// case.
    pub fn lose_connection(&mut self, color: Color, loss: ConnectionLoss, now: Duration) {
        self.tick(now);
        if let Some(wishes) = &mut self.adjourned {
            // An absent player cannot resume.
            *wishes = offers((wishes.by(!color)).then_some(!color));
            return;
        }
        if self.outcome.is_some() {
            return;
        }
        self.left = Some(color);
        match loss {
            _ if self.is_abortable() => self.finish(GameOutcome::aborted(), now),
            ConnectionLoss::Adjourns => self.adjourn(now),
            ConnectionLoss::Aborts => self.finish(GameOutcome::aborted(), now),
            ConnectionLoss::Forfeits => self.finish(GameOutcome::won(!color, End::Abandoned), now),
        }
    }

    fn adjourn(&mut self, now: Duration) {
        self.clock.stop(self.line.turn(), now);
        self.forget_offers();
        self.adjourned = Some(Offers::default());
        self.changes.push(GameChange::Adjourned);
    }

    /// Wants an adjourned game to go on, or (`yes` is false) no longer wants it or does not. It goes on when both want it.
    pub fn resume(&mut self, color: Color, yes: bool, now: Duration) {
        let Some(wishes) = self.adjourned else { return };
        let wanted = yes && wishes.by(!color);
        self.adjourned = Some(offers(yes.then_some(color)));
        if wanted {
            self.adjourned = None;
            self.was_resumed = true;
            self.left = None;
            self.clock.resume(self.line.ply(), now);
            self.turn_began = now;
            self.changes.push(GameChange::Resumed);
        }
    }

    /// Returns the players who want to go on, while the game is adjourned.
    pub fn adjourned(&self) -> Option<Offers> {
        self.adjourned
    }

    pub fn was_resumed(&self) -> bool {
        self.was_resumed
    }

    /// Returns the side whose lost connection stopped the game.
    pub fn left(&self) -> Option<Color> {
        self.left
    }

    /// Returns the sides that want to stop.
    pub fn stop_offers(&self, stop: Stop) -> Offers {
        offers(match stop {
            Stop::Abort => self.abort_offer,
            Stop::Adjourn => self.adjourn_offer,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::GameRefusal;
    use domain::{Line, Variant};

    const SECOND: Duration = Duration::from_secs(1);

    fn game_after(moves: &[&str]) -> PracticeGame {
        let control = "60+1".parse().expect("a time control");
        let mut game = PracticeGame::new(Line::start(Variant::Standard), control, Default::default(), Duration::ZERO);
        for uci in moves {
            let turn = game.line().turn();
            game.play(turn, uci.parse().expect("a move"), Duration::ZERO).expect("legal");
        }
        game
    }

    #[test]
    fn clocks_stop_while_adjourned() {
        let mut game = game_after(&["e2e4", "e7e5"]);
        game.lose_connection(Color::Black, ConnectionLoss::Adjourns, 10 * SECOND);
        assert_eq!((game.adjourned(), game.left()), (Some(Offers::default()), Some(Color::Black)));
        assert_eq!(game.play(Color::White, "g1f3".parse().expect("a move"), 11 * SECOND), Err(GameRefusal::Adjourned));
        assert_eq!(game.next_deadline(), None);

        game.resume(Color::White, true, 1000 * SECOND);
        assert!(game.adjourned().is_some_and(|wishes| wishes.white && !wishes.black) && !game.was_resumed());
        game.resume(Color::Black, true, 1001 * SECOND);
        assert_eq!((game.adjourned(), game.left(), game.was_resumed()), (None, None, true));
        assert_eq!(game.clocks(1002 * SECOND).expect("clocks").white.remaining, 49 * SECOND);
        assert!(game.take_changes().ends_with(&[GameChange::Adjourned, GameChange::Resumed]));
    }

    #[test]
    fn short_games_are_not_stored() {
        let mut game = game_after(&["e2e4"]);
        game.lose_connection(Color::White, ConnectionLoss::Adjourns, SECOND);
        assert_eq!(game.outcome(), Some(&GameOutcome::aborted()));
    }

    #[test]
    fn both_must_want_to_stop() {
        let mut game = game_after(&["e2e4", "e7e5", "g1f3"]);
        game.stop(Color::White, Stop::Abort, true, SECOND);
        game.stop(Color::White, Stop::Abort, true, SECOND);
        assert!(game.stop_offers(Stop::Abort).white && game.outcome().is_none());
        game.play(Color::Black, "b8c6".parse().expect("a move"), SECOND).expect("legal");
        assert_eq!(game.stop_offers(Stop::Abort), Offers::default(), "a move declines");
        game.stop(Color::White, Stop::Adjourn, true, SECOND);
        game.stop(Color::Black, Stop::Adjourn, true, SECOND);
        assert!(game.adjourned().is_some() && game.left().is_none());
    }
}
