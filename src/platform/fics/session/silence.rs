//! Games that the server has stopped talking about.
//!
//! The line that ends a game may be lost, or worded as no other. So a game of which nothing was heard for a while is asked for:
//! its board shows that it runs; the server's word that we do not play is its end, and what became of it is looked up.

use std::time::{Duration, Instant};

use super::{CurrentGame, FicsSession, REST, requests::Want};
use domain::{ActionError, ServerEvent};

/// The time that the opponent may think before the game is asked for, and how long after each other.
const PATIENCE: Duration = Duration::from_secs(60);

/// Time for the server to end a game without possible moves.
const END_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Default)]
pub(super) struct Silence {
    heard: Option<Instant>,
    asked: Option<Instant>,
    knows_no_refresh: bool,
}

impl Silence {
    pub(super) fn is_broken(&mut self, now: Instant) {
        self.heard = Some(now);
        self.asked = None;
    }

    pub(super) fn ends(&mut self) {
        *self = Self { knows_no_refresh: self.knows_no_refresh, ..Self::default() };
    }

    /// A command was sent whose answer shows whether a game is running.
    pub(super) fn is_asked(&mut self, now: Instant) {
        self.asked = Some(now);
    }
}

impl FicsSession {
    /// Returns the time to ask for the game. Our own move tells as much, and goes before.
    pub(super) fn silence_at(&self) -> Option<Instant> {
        let patience = match &self.current {
            CurrentGame::Running(game) if game.is_played_out() => END_PATIENCE,
            CurrentGame::Running(game) if game.is_our_move() => return None,
            CurrentGame::Running(_) | CurrentGame::Unplayable { .. } => PATIENCE,
            CurrentGame::Empty | CurrentGame::Opening(_) => return None,
        };
        self.silence.asked.max(self.silence.heard).map(|last| last + patience)
    }

    pub(super) fn silence_is_due(&mut self, now: Instant) {
        if self.silence_at().is_some_and(|at| at <= now) {
            self.ask_whether_game_runs(now);
        }
    }

    /// Has the server show the game, or say that there is none.
    pub(super) fn ask_whether_game_runs(&mut self, now: Instant) {
        self.silence.is_asked(now);
        self.send(if self.silence.knows_no_refresh { "moves" } else { "refresh" });
    }

    pub(super) fn refresh_is_unknown(&mut self, now: Instant) {
        let is_news = !std::mem::replace(&mut self.silence.knows_no_refresh, true);
        if is_news && self.silence.asked.is_some() && self.silence_at().is_some() {
            self.ask_whether_game_runs(now);
        }
    }

    /// The server says that we do not play. That is believed as the answer to something that we have sent for this game; where nothing was,
    /// it is asked.
    pub(super) fn not_playing(&mut self, now: Instant) {
        let not_found = ActionError::NotFound("the server says that no game is running".to_owned());
        let concerns = |want: &Want| matches!(want, Want::OurMove { .. } | Want::End);
        let settled = self.requests.settle_each(|want| concerns(want).then(|| Err(not_found.clone())));
        if matches!(self.current, CurrentGame::Empty) {
            return;
        }
        if settled.is_empty() && self.silence.asked.is_none() {
            self.ask_whether_game_runs(now);
        } else {
            self.game_is_gone(now);
        }
    }

    /// The game is over, or waits, without our having been told.
    fn game_is_gone(&mut self, now: Instant) {
        let (Some(id), opponent) = (self.current_id().cloned(), self.opponent_name()) else { return };
        let game = self.take_current();
        if let Some(opponent) = opponent {
            self.adjournments.adjourned(&opponent, &id, game, false);
        }
        self.forget_game();
        self.seek_at = Some(now + REST);
        self.tell(ServerEvent::GameGone(id));
    }
}
