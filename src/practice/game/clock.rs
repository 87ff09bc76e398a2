//! The clock of a game: two displays, at most one of them running.

use std::time::Duration;

use shakmaty::ByColor;

use domain::{Clock, Clocks, Color, TimeControl};

/// The initial time of a game "from zero", unless its increment is larger.
const LEAST_INITIAL: Duration = Duration::from_secs(3);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A game's clock. On a real-time clock nothing runs (and no increment is given) until both sides have made their first move.
#[derive(Clone, Debug)]
pub struct GameClock {
    kind: ClockKind,
    running_since: Option<Duration>,
}

#[derive(Clone, Debug)]
enum ClockKind {
    RealTime { remaining: ByColor<Duration>, increment: Duration },
    Correspondence { per_move: Duration },
    Unlimited,
}

impl GameClock {
    pub fn new(time_control: TimeControl, now: Duration) -> Self {
        match time_control {
            TimeControl::RealTime { initial, increment } => Self {
                // A game without initial time still needs some for its first move.
                kind: ClockKind::RealTime {
                    remaining: ByColor::new_with(|_| {
                        if initial.is_zero() { increment.max(LEAST_INITIAL) } else { initial }
                    }),
                    increment,
                },
                running_since: None,
            },
            TimeControl::Correspondence { days } => {
                Self { kind: ClockKind::Correspondence { per_move: DAY * days }, running_since: Some(now) }
            }
            TimeControl::Unlimited => Self { kind: ClockKind::Unlimited, running_since: None },
        }
    }

    /// Returns true if the clock runs during thinking.
    pub fn is_real_time(&self) -> bool {
        matches!(self.kind, ClockKind::RealTime { .. })
    }

    /// Returns both clocks at `now`, with `turn` to move.
    pub fn clocks(&self, turn: Color, now: Duration) -> Option<Clocks> {
        let elapsed = self.running_since.map_or(Duration::ZERO, |since| now.saturating_sub(since));
        match &self.kind {
            ClockKind::RealTime { remaining, increment } => {
                let shows = |color| Clock {
                    remaining: if color == turn {
                        remaining.get(color).saturating_sub(elapsed)
                    } else {
                        *remaining.get(color)
                    },
                    increment: *increment,
                };
                Some(Clocks { white: shows(Color::White), black: shows(Color::Black) })
            }
            ClockKind::Correspondence { per_move } => {
                let shows = |color| Clock {
                    remaining: if color == turn { per_move.saturating_sub(elapsed) } else { *per_move },
                    increment: Duration::ZERO,
                };
                Some(Clocks { white: shows(Color::White), black: shows(Color::Black) })
            }
            ClockKind::Unlimited => None,
        }
    }

    /// The time left on the real-time clock of `color` when it was stopped last.
    pub fn remaining(&self, color: Color) -> Option<Duration> {
        match &self.kind {
            ClockKind::RealTime { remaining, .. } => Some(*remaining.get(color)),
            ClockKind::Correspondence { .. } | ClockKind::Unlimited => None,
        }
    }

    /// Returns the time at which the flag of `turn`, the side to move, falls.
    pub fn flag_falls(&self, turn: Color) -> Option<Duration> {
        let since = self.running_since?;
        match &self.kind {
            ClockKind::RealTime { remaining, .. } => Some(since + *remaining.get(turn)),
            ClockKind::Correspondence { per_move } => Some(since + *per_move),
            ClockKind::Unlimited => None,
        }
    }

    /// `color` has made its move, after which `ply` moves are played: stops its clock, starts the other.
    pub fn moved(&mut self, color: Color, ply: usize, now: Duration) {
        let was_running = self.running_since.is_some();
        self.stop(color, now);
        if let ClockKind::RealTime { remaining, increment } = &mut self.kind
            && was_running
        {
            *remaining.get_mut(color) += *increment;
        }
        self.resume(ply, now);
    }

    pub fn stop(&mut self, turn: Color, now: Duration) {
        if let Some(since) = self.running_since.take()
            && let ClockKind::RealTime { remaining, .. } = &mut self.kind
        {
            let left = remaining.get_mut(turn);
            *left = left.saturating_sub(now.saturating_sub(since));
        }
    }

    /// Starts the clock of the side to move after `ply` moves, unless it is too early in the game for that.
    pub fn resume(&mut self, ply: usize, now: Duration) {
        self.running_since = match self.kind {
            ClockKind::RealTime { .. } => (ply >= 2).then_some(now),
            ClockKind::Correspondence { .. } => Some(now),
            ClockKind::Unlimited => None,
        };
    }
}
