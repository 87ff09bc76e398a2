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
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//!
//! use concilio_draughts::{game::Game, search::{Limits, SearchOptions, Searcher}};
//!
//! let mut game = Game::default();
//! game.play_text("22-18")?;
//! let mut searcher = Searcher::new(SearchOptions::default());
//! let limits = Limits { depth: Some(5), ..Limits::default() };
//! let stop = AtomicBool::new(false);
//! let found = searcher.search(&game, &limits, &stop, |it| println!("{} {:?}", it.depth, it.pv));
//! assert!(found.is_some_and(|it| game.legal_moves().contains(&it.best)));
//! # Ok::<(), concilio_draughts::board::MoveError>(())
//! ```

pub mod board;
pub mod endgame;
pub mod evaluation;
pub mod exchange;
pub mod game;
mod random;
pub mod search;
