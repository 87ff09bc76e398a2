//! One account on one chess server: the games it plays, what it wants to play, and what it remembers.
//!
//! | room | its one job |
//! |---|---|
//! | [`session`] | one manager an account, one task a game: what must never be lost |
//! | [`policy`] | whom to play, when to offer, resign, speak: decides and does nothing |
//! | [`webhook`] | chosen events, told to an address |
//! | [`metrics`] | what is measured while it runs, for Prometheus |
//! | [`journal`] | every game, move and vote in SQLite; games as PGN |

pub mod journal;
pub mod metrics;
pub mod policy;
pub mod session;
pub mod webhook;
