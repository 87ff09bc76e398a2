//! Values of settings in the form of texts. Each names its accepted values, for error messages, and can be written again as it
//! was read. [`util::values`] has the values without chess.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};
use util::{from_text, values::NotOfThisKind};

use crate::{Speed, TimeControl};

/// A time control in the way players write it: minutes and seconds (`3+2`, `0.5+0`, `1/4+0`), days a move (`3d`), or
/// `unlimited`.
///
/// (The command line's `--tc` and [`TimeControl`]'s own text count seconds on both sides, as engines' tools do.)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinutesAndSeconds(pub TimeControl);

impl FromStr for MinutesAndSeconds {
    type Err = NotOfThisKind;

    fn from_str(text: &str) -> Result<Self, NotOfThisKind> {
        let Some((minutes, increment)) = text.split_once('+') else {
            return text.parse().map(Self).map_err(|_| NotOfThisKind);
        };
        let minutes = match minutes.split_once('/') {
            Some((above, below)) => number(above)? / number(below)?,
            None => number(minutes)?,
        };
        let (initial, increment) = (minutes * 60.0, number(increment)?);
        if !(0.0..=86_400.0).contains(&initial) || increment > 3600.0 {
            return Err(NotOfThisKind);
        }
        Ok(Self(TimeControl::real_time(Duration::from_secs_f64(initial), Duration::from_secs_f64(increment))))
    }
}

fn number(text: &str) -> Result<f64, NotOfThisKind> {
    text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0).ok_or(NotOfThisKind)
}

impl fmt::Display for MinutesAndSeconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            TimeControl::RealTime { initial, increment } => {
                write!(f, "{}+{}", initial.as_secs_f64() / 60.0, increment.as_secs_f64())
            }
            other => other.fmt(f),
        }
    }
}

from_text!(MinutesAndSeconds, "a time control: minutes+seconds such as 3+2, days such as 3d, or unlimited");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeControlRule {
    /// Every time control of this speed. [`Speed::Correspondence`] means games with days a move,
    /// not unlimited ones.
    Speed(Speed),
    Exactly(TimeControl),
}

impl TimeControlRule {
    pub fn covers(self, time_control: TimeControl) -> bool {
        match self {
            Self::Speed(speed) => speed == time_control.speed() && time_control != TimeControl::Unlimited,
            Self::Exactly(exactly) => exactly == time_control,
        }
    }
}

impl FromStr for TimeControlRule {
    type Err = NotOfThisKind;

    fn from_str(text: &str) -> Result<Self, NotOfThisKind> {
        match Speed::ALL.into_iter().find(|speed| speed.key() == text) {
            Some(speed) => Ok(Self::Speed(speed)),
            None => text.parse().map(|MinutesAndSeconds(time_control)| Self::Exactly(time_control)),
        }
    }
}

impl fmt::Display for TimeControlRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Speed(speed) => speed.fmt(f),
            Self::Exactly(time_control) => MinutesAndSeconds(*time_control).fmt(f),
        }
    }
}

from_text!(
    TimeControlRule,
    "a speed (ultraBullet, bullet, blitz, rapid, classical, correspondence) or a time control: minutes+seconds such as 3+2, days such as 3d, or unlimited"
);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The ratings of both players change.
    Rated,
    Casual,
}

impl Mode {
    pub const fn of(rated: bool) -> Self {
        if rated { Self::Rated } else { Self::Casual }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Human,
    /// A bot, or the server's own engine.
    Bot,
}

impl Kind {
    pub fn of(player: &crate::Player) -> Self {
        if player.is_bot() { Self::Bot } else { Self::Human }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn players_write_minutes_and_seconds() {
        for (text, seconds) in [("3+2", "180+2"), ("0.5+0", "30+0"), ("1/4+1", "15+1"), ("3d", "3d")] {
            assert_eq!(text.parse().map(|MinutesAndSeconds(control)| control.to_string()), Ok(seconds.to_owned()));
        }
        for text in ["", "3", "+", "1/0+0", "0/0+0", "-1+0", "3+-1", "9999999+0", "inf+0", "nan+1"] {
            assert!(text.parse::<MinutesAndSeconds>().is_err(), "{text:?}");
        }
        assert_eq!("2.5+1".parse::<MinutesAndSeconds>().map(|c| c.to_string()).as_deref(), Ok("2.5+1"));
    }

    #[test]
    fn rules_cover_speeds_or_controls() {
        let rule = |text: &str| text.parse::<TimeControlRule>().expect("a rule");
        let control = |text: &str| text.parse::<MinutesAndSeconds>().expect("a time control").0;
        assert!(rule("blitz").covers(control("3+2")));
        assert!(!rule("blitz").covers(control("1+0")));
        assert!(rule("3+2").covers(control("3+2")));
        assert!(!rule("3+2").covers(control("3+0")));
        assert!(rule("correspondence").covers(control("3d")));
        assert!(!rule("correspondence").covers(TimeControl::Unlimited));
        assert!(rule("unlimited").covers(TimeControl::Unlimited));
    }
}
