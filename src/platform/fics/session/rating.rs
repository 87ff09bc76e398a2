//! Changes of our rating by a game: servers of this family send a line of their own, as a rule
//! right after the game's end.
//!
//! So the end of a rated game is sent on once that line has come, or after [`PATIENCE`].

use std::time::{Duration, Instant};

use super::{CurrentGame, FicsSession};
use domain::{Color, GameId, GameState, GameStatus, ServerEvent};

/// Time that the end of a rated game waits for the change of our rating.
const PATIENCE: Duration = Duration::from_secs(1);

pub(super) struct FinishedGame {
    pub(super) id: GameId,
    pub(super) status: GameStatus,
    pub(super) winner: Option<Color>,
    /// Its last state, if its moves were known.
    pub(super) last: Option<GameState>,
}

impl FicsSession {
    /// A game has ended: it is told, now or when it is known what it did to our rating.
    pub(super) fn finished(&mut self, finished: FinishedGame, rated: bool, now: Instant) {
        let early = self.early_rating.take();
        if early.is_some() || !rated || finished.status == GameStatus::Adjourned {
            self.tell_end(finished, early);
        } else {
            self.waiting_end = Some((finished, now + PATIENCE));
        }
    }

    /// The server says what a game did to our rating; `None`: nothing.
    pub(super) fn rating_adjusted(&mut self, change: Option<i32>) {
        if let Some((finished, _)) = self.waiting_end.take() {
            self.tell_end(finished, change);
        } else if matches!(self.current, CurrentGame::Running(_) | CurrentGame::Opening(_)) {
            self.early_rating = change;
        }
    }

    pub(super) fn waiting_end_is_due(&mut self, now: Instant) {
        if self.waiting_end.as_ref().is_some_and(|(_, due)| *due <= now) {
            self.tell_waiting_end();
        }
    }

    /// Waits no longer for the line about our rating.
    pub(super) fn tell_waiting_end(&mut self) {
        self.early_rating = None;
        if let Some((finished, _)) = self.waiting_end.take() {
            self.tell_end(finished, None);
        }
    }

    /// Sends the change of our rating before the last state, so that it is known with the end.
    fn tell_end(&mut self, finished: FinishedGame, rating_change: Option<i32>) {
        let FinishedGame { id, status, winner, last } = finished;
        self.tell(ServerEvent::GameFinished { id: id.clone(), status: Some(status), winner, rating_change });
        if let Some(last) = last {
            self.tell(ServerEvent::GameState(id, last));
        }
    }
}
