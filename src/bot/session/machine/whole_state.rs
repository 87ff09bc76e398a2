//! Asking the server for the whole state of a game.
//!
//! Each request may break the server's stream, so frequent requests may never get an answer. Hence one request is under way
//! at a time. It is repeated only after a timeout; the timeout doubles with every request in vain, and after an answer it is
//! twice the time of that answer.

use std::time::{Duration, Instant};

use super::{GameEffect, Timer};

/// The shortest and the longest timeout.
const PATIENCE: (Duration, Duration) = (Duration::from_secs(3), Duration::from_secs(60));

#[derive(Debug)]
pub(super) struct WholeStateRequests {
    asked: Option<Instant>,
    patience: Duration,
}

impl WholeStateRequests {
    pub(super) const fn new() -> Self {
        Self { asked: None, patience: PATIENCE.0 }
    }

    pub(super) const fn patience(&self) -> Duration {
        self.patience
    }

    /// Sends a request, unless one is unanswered.
    pub(super) fn ask(&mut self, now: Instant, effects: &mut Vec<GameEffect>) {
        if self.asked.is_none() {
            self.ask_again(now, effects);
        }
    }

    pub(super) fn ask_again(&mut self, now: Instant, effects: &mut Vec<GameEffect>) {
        effects.push(GameEffect::Resync);
        self.wait(now, effects);
    }

    pub(super) fn answered(&mut self, now: Instant, effects: &mut Vec<GameEffect>) {
        effects.push(GameEffect::Forget(Timer::WholeState));
        if let Some(asked) = self.asked.take() {
            self.patience = (now.saturating_duration_since(asked) * 2).clamp(PATIENCE.0, PATIENCE.1);
        }
    }

    /// Waits for an answer, and asks again after the timeout.
    pub(super) fn wait(&mut self, now: Instant, effects: &mut Vec<GameEffect>) {
        self.asked.get_or_insert(now);
        effects.push(GameEffect::Wake(Timer::WholeState, self.patience));
        self.patience = (self.patience * 2).min(PATIENCE.1);
    }
}
