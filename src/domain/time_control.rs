//! Time controls, speeds and clocks. All time is [`Duration`]; servers' seconds, milliseconds and days end at their adapters.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};
use shakmaty::Color;

/// The most minutes (as seconds, before they are multiplied) that [`TimeControl::from_minutes`] takes.
const LONGEST_INITIAL: Duration = Duration::from_secs(10_000);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeControl {
    /// A clock that runs, with an increment after every move.
    RealTime {
        initial: Duration,
        increment: Duration,
    },
    /// Days for each move.
    Correspondence {
        days: u32,
    },
    Unlimited,
}

impl TimeControl {
    pub const fn real_time(initial: Duration, increment: Duration) -> Self {
        Self::RealTime { initial, increment }
    }

    /// Returns true for a clock that runs while a player thinks, not days a move or no clock at all.
    pub const fn is_real_time(self) -> bool {
        matches!(self, Self::RealTime { .. })
    }

    /// Returns the expected duration of the game for one player, by Lichess's estimate of forty
    /// moves; `None` without a clock.
    pub fn estimate(self) -> Option<Duration> {
        let Self::RealTime { initial, increment } = self else { return None };
        Some(initial.saturating_add(increment.saturating_mul(40)))
    }

    /// Returns the expected duration of the whole game, the average of bots' games on Lichess: 1.33 times the time at the start,
    /// and 104.77 increments. `None` without a clock.
    pub fn game_length(self) -> Option<Duration> {
        let Self::RealTime { initial, increment } = self else { return None };
        // With less than three seconds on the clock players think as if they had three.
        let initial = initial.max(Duration::from_secs(3)).as_secs_f64();
        Duration::try_from_secs_f64(1.33 * initial + 104.77 * increment.as_secs_f64()).ok()
    }

    /// Writes minutes and seconds, as players do: `3+2`, `0.5+1`, and `10s+1` if it is no quarter
    /// of a minute; or `3 days a move`, or `unlimited`.
    pub fn in_minutes(self) -> String {
        match self {
            Self::RealTime { initial, increment } => {
                let (seconds, increment) = (initial.as_secs_f64(), increment.as_secs_f64());
                let whole = initial.subsec_nanos() == 0 && initial.as_secs() % 15 == 0;
                if whole { format!("{}+{increment}", seconds / 60.0) } else { format!("{seconds}s+{increment}") }
            }
            Self::Correspondence { days: 1 } => "1 day a move".to_owned(),
            Self::Correspondence { days } => format!("{days} days a move"),
            Self::Unlimited => "unlimited".to_owned(),
        }
    }

    /// Reads minutes and seconds, as players write them: `3+2`, `0.5+1`, `10s+1`; or days such as
    /// `3d`, or `unlimited`.
    pub fn from_minutes(text: &str) -> Result<Self, String> {
        let error = || refused(text, "minutes+seconds such as 3+2 or 0.5+1, seconds+seconds such as 10s+0.1");
        if let Some((initial, increment)) = text.split_once("s+") {
            return format!("{initial}+{increment}").parse().map_err(|_| error());
        }
        match text.parse().map_err(|_: String| error())? {
            Self::RealTime { initial, increment } if initial <= LONGEST_INITIAL => {
                Ok(Self::RealTime { initial: initial * 60, increment })
            }
            Self::RealTime { .. } => Err(error()),
            other => Ok(other),
        }
    }

    pub fn speed(self) -> Speed {
        match self.estimate().map(|estimate| estimate.as_secs()) {
            None => Speed::Correspondence,
            Some(..30) => Speed::UltraBullet,
            Some(..180) => Speed::Bullet,
            Some(..480) => Speed::Blitz,
            Some(..1500) => Speed::Rapid,
            Some(_) => Speed::Classical,
        }
    }
}

impl fmt::Display for TimeControl {
    /// Seconds and seconds, as the command line reads them: `60+1`; or `3d`, or `unlimited`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RealTime { initial, increment } => write!(f, "{}+{}", initial.as_secs_f64(), increment.as_secs_f64()),
            Self::Correspondence { days } => write!(f, "{days}d"),
            Self::Unlimited => f.write_str("unlimited"),
        }
    }
}

