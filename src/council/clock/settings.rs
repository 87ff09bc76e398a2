//! What the settings say about the clock.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

/// The `clock` table: how time is spent. All times are in seconds, with fractions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClockSettings {
    /// The time of every move, whatever the clock says, as far as the clock lets it. 0 (the default) follows the clock.
    /// 0 to 86400 s.
    #[serde(serialize_with = "write_seconds", deserialize_with = "read_seconds")]
    pub move_time: Duration,
    /// The time of a move in correspondence and unlimited games. 0 to 86400 s.
    #[serde(serialize_with = "write_seconds", deserialize_with = "read_seconds")]
    pub correspondence_move_time: Duration,
    /// The most that the first move of either side may take: it costs no time on the clock, but the opponent waits.
    /// 0 sets no bound. 0 to 86400 s.
    #[serde(serialize_with = "write_seconds", deserialize_with = "read_seconds")]
    pub first_move: Duration,
    /// What is left on the clock in addition to the measured lag. 0 to 86400 s.
    #[serde(serialize_with = "write_seconds", deserialize_with = "read_seconds")]
    pub reserve: Duration,
    /// The time of a move for which there is no time. 0.001 to 1 s.
    #[serde(serialize_with = "write_seconds", deserialize_with = "read_shortest")]
    pub minimum: Duration,
    /// ExtraTime as a multiple of ResponseTime (docs/method.md §5). 0 to 10.
    #[serde(deserialize_with = "read_extra")]
    pub extra: f64,
    /// The most one move may take of what is left on the clock. 0.01 to 1.
    #[serde(deserialize_with = "read_most")]
    pub most: f64,
    /// Whether a split vote is given ExtraTime and a unanimous one gives time back. Off, because it did not pay.
    pub heed_votes: bool,
}

impl Default for ClockSettings {
    fn default() -> Self {
        Self {
            move_time: Duration::ZERO,
            correspondence_move_time: Duration::from_secs(20),
            first_move: Duration::from_secs(1),
            reserve: Duration::from_millis(30),
            minimum: Duration::from_millis(5),
            extra: 1.5,
            most: 0.25,
            heed_votes: false,
        }
    }
}

fn write_seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}

fn read_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    number(deserializer, 0.0, 86_400.0, "seconds").map(Duration::from_secs_f64)
}

fn read_shortest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    number(deserializer, 0.001, 1.0, "seconds").map(Duration::from_secs_f64)
}

fn read_extra<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number(deserializer, 0.0, 10.0, "a number")
}

fn read_most<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    number(deserializer, 0.01, 1.0, "a share")
}

/// A number from `least` to `greatest`, or an error that says so.
fn number<'de, D: Deserializer<'de>>(deserializer: D, least: f64, greatest: f64, what: &str) -> Result<f64, D::Error> {
    let value = f64::deserialize(deserializer)?;
    if (least..=greatest).contains(&value) {
        Ok(value)
    } else {
        Err(D::Error::custom(format_args!("expected {what} from {least} to {greatest}, found {value}")))
    }
}
