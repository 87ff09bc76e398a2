//! The plain values that pass between rooms.
//!
//! Everything here is data: a game's identity, the line of moves that makes its position, clocks,
//! and the three letters the rooms write to each other — [`Task`] (search this), [`Proposal`]
//! (I would play this) and [`Decision`] (this is played, and here is the vote). Values keep their own
//! invariants and do nothing else: no clock is read and nothing is sent from this room.
//!
//! Rules of chess come from `shakmaty`; its types ([`Color`], [`UciMove`]) are ours too.

mod decision;
mod ids;
mod line;
mod proposal;
mod task;
mod time_control;
mod variant;

pub use decision::{Decision, Metrics, ProcessMetrics, SecondPhase, Source, Vote};
pub use ids::{ChallengeId, ElectorName, GameId, MachineName, ServerName};
pub use line::{Line, LineError, moves_text};
pub use proposal::{Bound, Proposal, Score};
pub use task::{Limits, Phase, SearchId, Task};
pub use time_control::{Clock, Clocks, Speed, TimeControl, TimeControlError};
pub use variant::{Variant, VariantError};

pub use crate::engine::{Heuristic, Knowledge};
pub use shakmaty::{Color, uci::UciMove};