fn refused(text: &str, accepted: &str) -> String {
    format!("{text:?} is not a time control (accepted: {accepted}, days such as 3d, or unlimited)")
}

impl FromStr for TimeControl {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || refused(text, "seconds+seconds such as 60+1 or 10+0.1");
        let seconds = |text: &str| {
            text.parse()
                .ok()
                .filter(|seconds: &f64| (0.0..=1e6).contains(seconds))
                .map(Duration::from_secs_f64)
                .ok_or_else(error)
        };
        if text == "unlimited" {
            return Ok(Self::Unlimited);
        }
        if let Some(days) = text.strip_suffix('d') {
            return match days.parse() {
                Ok(days @ 1..=365) => Ok(Self::Correspondence { days }),
                _ => Err(error()),
            };
        }
        let (initial, increment) = text.split_once('+').ok_or_else(error)?;
        Ok(Self::real_time(seconds(initial)?, seconds(increment)?))
    }
}

/// A class of time controls, in the order from fast to slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Speed {
    /// Estimated under 30 seconds; closed to bots on Lichess.
    UltraBullet,
    Bullet,
    Blitz,
    Rapid,
    Classical,
    /// Days a move, or no clock.
    Correspondence,
}

util::words!(Speed::key {
    UltraBullet = "ultraBullet", Bullet = "bullet", Blitz = "blitz", Rapid = "rapid",
    Classical = "classical", Correspondence = "correspondence",
});

impl fmt::Display for Speed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.key())
    }
}

/// One player's clock at the time of the server's message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Clock {
    /// Time left for all moves to come.
    pub remaining: Duration,
    pub increment: Duration,
}

pub type Clocks = BySide<Clock>;

/// A value for each side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BySide<T> {
    pub white: T,
    pub black: T,
}

impl<T: Copy> BySide<T> {
    pub const fn both(value: T) -> Self {
        Self { white: value, black: value }
    }

    pub const fn of(&self, color: Color) -> T {
        match color {
            Color::White => self.white,
            Color::Black => self.black,
        }
    }

    pub const fn of_mut(&mut self, color: Color) -> &mut T {
        match color {
            Color::White => &mut self.white,
            Color::Black => &mut self.black,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_controls_round_trip() {
        for text in ["60+1", "10+0.1", "0+1", "3d", "unlimited"] {
            assert_eq!(text.parse::<TimeControl>().map(|control| control.to_string()).as_deref(), Ok(text));
        }
        for text in ["", "60", "+", "-1+0", "1e99+0", "nan+0", "0d", "999d", "3x"] {
            assert!(text.parse::<TimeControl>().is_err(), "{text:?} must be refused");
        }
    }

    #[test]
    fn players_count_in_minutes() {
        for (said, exact) in
            [("3+2", "180+2"), ("0.25+1", "15+1"), ("10s+0.1", "10+0.1"), ("0+1", "0+1"), ("unlimited", "unlimited")]
        {
            let control = TimeControl::from_minutes(said).expect("a time control");
            assert_eq!((control.to_string().as_str(), control.in_minutes().as_str()), (exact, said));
        }
        assert_eq!(TimeControl::from_minutes("3d").map(TimeControl::in_minutes).as_deref(), Ok("3 days a move"));
        for text in ["3", "999999+0", "x+1", "s+1", "10s+", "-1s+0"] {
            let error = TimeControl::from_minutes(text).expect_err(text);
            assert!(error.contains("minutes+seconds such as 3+2"), "{error}");
        }
    }

    #[test]
    fn speeds_follow_forty_moves() {
        for (text, speed) in [
            ("15+0", Speed::UltraBullet),
            ("0+1", Speed::Bullet),
            ("60+1", Speed::Bullet),
            ("180+2", Speed::Blitz),
            ("600+5", Speed::Rapid),
            ("1800+0", Speed::Classical),
            ("3d", Speed::Correspondence),
        ] {
            assert_eq!(text.parse::<TimeControl>().map(TimeControl::speed), Ok(speed), "{text}");
        }
    }
}
