//! Limits of a move: time on a clock, fixed time, or nodes.

use std::{fmt, str::FromStr, time::Duration};

use serde::{Deserialize, Serialize};

use domain::TimeControl;

/// The limits of a player's moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Pace {
    Clock {
        initial: Duration,
        increment: Duration,
    },
    MoveTime(Duration),
    /// Nodes for every move, of every elector of a council and of every thread of the engine: as
    /// time with a core each, and the same on any machine.
    Nodes(u64),
}

/// The limits of both players of a match, unless their texts give others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum MatchPace {
    Alike(Pace),
    /// The time in which complete knowledge visits this number of nodes: every elector, and the
    /// engine, has proportionally more or fewer by its speed. As repeatable as [`Pace::Nodes`],
    /// once the speeds are known.
    EqualTime(u64),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no pace (accepted: tc=10+0.1 and movetime=0.1 in seconds, nodes=20000{more})", more = if *.1 { ", equal-time=20000" } else { "" })]
pub struct PaceError(String, bool);

impl Pace {
    /// The pace that a key and its value name; `None` if the key names none.
    pub(super) fn from_key(key: &str, value: &str) -> Option<Result<Self, PaceError>> {
        let pace = match key {
            "tc" => match value.parse() {
                Ok(TimeControl::RealTime { initial, increment }) if !initial.is_zero() => {
                    Some(Self::Clock { initial, increment })
                }
                _ => None,
            },
            "movetime" => {
                let seconds = value.parse().ok().filter(|seconds: &f64| *seconds > 0.0 && *seconds <= 86_400.0);
                seconds.map(|seconds| Self::MoveTime(Duration::from_secs_f64(seconds)))
            }
            "nodes" => value.parse().ok().filter(|nodes| *nodes > 0).map(Self::Nodes),
            _ => return None,
        };
        Some(pace.ok_or_else(|| PaceError(format!("{key}={value}"), false)))
    }

    /// Returns true if the outcome depends on the machine.
    pub const fn is_timed(self) -> bool {
        !matches!(self, Self::Nodes(_))
    }
}

impl FromStr for Pace {
    type Err = PaceError;

    fn from_str(text: &str) -> Result<Self, PaceError> {
        let error = || PaceError(text.to_owned(), false);
        let (key, value) = text.split_once('=').ok_or_else(error)?;
        Self::from_key(key, value).unwrap_or_else(|| Err(error()))
    }
}

impl TryFrom<String> for Pace {
    type Error = PaceError;

    fn try_from(text: String) -> Result<Self, PaceError> {
        text.parse()
    }
}

impl From<Pace> for String {
    fn from(pace: Pace) -> Self {
        pace.to_string()
    }
}

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock { initial, increment } => {
                write!(f, "tc={}+{}", initial.as_secs_f64(), increment.as_secs_f64())
            }
            Self::MoveTime(time) => write!(f, "movetime={}", time.as_secs_f64()),
            Self::Nodes(nodes) => write!(f, "nodes={nodes}"),
        }
    }
}

impl FromStr for MatchPace {
    type Err = PaceError;

    fn from_str(text: &str) -> Result<Self, PaceError> {
        let error = || PaceError(text.to_owned(), true);
        match text.split_once('=') {
            Some(("equal-time", nodes)) => {
                nodes.parse().ok().filter(|nodes| *nodes > 0).map(Self::EqualTime).ok_or_else(error)
            }
            _ => text.parse().map(Self::Alike).map_err(|_| error()),
        }
    }
}

impl TryFrom<String> for MatchPace {
    type Error = PaceError;

    fn try_from(text: String) -> Result<Self, PaceError> {
        text.parse()
    }
}

impl From<MatchPace> for String {
    fn from(pace: MatchPace) -> Self {
        pace.to_string()
    }
}

impl fmt::Display for MatchPace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Alike(pace) => pace.fmt(f),
            Self::EqualTime(nodes) => write!(f, "equal-time={nodes}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_reads_back_what_it_prints() {
        for text in ["tc=10+0.1", "movetime=0.01", "nodes=20000"] {
            assert_eq!(text.parse::<Pace>().map(|pace| pace.to_string()).as_deref(), Ok(text));
        }
        for text in ["equal-time=5000", "nodes=5000"] {
            assert_eq!(text.parse::<MatchPace>().map(|pace| pace.to_string()).as_deref(), Ok(text));
        }
        let error = "equal-time=0".parse::<MatchPace>().expect_err("no time");
        assert!(error.to_string().contains("equal-time=20000"), "{error}");
        assert!("equal-time=5000".parse::<Pace>().is_err(), "it is a pace of both");
        for text in ["", "tc=", "tc=0+1", "tc=3d", "movetime=0", "movetime=nan", "nodes=-1", "nodes=0", "depth=8"] {
            assert!(text.parse::<Pace>().is_err(), "{text:?}");
        }
    }
}
