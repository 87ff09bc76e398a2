//! Italian draughts, from the rules to two searches: a package that knows only itself.
//!
//! Each room knows only those before it:
//! - [`board`]: what stands where and which moves are legal, by the official rules or the relaxed ones of an old program;
//!   the text of positions and moves; counting trees of moves.
//! - [`game`]: a position with its past, the draws, the result; games as text (PDN), openings drawn by lot.
//! - [`evaluation`]: what a position is worth, by one of four published strategies or by a set of heuristics that are
//!   switched on by letters. Its numbers are in `evaluation/weights.rs`.
//! - [`endgame`]: who wins with up to four pieces, solved by this program and kept in a file.
//! - [`search`]: iterative deepening alpha-beta as of today, and the full-width search of 2010 beside it.
//! - [`exchange`]: the DamExchange protocol, in which programs play each other; messages and states, without sockets.
//!
//! Values are in hundredths of a man. Nothing here reads a clock but a search with a limit of time, or starts a thread.
//!
//! The rules, strategies and search of 2010 are those of *IntellidAma*, by Emanuele Rossinelli, as far as it says; the
//! rules it leaves out are those of the Italian federation. What neither says is marked as ours where it stands.
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
//! let found = searcher.search(&game, &limits, &AtomicBool::new(false), |it| println!("{} {:?}", it.depth, it.pv));
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
