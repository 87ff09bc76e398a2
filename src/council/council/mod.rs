//! The council: electors that each know a part of chess propose, and one proposal is elected (docs/method.md).
//!
//! [`Council::new`] seats a roster; [`Council::decide`] answers one question; [`elect`] is the election alone, on
//! proposals made elsewhere. The council owns the newest proposal of every elector at all times, so from the first completed
//! iteration on it could decide at any moment; the rest is a matter of when. It knows nothing of servers, games' etiquette or
//! records: a line and a sense of time go in, a [`Decision`](chess::Decision) comes out.
//!
//! | what | where |
//! |---|---|
//! | who proposes | `roster`, `distributions` |
//! | what was proposed | `ballots`; one question's way: `hearing`, `first_phase` |
//! | which proposal is elected | `criterion/`, a file a rule; `guards`, `election` |
//! | the second search | `second/`, a file a mode |
//! | settings | `settings`, `names`, `preset` (the published players), `model` (what was learnt) |
//!
//! Invariants:
//! - the elected move is legal in the line asked about, even if every elector fails;
//! - a proposal for another search is dropped;
//! - an elector that dies or hangs costs its vote, never the move: nobody is waited for after the time is up;
//! - equal proposals and an equal seed elect the same move.

mod ballots;
mod criterion;
mod distributions;
mod election;
mod first_phase;
mod guards;
mod hearing;
mod model;
mod names;
mod pondering;
mod position_class;
mod preset;
mod process;
mod question;
mod roster;
mod second;
mod session;
mod settings;

pub use criterion::FEATURES;
pub use election::{Outcome, elect, features};
pub use model::{Calibration, Model, ModelError};
pub use names::{CriterionName, GroupMode, SecondPhaseMode};
pub use pondering::Pondering;
pub use position_class::{PositionClass, PositionClasses};
pub use question::{Progress, Question, Timing};
pub use roster::{Roster, RosterError};
pub use session::Council;
pub use settings::{CouncilSettings, ElectorSettings, HeuristicWeights};

#[cfg(test)]
mod tests;
