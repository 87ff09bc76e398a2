//! The council under any chess program: what a graphical interface or a match runner sees of it.
//!
//! ```text
//! program ──lines──▶ uci | xboard ──requests──▶ engine_session ──▶ player ──▶ council
//!         ◀──lines──              ◀──events──────────────────────────┘
//! ```
//! Two languages over one [`Setup`]: the Universal Chess Interface ([`uci`]) and the Chess Engine Communication Protocol,
//! version 2, with the console commands of the ancestor ([`xboard`]). Each is a loop that owns all its state, reads lines
//! and events as they come, and never waits for a search: whatever is said is heard at once. The same player that sits at a
//! server's board finds the moves, so the daemon and a match runner measure one thing.
//!
//! Invariants:
//! - wrong input changes nothing and is answered with one line that says what was wrong;
//! - every move that was asked for is answered with exactly one, which is legal;
//! - the end of the input ends the program: a bounded search is finished first, an endless one stopped.

mod board;
mod engine_session;
mod lines;
mod options;
mod search_progress;
mod setup;
pub mod uci;
pub mod xboard;

pub use setup::Setup;
