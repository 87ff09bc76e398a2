//! The chess clock under CECP: the controls (`level`, `st`, `sd`, `nps`), the time left (`time`, `otim`), and the time for a
//! move.

use std::time::Duration;

use crate::frontend::engine_session;
use council::player::Time;
use domain::{Clock, Color};

/// The number of different controls in a game, as in GNU Chess 4.0.
const MOST_CONTROLS: usize = 4;

/// A number of moves in a base time; 0 stands for all remaining moves.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Control {
    moves: u32,
    base: Duration,
    increment: Duration,
}

/// Both clocks. They also run here, because people at the console have no program that reports them.
#[derive(Clone, Debug)]
pub(super) struct ChessClock {
    /// One control after another, at least one; the last one repeats.
    controls: Vec<Control>,
    /// The time of every move, in place of the controls.
    each: Option<Duration>,
    /// The depth limit in plies.
    pub depth: Option<u32>,
    /// Nodes that count as a second of all electors together.
    pub nodes_per_second: Option<u64>,
    ours: Duration,
    theirs: Duration,
}

impl Default for ChessClock {
    /// Returns five minutes for forty moves, as GNU Chess 4.0.
    fn default() -> Self {
        let base = Duration::from_secs(300);
        Self {
            controls: vec![Control { moves: 40, base, increment: Duration::ZERO }],
            each: None,
            depth: None,
            nodes_per_second: None,
            ours: base,
            theirs: base,
        }
    }
}

impl ChessClock {
    pub(super) fn reset(&mut self) {
        self.depth = None;
        self.reset_clocks();
    }

    fn reset_clocks(&mut self) {
        if let Some((Control { base, .. }, _)) = self.control_after(0) {
            (self.ours, self.theirs) = (base, base);
        }
    }

    /// Returns the control of the next move after `made` moves of one side, and the number of its
    /// moves left (`None`: all). There is no control if every move has its own time.
    fn control_after(&self, made: u32) -> Option<(Control, Option<u32>)> {
        if self.each.is_some() {
            return None;
        }
        let mut since = made;
        for (number, control) in self.controls.iter().enumerate() {
            if number + 1 == self.controls.len() || control.moves == 0 {
                return Some((*control, since.checked_rem(control.moves).map(|since| control.moves - since)));
            }
            if since < control.moves {
                return Some((*control, Some(control.moves - since)));
            }
            since -= control.moves;
        }
        None
    }

    /// `level MOVES BASE INCREMENT`: minutes, or minutes:seconds, and seconds. Up to four such controls in a game, one after
    /// the other; unused time is carried over, and the last one is repeated.
    pub(super) fn level(&mut self, text: &str) -> Result<(), String> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let read = |words: &[&str]| match words {
            [moves, base, increment] => {
                Some(Control { moves: moves.parse().ok()?, base: minutes(base)?, increment: seconds(increment)? })
            }
            _ => None,
        };
        let controls: Option<Vec<Control>> = words.chunks(3).map(read).collect();
        let controls = controls.filter(|controls| (1..=MOST_CONTROLS).contains(&controls.len()));
        self.controls = controls.ok_or(
            "level needs: moves, minutes (or minutes:seconds), increment in seconds; up to four times, for one control after another",
        )?;
        self.each = None;
        self.reset_clocks();
        Ok(())
    }

    /// `gamein MINUTES`: the time of the whole game.
    pub(super) fn game_in(&mut self, text: &str) -> Result<(), String> {
        minutes(text).ok_or("gamein needs minutes")?;
        self.level(&format!("0 {text} 0"))
    }

    /// `st SECONDS`: a fixed time for every move.
    pub(super) fn each(&mut self, text: &str) -> Result<(), String> {
        self.each = Some(seconds(text).ok_or("st needs seconds")?);
        Ok(())
    }

    /// Sets the own clock, in hundredths of a second.
    pub(super) fn ours_is(&mut self, text: &str) -> Result<(), String> {
        self.ours = hundredths(text).ok_or("time needs hundredths of a second")?;
        Ok(())
    }

    pub(super) fn theirs_is(&mut self, text: &str) -> Result<(), String> {
        self.theirs = hundredths(text).ok_or("otim needs hundredths of a second")?;
        Ok(())
    }

    pub(super) const fn swap(&mut self) {
        std::mem::swap(&mut self.ours, &mut self.theirs);
    }

    /// The opponent's clock, if there is one.
    pub(super) fn theirs(&self) -> Option<Duration> {
        self.each.is_none().then_some(self.theirs)
    }

    /// Returns the time that the next move of a side adds after `made` moves.
    pub(super) fn increment(&self, made: u32) -> Duration {
        self.control_after(made).map_or(Duration::ZERO, |(control, _)| control.increment)
    }

    /// Returns the time of the own next move after `ply` half-moves.
    pub(super) fn time(&self, us: Color, ply: usize) -> Time {
        if let Some(time) = self.each {
            return Time::Exactly(time);
        }
        let (increment, to_go) = self
            .control_after(u32::try_from(ply / 2).unwrap_or(u32::MAX))
            .map_or((Duration::ZERO, None), |(control, to_go)| (control.increment, to_go));
        let clock = |remaining| Clock { remaining, increment };
        engine_session::clock(us, clock(self.ours), clock(self.theirs), to_go)
    }

    /// Charges `took` for the own move number `made`.
    pub(super) fn moved(&mut self, made: usize, took: Duration) {
        let made = u32::try_from(made).unwrap_or(u32::MAX);
        let Some((control, to_go)) = self.control_after(made.saturating_sub(1)) else { return };
        self.ours = self.ours.saturating_sub(took) + control.increment;
        if let (Some(1), Some((next, _))) = (to_go, self.control_after(made)) {
            self.ours += next.base;
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

/// An expired clock may be sent as a negative number.
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
    fn moves_count_to_the_next_control() {
        let mut clock = ChessClock::default();
        clock.level("40 5 0").expect("forty moves in five minutes");
        assert_eq!((to_go(&clock, 0), to_go(&clock, 78), to_go(&clock, 80)), (Some(40), Some(1), Some(40)));
        clock.level("0 1:30 2.5").expect("a whole game");
        assert_eq!(to_go(&clock, 78), None);
    }

    #[test]
    fn four_controls_are_accepted() {
        let mut clock = ChessClock::default();
        clock.level("40 5 0 20 10 1 2 1 0 0 15 0").expect("four controls");
        let left = [0, 78, 80, 118, 120, 122, 124].map(|ply| to_go(&clock, ply));
        assert_eq!(left, [Some(40), Some(1), Some(20), Some(1), Some(2), Some(1), None]);
        assert_eq!([clock.increment(39), clock.increment(40)], [Duration::ZERO, Duration::from_secs(1)]);
        clock.moved(40, Duration::from_secs(60));
        assert_eq!(clock.ours, Duration::from_secs(240 + 600), "unused time is carried over");
        clock.level("2 1 0 1 2 0").expect("two controls");
        for made in 1..=4 {
            clock.moved(made, Duration::from_secs(10));
        }
        assert_eq!(clock.ours, Duration::from_secs(60 - 4 * 10 + 3 * 120), "the last one is repeated");
        assert!(clock.level("1 1 0 1 1 0 1 1 0 1 1 0 1 1 0").is_err(), "five");
    }

    #[test]
    fn clock_runs_without_a_program() {
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
