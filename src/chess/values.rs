//! Values of settings that are written as texts. Each describes its accepted values in words that
//! follow "expected", so that a bad value explains itself, and each can be written again as it was
//! read.
//!
//! Numbers and times within bounds are in `ranges`.

mod ranges;

pub use ranges::{
    Decimal, FractionalSeconds, FractionalSecondsOrNone, Seconds, SecondsOrNone, WholeNumber, WholeNumberOrNone,
};

use std::{fmt, str::FromStr, time::Duration};

use jiff::civil::Time;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::{Speed, TimeControl};

/// Reads a type from its text by `FromStr`, with the given words for what is accepted, and writes it by `Display`.
macro_rules! from_text {
    ($type:ty, $accepted:literal) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl de::Visitor<'_> for Text {
                    type Value = $type;

                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($accepted)
                    }

                    fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                        text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

/// A text that is not of the kind it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a value of this kind")]
pub struct NotOfThisKind;

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

/// The time controls that a rule covers: a whole class, or one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeControlRule {
    /// Every time control of this speed. [`Speed::Correspondence`] means games with days a move,
    /// not unlimited ones.
    Speed(Speed),
    /// This time control alone.
    Exactly(TimeControl),
}

impl TimeControlRule {
    /// Returns true if the rule covers `time_control`.
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

/// Rated or casual.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The ratings of both players change.
    Rated,
    Casual,
}

impl Mode {
    /// The mode of a game that is rated or not.
    pub const fn of(rated: bool) -> Self {
        if rated { Self::Rated } else { Self::Casual }
    }
}

/// Human or program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Human,
    /// A bot, or the server's own engine.
    Bot,
}

impl Kind {
    /// Returns the kind of a player.
    pub fn of(player: &crate::Player) -> Self {
        if player.is_bot() { Self::Bot } else { Self::Human }
    }
}

/// A part of the day, such as `08:00-22:30`. One that ends before it begins goes past midnight; one that ends where it
/// begins is the whole day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoursOfDay {
    from: Time,
    to: Time,
}

impl HoursOfDay {
    /// Returns true if `time` is in the window, whose end is excluded.
    pub fn contains(self, time: Time) -> bool {
        if self.from < self.to { (self.from..self.to).contains(&time) } else { time >= self.from || time < self.to }
    }

    /// Returns true if `time` is in one of `windows`, or if there are none.
    pub fn any_contains(windows: &[Self], time: Time) -> bool {
        windows.is_empty() || windows.iter().any(|window| window.contains(time))
    }
}

impl FromStr for HoursOfDay {
    type Err = NotOfThisKind;

    fn from_str(text: &str) -> Result<Self, NotOfThisKind> {
        let (from, to) = text.split_once('-').ok_or(NotOfThisKind)?;
        let time = |text: &str| {
            let (hour, minute) = text.trim().split_once(':').ok_or(NotOfThisKind)?;
            let part = |text: &str| {
                let digits = (1..=2).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
                digits.then(|| text.parse::<i8>().ok()).flatten().ok_or(NotOfThisKind)
            };
            let hour = match (part(hour)?, part(minute)?) {
                (24, 0) => 0,
                (hour, _) => hour,
            };
            Time::new(hour, part(minute)?, 0, 0).map_err(|_| NotOfThisKind)
        };
        Ok(Self { from: time(from)?, to: time(to)? })
    }
}

impl fmt::Display for HoursOfDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.from.strftime("%H:%M"), self.to.strftime("%H:%M"))
    }
}

from_text!(HoursOfDay, "hours of the day such as 08:00-22:30");

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

    #[test]
    fn hours_may_go_past_midnight() {
        let at = |hour, minute| Time::constant(hour, minute, 0, 0);
        let day: HoursOfDay = "08:00-22:30".parse().expect("hours");
        assert!(day.contains(at(8, 0)) && day.contains(at(22, 29)));
        assert!(!day.contains(at(22, 30)) && !day.contains(at(7, 59)));
        let night: HoursOfDay = "22:00 - 6:00".parse().expect("hours");
        assert!(night.contains(at(23, 0)) && night.contains(at(0, 0)) && !night.contains(at(12, 0)));
        let until_midnight: HoursOfDay = "18:00-24:00".parse().expect("hours");
        assert!(until_midnight.contains(at(23, 59)) && !until_midnight.contains(at(0, 0)));
        for text in ["", "8-10", "25:00-26:00", "08:60-09:00", "08:00", "+8:00-09:00"] {
            assert!(text.parse::<HoursOfDay>().is_err(), "{text:?}");
        }
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Example {
        #[serde(with = "WholeNumber::<1, 9>")]
        whole: u8,
        #[serde(with = "WholeNumberOrNone::<0, 9>")]
        bound: Option<u32>,
        #[serde(with = "Seconds::<0, 60>")]
        time: Duration,
        #[serde(with = "SecondsOrNone::<0, 60>")]
        limit: Option<Duration>,
        #[serde(with = "FractionalSeconds::<1, 1000>")]
        moment: Duration,
        #[serde(with = "Decimal::<10, 1000>")]
        share: f64,
        hours: HoursOfDay,
    }

    const GOOD: &str = "whole = 3\nbound = \"none\"\ntime = 5\nlimit = \"none\"\nmoment = 0.005\nshare = 0.25\nhours = \"08:00-22:30\"\n";

    #[test]
    fn what_was_read_is_written_again() {
        let example: Example = toml::from_str(GOOD).expect("good");
        assert_eq!((example.bound, example.limit, example.moment), (None, None, Duration::from_millis(5)));
        assert_eq!(toml::to_string(&example).expect("written"), GOOD);
    }

    #[test]
    fn errors_name_the_accepted_range() {
        for (good, bad, accepted) in [
            ("whole = 3", "whole = 0", "a whole number from 1 to 9"),
            ("whole = 3", "whole = 1.5", "a whole number from 1 to 9"),
            ("bound = \"none\"", "bound = 10", "a whole number from 0 to 9, or \"none\""),
            ("time = 5", "time = 61", "a whole number from 0 to 60 (seconds)"),
            ("limit = \"none\"", "limit = \"no\"", "a whole number from 0 to 60 (seconds), or \"none\""),
            ("moment = 0.005", "moment = 0", "seconds from 0.001 to 1"),
            ("share = 0.25", "share = nan", "a number from 0.01 to 1"),
            ("share = 0.25", "share = 'x'", "a number from 0.01 to 1"),
        ] {
            let error = toml::from_str::<Example>(&GOOD.replace(good, bad)).expect_err(bad).to_string();
            assert!(error.contains(&format!("expected {accepted}")), "{error}");
        }
    }
}
