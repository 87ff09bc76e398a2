//! The council: electors that each know a part of chess propose, and one proposal is elected (METHOD.md).
//!
//! [`Council::convene`] seats a roster for one game; [`Council::decide`] answers one question. The council owns the newest
//! proposal of every elector at all times, so from the first completed iteration on it could decide at any moment; the rest
//! is a matter of when. It knows nothing of servers, games' etiquette or records: a line and a sense of time go in, a
//! [`Decision`](crate::chess::Decision) comes out.
//!
//! Invariants:
//! - the elected move is legal in the line asked about, even if every elector fails;
//! - a proposal for another search is dropped;
//! - an elector that dies or hangs costs its vote, never the move.

mod criterion;
mod election;
mod phases;
mod roster;
mod settings;

pub use phases::{Council, Progress, Question, Timing};
pub use roster::{Roster, RosterError};
pub use settings::{CouncilSettings, CriterionName, ElectorSettings, HeuristicWeights};
