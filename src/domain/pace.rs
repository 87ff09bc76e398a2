use std::{fmt, str::FromStr, time::Duration};

use super::{Clock, Limits, TimeControl};
use util::from_text;

/// The deepest search that may be asked for, plies.
const DEEPEST: u32 = 100;

/// The limit of a player's moves. As text, `tc=10+0.1` or `movetime=0.1` (seconds), `nodes=20000` or `depth=8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    Clock {
        initial: Duration,
        increment: Duration,
    },
    MoveTime(Duration),
    /// Nodes for every move, of every elector of a council and of every thread of the engine: as
    /// time with a core each, and the same on any machine.
    Nodes(u64),
    /// Plies that every elector completes.
    Depth(u32),
}

impl Pace {
    /// Describes what is accepted in place of `text`.
    pub fn refused(text: &str) -> String {
        format!(
            "{text:?} is no pace (accepted: tc=10+0.1 and movetime=0.1 in seconds, up to a day; nodes=20000; depth=8, 1 to \
             {DEEPEST} plies)"
        )
    }

    /// Reads the value of a key; `None` for an unknown key.
    pub fn from_key(key: &str, value: &str) -> Option<Result<Self, String>> {
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
            "depth" => value.parse().ok().filter(|depth| (1..=DEEPEST).contains(depth)).map(Self::Depth),
            _ => return None,
        };
        Some(pace.ok_or_else(|| Self::refused(&format!("{key}={value}"))))
    }

    /// Returns true if the outcome depends on the machine.
    pub const fn is_timed(self) -> bool {
        matches!(self, Self::Clock { .. } | Self::MoveTime(_))
    }

    /// Returns the limits of one move; none by a clock.
    pub fn limits(self) -> Limits {
        match self {
            Self::Clock { .. } => Limits::default(),
            Self::MoveTime(time) => Limits { time: Some(time), ..Limits::default() },
            Self::Nodes(nodes) => Limits { nodes: Some(nodes), ..Limits::default() },
            Self::Depth(depth) => Limits { depth: Some(depth), ..Limits::default() },
        }
    }

    pub fn full_clock(self) -> Clock {
        match self {
            Self::Clock { initial, increment } => Clock { remaining: initial, increment },
            _ => Clock::default(),
        }
    }
}

impl FromStr for Pace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let pace = text.split_once('=').and_then(|(key, value)| Self::from_key(key, value));
        pace.unwrap_or_else(|| Err(Self::refused(text)))
    }
}

from_text!(Pace);

impl fmt::Display for Pace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Clock { initial, increment } => {
                write!(f, "tc={}+{}", initial.as_secs_f64(), increment.as_secs_f64())
            }
            Self::MoveTime(time) => write!(f, "movetime={}", time.as_secs_f64()),
            Self::Nodes(nodes) => write!(f, "nodes={nodes}"),
            Self::Depth(depth) => write!(f, "depth={depth}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pace_reads_back_what_it_prints() {
        for text in ["tc=10+0.1", "movetime=0.01", "nodes=20000", "depth=8"] {
            assert_eq!(text.parse::<Pace>().map(|pace| pace.to_string()).as_deref(), Ok(text));
        }
        for text in
            ["", "tc=", "tc=0+1", "tc=3d", "movetime=0", "movetime=nan", "movetime=100000", "nodes=-1", "nodes=0"]
                .into_iter()
                .chain(["depth=0", "depth=200", "equal-time=5000"])
        {
            let error = text.parse::<Pace>().expect_err(text);
            assert!(error.contains("up to a day") && error.contains("100 plies"), "{error}");
        }
    }
}
