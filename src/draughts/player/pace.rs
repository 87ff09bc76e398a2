//! The limits of a move.

use std::time::Duration;

use council::Timing;
use domain::Limits;
use draughts_core::board::Move;

/// The limits of a move: nodes or plies of every elector, and time. Without any limit a move takes
/// a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pace {
    /// Nodes of each elector in both phases; with this bound alone equal games are equal to the node.
    pub nodes: Option<u64>,
    /// Time from question to answer.
    pub time: Option<Duration>,
    /// Iterations of each elector, in plies.
    pub depth: Option<u32>,
}

impl Pace {
    /// The time of a move without limits.
    pub const USUAL: Duration = Duration::from_secs(1);

    /// Adds a limit by its name: `nodes`, `movetime` (seconds) or `depth`; `None` for any other.
    #[must_use]
    pub fn with(self, key: &str, value: &str) -> Option<Self> {
        Some(match key {
            "nodes" => Self { nodes: Some(value.parse().ok().filter(|nodes| *nodes > 0)?), ..self },
            "movetime" => Self { time: Some(seconds(value)?), ..self },
            "depth" => Self { depth: Some(value.parse().ok().filter(|depth| (1..=100).contains(depth))?), ..self },
            _ => return None,
        })
    }

    /// Returns this pace, or `other` if it has no limit.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        if self == Self::default() { other } else { self }
    }

    /// Returns true if a clock ends moves, so that their depth depends on the machine.
    pub fn is_timed(self) -> bool {
        self.time.is_some() || self == Self::default()
    }

    pub(super) fn limits(self) -> Limits {
        Limits { time: None, nodes: self.nodes, depth: self.depth, clocks: None }
    }

    /// Returns the timing of the decision; `None` if nodes or plies end the move.
    pub(super) fn timing(self) -> Option<Timing<Move>> {
        let time = self.is_timed().then(|| self.time.unwrap_or(Self::USUAL))?;
        Some(Box::new(move |_| time))
    }
}

/// Seconds with a fraction, more than none, up to a day.
fn seconds(text: &str) -> Option<Duration> {
    let seconds: f64 = text.parse().ok()?;
    (seconds > 0.0 && seconds <= 86_400.0).then(|| Duration::from_secs_f64(seconds))
}
