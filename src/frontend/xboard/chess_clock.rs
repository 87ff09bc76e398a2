//! The chess clock under CECP: what was agreed (`level`, `st`, `sd`, `nps`), what is left (`time`, `otim`), and what that
//! gives a move.

use std::time::Duration;

use crate::frontend::engine_session;
use chess::{Clock, Color};
use council::player::Time;

/// How the time was agreed.
#[derive(Clone, Copy, Debug, PartialEq)]
enum ClockControl {
    /// So many moves in a base time, over and over; 0 moves: all of them.
    Level { moves: u32, base: Duration, increment: Duration },
    /// So much for every move.
    Each(Duration),
}

/// Both clocks. They run here too, for people without a program that tells them.
#[derive(Clone, Debug)]
pub(super) struct ChessClock {
    control: ClockControl,
    /// Plies, at most.
    pub depth: Option<u32>,
    /// Nodes that count as a second of all electors together.
    pub nodes_per_second: Option<u64>,
    ours: Duration,
    theirs: Duration,
}

impl Default for ChessClock {
    /// Five minutes for forty moves, as the ancestor.
    fn default() -> Self {
        let base = Duration::from_secs(300);
        let control = ClockControl::Level { moves: 40, base, increment: Duration::ZERO };
        Self { control, depth: None, nodes_per_second: None, ours: base, theirs: base }
    }
}

impl ChessClock {
    /// Both clocks as at the beginning; a depth is forgotten.
    pub(super) fn reset(&mut self) {
        self.depth = None;
        if let ClockControl::Level { base, .. } = self.control {
            (self.ours, self.theirs) = (base, base);
        }
    }

    /// `level MOVES BASE INCREMENT`: minutes, or minutes:seconds, and seconds.
    pub(super) fn level(&mut self, text: &str) -> Result<(), String> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let read = || match words.as_slice() {
            [moves, base, increment] => Some((moves.parse().ok()?, minutes(base)?, seconds(increment)?)),
            _ => None,
        };
        let (moves, base, increment) =
            read().ok_or("level needs: moves, minutes (or minutes:seconds), increment in seconds")?;
        self.control = ClockControl::Level { moves, base, increment };
        (self.ours, self.theirs) = (base, base);
        Ok(())
    }

    /// `gamein MINUTES`: the whole game in so much.
    pub(super) fn game_in(&mut self, text: &str) -> Result<(), String> {
        minutes(text).ok_or("gamein needs minutes")?;
        self.level(&format!("0 {text} 0"))
    }

    /// `st SECONDS`: so much for every move.
    pub(super) fn each(&mut self, text: &str) -> Result<(), String> {
        self.control = ClockControl::Each(seconds(text).ok_or("st needs seconds")?);
        Ok(())
    }

    /// What the program says is left to us, in hundredths of a second.
    pub(super) fn ours_is(&mut self, text: &str) -> Result<(), String> {
        self.ours = hundredths(text).ok_or("time needs hundredths of a second")?;
        Ok(())
    }

    /// What is left to the opponent.
    pub(super) fn theirs_is(&mut self, text: &str) -> Result<(), String> {
        self.theirs = hundredths(text).ok_or("otim needs hundredths of a second")?;
        Ok(())
    }

    /// The two change clocks, with the sides.
    pub(super) const fn swap(&mut self) {
        std::mem::swap(&mut self.ours, &mut self.theirs);
    }

    /// The opponent's clock, if there is one.
    pub(super) fn theirs(&self) -> Option<Duration> {
        matches!(self.control, ClockControl::Level { .. }).then_some(self.theirs)
    }

    /// What a move adds to a clock.
    pub(super) const fn increment(&self) -> Duration {
        match self.control {
            ClockControl::Level { increment, .. } => increment,
            ClockControl::Each(_) => Duration::ZERO,
        }
    }

    /// The time of our next move, when so many half-moves were played.
    pub(super) fn time(&self, us: Color, ply: usize) -> Time {
        match self.control {
            ClockControl::Each(time) => Time::Exactly(time),
            ClockControl::Level { moves, increment, .. } => {
                let made = u32::try_from(ply / 2).unwrap_or(u32::MAX);
                let to_go = made.checked_rem(moves).map(|made| moves - made);
                let clock = |remaining| Clock { remaining, increment };
                engine_session::clock(us, clock(self.ours), clock(self.theirs), to_go)
            }
        }
    }

    /// Our move number `made` took so long.
    pub(super) fn moved(&mut self, made: usize, took: Duration) {
        if let ClockControl::Level { moves, base, increment } = self.control {
            self.ours = self.ours.saturating_sub(took) + increment;
            if u32::try_from(made).ok().and_then(|made| made.checked_rem(moves)) == Some(0) {
                self.ours += base;
            }
        }
    }
}

/// Minutes, or minutes and seconds as `1:30`.
fn minutes(text: &str) -> Option<Duration> {
    match text.split_once(':') {
        Some((minutes, rest)) => Some(Duration::from_secs(minutes.parse::<u32>().ok()?.into()) * 60 + seconds(rest)?),
        None => Some(seconds(text)? * 60),
    }
}

fn seconds(text: &str) -> Option<Duration> {
    text.parse().ok().filter(|seconds| (0.0..=1e6).contains(seconds)).map(Duration::from_secs_f64)
}

/// A clock that has run out may be told as a negative number.
fn hundredths(text: &str) -> Option<Duration> {
    text.parse::<i64>().ok().map(|hundredths| Duration::from_millis(hundredths.clamp(0, 1 << 40).unsigned_abs() * 10))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn to_go(clock: &ChessClock, ply: usize) -> Option<u32> {
        match clock.time(Color::White, ply) {
            Time::Clock { moves_to_go, .. } => moves_to_go,
            _ => None,
        }
    }

    #[test]
    fn moves_are_counted_to_the_next_control() {
        let mut clock = ChessClock::default();
        clock.level("40 5 0").expect("forty moves in five minutes");
        assert_eq!((to_go(&clock, 0), to_go(&clock, 78), to_go(&clock, 80)), (Some(40), Some(1), Some(40)));
        clock.level("0 1:30 2.5").expect("a whole game");
        assert_eq!(to_go(&clock, 78), None);
    }

    #[test]
    fn without_a_program_the_clock_runs_by_itself() {
        let mut clock = ChessClock::default();
        clock.level("2 1 0").expect("two moves a vote");
        clock.moved(1, Duration::from_secs(20));
        assert_eq!(clock.ours, Duration::from_secs(40));
        clock.moved(2, Duration::from_secs(20));
        assert_eq!(clock.ours, Duration::from_secs(80), "what is left is carried over");
    }

    #[test]
    fn nonsense_changes_nothing() {
        let mut clock = ChessClock::default();
        for wrong in ["", "40", "40 x 0", "40 5 -1", "40 1e99 0"] {
            assert!(clock.level(wrong).is_err(), "{wrong:?}");
        }
        assert!(clock.each("soon").is_err() && clock.ours_is("").is_err());
        assert_eq!(to_go(&clock, 0), Some(40));
        clock.ours_is("-50").expect("a clock that has run out");
        assert_eq!(clock.ours, Duration::ZERO);
    }
}
