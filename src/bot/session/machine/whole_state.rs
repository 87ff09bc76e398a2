//! Asking the server for the whole state of a game.
//!
//! Each request may break the server's stream, so frequent requests may never get an answer. Hence one request is under way
//! at a time. It is repeated only after a timeout; the timeout doubles with every request in vain, and after an answer it is
//! twice the time of that answer.

use std::time::{Duration, Instant};

use super::{GameEffect, GameMachine, Timer};

/// The shortest and the longest timeout.
pub(super) const PATIENCE: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(60));

impl GameMachine {
    /// Sends a request, unless one is unanswered.
    pub(super) fn ask_whole_state(&mut self, now: Instant) {
        if self.whole_state_asked.is_none() {
            self.ask_whole_state_again(now);
        }
    }

    pub(super) fn ask_whole_state_again(&mut self, now: Instant) {
        self.effects.push(GameEffect::Resync);
        self.wait_for_whole_state(now);
    }

    pub(super) fn whole_state_answered(&mut self, now: Instant) {
        self.effects.push(GameEffect::Forget(Timer::WholeState));
        if let Some(asked) = self.whole_state_asked.take() {
            self.whole_state_patience = (now.saturating_duration_since(asked) * 2).clamp(PATIENCE.0, PATIENCE.1);
        }
    }

    /// Waits for an answer, and asks again after the timeout.
    pub(super) fn wait_for_whole_state(&mut self, now: Instant) {
        self.whole_state_asked.get_or_insert(now);
        self.effects.push(GameEffect::Wake(Timer::WholeState, self.whole_state_patience));
        self.whole_state_patience = (self.whole_state_patience * 2).min(PATIENCE.1);
    }
}
