//! Limits of both players of a match.

use std::{fmt, str::FromStr};

use super::{Contender, Pace, PlayerSpec};
use crate::speed::Speeds;

/// The limits of both players of a match, unless their texts give others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchPace {
    Alike(Pace),
    /// The time in which complete knowledge visits this number of nodes: every elector, and the
    /// engine, has proportionally more or fewer by its speed. As repeatable as [`Pace::Nodes`],
    /// once the speeds are known.
    EqualTime(u64),
}

impl MatchPace {
    /// A player with the pace that it asked for, or else that of the match. A pace of its own is what it says, whatever the speeds.
    pub fn contender(self, mut spec: PlayerSpec, speeds: &Speeds) -> Contender {
        let pace = match (spec.pace, self) {
            (Some(pace), _) | (None, Self::Alike(pace)) => pace,
            (None, Self::EqualTime(nodes)) => spec.kind.set_equal_time(nodes, speeds),
        };
        Contender { spec, pace }
    }
}

impl FromStr for MatchPace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |error: String| format!("{error}, or equal-time=20000");
        match text.split_once('=') {
            Some(("equal-time", nodes)) => {
                let nodes = nodes.parse().ok().filter(|nodes| *nodes > 0);
                nodes.map(Self::EqualTime).ok_or_else(|| wrong(Pace::refused(text)))
            }
            _ => text.parse().map(Self::Alike).map_err(wrong),
        }
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
    fn equal_time_is_a_pace_of_both() {
        for text in ["equal-time=5000", "nodes=5000"] {
            assert_eq!(text.parse::<MatchPace>().map(|pace| pace.to_string()).as_deref(), Ok(text));
        }
        let error = "equal-time=0".parse::<MatchPace>().expect_err("no time");
        assert!(error.contains("equal-time=20000"), "{error}");
    }
}
