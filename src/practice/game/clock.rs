//! The clock of a game: two displays, at most one of them running.

use std::time::Duration;

use shakmaty::ByColor;

use domain::{Clock, Clocks, Color, TimeControl};

/// The initial time of a game "from zero", unless its increment is larger.
const LEAST_INITIAL: Duration = Duration::from_secs(3);

/// A game's clock. On a real-time clock nothing runs (and no increment is given) until both sides have made their first move.
#[derive(Clone, Debug)]
pub struct GameClock {
    time_control: TimeControl,
    /// The displays when the clock was stopped last; those of a correspondence game always show the time for a move.
    stopped_at: ByColor<Duration>,
    running_since: Option<Duration>,
}

impl GameClock {
    pub fn new(time_control: TimeControl, now: Duration) -> Self {
        let initial = match time_control {
            // A game without initial time still needs some for its first move.
            TimeControl::RealTime { initial: Duration::ZERO, increment } => increment.max(LEAST_INITIAL),
            TimeControl::RealTime { initial, .. } => initial,
            TimeControl::Correspondence { days } => Duration::from_hours(24) * days,
            TimeControl::Unlimited => Duration::ZERO,
        };
        let mut clock = Self { time_control, stopped_at: ByColor::new_with(|_| initial), running_since: None };
        clock.resume(0, now);
        clock
    }

    pub fn is_real_time(&self) -> bool {
        self.time_control.is_real_time()
    }

    /// Returns both clocks at `now`, with `turn` to move.
    pub fn clocks(&self, turn: Color, now: Duration) -> Option<Clocks> {
        let increment = match self.time_control {
            TimeControl::RealTime { increment, .. } => increment,
            TimeControl::Correspondence { .. } => Duration::ZERO,
            TimeControl::Unlimited => return None,
        };
        let elapsed = self.running_since.map_or(Duration::ZERO, |since| now.saturating_sub(since));
        let mut shown = self.stopped_at;
        *shown.get_mut(turn) = shown.get(turn).saturating_sub(elapsed);
        let ByColor { white, black } = shown.map(|remaining| Clock { remaining, increment });
        Some(Clocks { white, black })
    }

    /// The time left on the real-time clock of `color` when it was stopped last.
    pub fn remaining(&self, color: Color) -> Option<Duration> {
        self.is_real_time().then_some(*self.stopped_at.get(color))
    }

    /// Returns the time at which the flag of `turn`, the side to move, falls.
    pub fn flag_falls(&self, turn: Color) -> Option<Duration> {
        self.running_since.map(|since| since + *self.stopped_at.get(turn))
    }

    /// `color` has made its move, after which `ply` moves are played: stops its clock, starts the other.
    pub fn moved(&mut self, color: Color, ply: usize, now: Duration) {
        if let (TimeControl::RealTime { increment, .. }, Some(_)) = (self.time_control, self.running_since) {
            self.stop(color, now);
            *self.stopped_at.get_mut(color) += increment;
        }
        self.resume(ply, now);
    }

    pub fn stop(&mut self, turn: Color, now: Duration) {
        if let Some(since) = self.running_since.take()
            && self.is_real_time()
        {
            let left = self.stopped_at.get_mut(turn);
            *left = left.saturating_sub(now.saturating_sub(since));
        }
    }

    /// Starts the clock of the side to move after `ply` moves, unless it is too early in the game for that.
    pub fn resume(&mut self, ply: usize, now: Duration) {
        self.running_since = match self.time_control {
            TimeControl::RealTime { .. } => (ply >= 2).then_some(now),
            TimeControl::Correspondence { .. } => Some(now),
            TimeControl::Unlimited => None,
        };
    }
}
