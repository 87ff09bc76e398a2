//! Italian draughts, from the rules to two searches, without other packages.
//!
//! Each module uses only the ones before it:
//! - [`board`]: positions and legal moves, by the official rules or the relaxed ones of an old
//!   program; the text of positions and moves; perft.
//! - [`game`]: a position with its past, draws, the result; games as text (PDN), ballots.
//! - [`evaluation`]: the value of a position, by one of four published strategies or by a set of
//!   heuristics switched on by letters. Its numbers are in `evaluation/weights.rs`.
//! - [`endgame`]: results of up to four pieces, solved by this package and kept in a file.
//! - [`search`]: modern iterative deepening alpha-beta, and the full-width search of 2010.
//! - [`exchange`]: the DamExchange protocol between programs; messages and states, without sockets.
//!
//! Values are in hundredths of a man. Only a search with a time limit reads a clock; no thread is
//! started here.
//!
//! The rules, strategies and search of 2010 are those of *IntellidAma*, by Emanuele Rossinelli, as
//! far as its paper goes; the remaining rules are those of the Italian federation. Additions are
//! marked as ours.

pub mod board;
pub mod endgame;
pub mod evaluation;
pub mod exchange;
pub mod game;
mod random;
pub mod search;
