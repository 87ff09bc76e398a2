//! Workers on other machines, over NATS. One machine needs none of this: its electors are threads.
//!
//! A daemon joins as a [`ClusterClient`] and gives it to its pool; [`lend`] turns this process into
//! a worker. Searches for which the daemon has no core of its own go to the worker that suits them
//! best, and their proposals come back as from a thread. The fabric gives at most once and no more;
//! everything else is by these rules:
//!
//! - the subject of a message names its sender, and the server enforces that; a message names its
//!   engine version, and other versions are refused, by name, on both sides;
//! - every search has its identity (game, ply, serial number, phase, elector); events of another one are dropped;
//! - a game travels as its start and its moves, so one message brings any worker up to date;
//! - a worker that is not heard of for three heartbeats is lost: what its searches proposed stands, and those that had not proposed
//!   begin anew on a thread of the daemon's machine;
//! - a daemon says every second what it waits for; what it does not list is stopped, so nothing runs for ever on a lost message;
//! - nothing that a worker claims has weight: moves are legal where they were asked for, and count
//!   with the value that a search on home cores finds; cores and speed count as its searches have
//!   shown them; a worker caught with a lie is named and gets no searches for a while; and a
//!   command decides neither which file a worker runs nor how much memory it takes;
//! - the messages of one worker are bounded before they are read, and delay no other worker.
//!
//! | subject | module |
//! |---|---|
//! | message formats and their validation | `wire/`, `subjects`, `identity` |
//! | known workers, placement and fate of searches: state machines | `registry`, `placement`, `in_flight` |
//! | lag and speed of workers | `measured` |
//! | log lines about workers | `change_log` |
//! | table messages | `table_sync` |
//! | verification: rules, results, searches | `verification/` |
//! | rate limits on workers | `intake` |
//! | the daemon's side | `client` (the pool's [`RemotePool`](council::electors::RemotePool)) |
//! | the worker's side | `worker/` |
//! | the NATS server; keys and permissions | `connection`, `settings`; `members` |
//! | list of workers for people | `survey` |

mod change_log;
mod client;
mod connection;
mod identity;
mod in_flight;
mod intake;
mod measured;
mod members;
mod placement;
mod registry;
mod settings;
mod subjects;
mod survey;
mod table_sync;
mod verification;
pub mod wire;
mod worker;

pub use client::ClusterClient;
pub use connection::{ConnectionError, PASSWORD, TOKEN};
pub use identity::{BenchResult, ProcessIdentity, RunId, Sender};
pub use members::{MemberKind, Members, MembersError};
pub use settings::ClusterSettings;
pub use subjects::{ANYBODY, Subjects, is_member_name};
pub use survey::{Survey, WorkerAnswer, survey};
pub use table_sync::SyncBudget;

/// Counts messages of workers that were dropped before they were read.
pub const MESSAGES_DROPPED: &str = "concilio_worker_messages_dropped_total";
/// Counts searches that were lost on workers, and began anew or ended without a vote.
pub const SEARCHES_LOST: &str = "concilio_worker_searches_lost_total";
/// Counts how often a worker was found untrue, silent or flooding, and got no searches for a while.
pub const WORKERS_DISTRUSTED: &str = "concilio_workers_distrusted_total";
/// Counts messages dropped because a queue of the NATS client was full.
pub const SLOW_CONSUMERS: &str = "concilio_nats_slow_consumers_total";
pub use worker::{LendError, WorkerSettings, lend};
