//! Values of settings in the form of texts. Each names its accepted values, for error messages, and can be written again as it
//! was read.
//!
//! Numbers and times within bounds are in `ranges`.

mod ranges;

pub use ranges::{
    Decimal, FractionalSeconds, FractionalSecondsOrNone, Seconds, SecondsOrNone, WholeNumber, WholeNumberOrNone,
};

use std::{fmt, path::Path, str::FromStr};

use jiff::civil::Time;
use serde::{Deserialize, Deserializer};

/// The name of a field that has all keys of the table around it but those of other fields.
pub const OTHERS: &str = "*";

/// The name by which the reader of the settings knows a base.
pub const BASE: &str = "base";

/// Reads a table of the settings that is the base of later tables of the same type: they take from it the values of keys
/// that they lack.
///
/// # Errors
/// Those of the table's type.
pub fn as_base<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<T, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename = "base")]
    struct Base<T>(T);
    Base::deserialize(deserializer).map(|Base(table)| table)
}

/// Returns the path; `None` for an empty one, which names no file.
pub fn named(path: &Path) -> Option<&Path> {
    (!path.as_os_str().is_empty()).then_some(path)
}

/// Declares a table of the settings: each key with its meaning, its type and its default. Unknown keys are refused.
#[macro_export]
macro_rules! settings {
    ($(#[$of_table:meta])* $visibility:vis struct $table:ident {
        $($(#[$of_key:meta])* pub $key:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$of_table])*
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $visibility struct $table {
            $($(#[$of_key])* pub $key: $type,)*
        }

        impl Default for $table {
            fn default() -> Self {
                Self { $($key: $default,)* }
            }
        }
    };
}

/// Reads a type from its text by `FromStr` and writes it by `Display`. Errors name the accepted values: those of `FromStr`, or
/// `$accepted`.
#[macro_export]
macro_rules! from_text {
    ($type:ty) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                <String as serde::Deserialize>::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
    ($type:ty, $accepted:literal) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($accepted)
                    }

                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Self::Value, E> {
                        text.parse().map_err(|_| E::invalid_value(serde::de::Unexpected::Str(text), &self))
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
    };
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a value of this kind")]
pub struct NotOfThisKind;

/// A part of the day, such as `08:00-22:30`. With an end before its beginning it goes past midnight; with equal ends it is the
/// whole day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HoursOfDay {
    from: Time,
    to: Time,
}

impl HoursOfDay {
    /// Returns true if `time` is in the window, without its end.
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
    use std::time::Duration;

    use serde::{Deserialize, Serialize};

    use super::*;

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
