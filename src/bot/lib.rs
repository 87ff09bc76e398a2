//! Accounts on chess servers: games, policies and the journal.
//!
//! | module | purpose |
//! |---|---|
//! | [`session`] | the tasks: one manager an account, one task a game |
//! | [`policy`] | pure decisions: opponents, offers, resignation, chat |
//! | [`webhook`] | chosen events, sent to a URL |
//! | [`metrics`] | measurements for Prometheus |
//! | [`journal`] | every game, move and vote in SQLite; games as PGN |

pub mod journal;
pub mod metrics;
pub mod policy;
pub mod session;
pub mod webhook;
