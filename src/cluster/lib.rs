//! Workers on other machines, over NATS. One machine needs none of this: its electors are threads.
//!
//! A daemon joins as a [`ClusterClient`] and gives it to its pool; [`lend`] makes this process a worker. Searches for which the daemon has no
//! core of its own go to the worker that suits them best, and their proposals come back as from a thread. The fabric gives at most
//! once and no more; everything else is by these rules:
//!
//! - who sends a message is said by its subject, on which the server lets nobody else send; a message says with which version of
//!   the engine, and other versions are refused, by name, on both sides;
//! - every search has its identity (game, ply, serial number, phase, elector); events of another one are dropped;
//! - a game travels as its start and its moves, so one message brings any worker up to date;
//! - a worker that is not heard of for three heartbeats is lost: what its searches proposed stands, and those that had not proposed
//!   begin anew on a thread of the daemon's machine;
//! - a daemon says every second what it waits for; what it does not list is stopped, so nothing runs for ever on a lost message;
//! - nothing that comes from another machine is believed before it was checked: moves are legal where they were asked for, numbers
//!   could be true, scores and mates are no further from a short search of ours than honest ones are; who is caught is named and
//!   gets nothing; and a command decides neither which file a worker runs nor how much memory it takes.
//!
//! | what | where |
//! |---|---|
//! | messages, byte by byte; what they may say | `wire/`, `subjects`, `identity` |
//! | who is there; who gets a search; what became of it: state machines | `registry`, `placement`, `in_flight` |
//! | how far away a worker is, and how fast | `measured` |
//! | what the log tells of workers | `change_log` |
//! | what machines tell each other of their tables | `exchange` |
//! | how far a worker is believed: rules, what was found out, the searches for it | `scrutiny`, `looks`, `looker` |
//! | the daemon's side | `client` (the pool's [`RemotePool`](council::pool::RemotePool)) |
//! | the lending side | `worker/` |
//! | the NATS server; who may come in and do what | `connection`, `settings`; `members` |
//! | who lends what, for people; what keeping workers costs | `survey`; `upkeep` |

mod change_log;
mod client;
mod connection;
mod exchange;
mod identity;
mod in_flight;
mod looker;
mod looks;
mod measured;
mod members;
mod placement;
mod registry;
mod scrutiny;
mod settings;
mod subjects;
mod survey;
mod upkeep;
pub mod wire;
mod worker;

pub use client::ClusterClient;
pub use connection::{ConnectionError, PASSWORD, TOKEN};
pub use exchange::ExchangeBudget;
pub use identity::{BenchResult, ProcessIdentity, ProgramVersion, RunId, Sender};
pub use members::{MemberKind, Members, MembersError};
pub use settings::ClusterSettings;
pub use subjects::{ANYBODY, Subjects, is_member_name};
pub use survey::{Survey, WorkerAnswer, survey};
pub use upkeep::Upkeep;
pub use worker::{LendError, WorkerSettings, lend};
