//! A sequential chess searcher: position in, iterations of a search out.
//!
//! Start with [`Engine::search`]. Three layers, each using only the ones before it:
//! - [`board`]: bitboards, legal moves, making moves; [`Position`] adds the history of a game.
//! - [`evaluation`]: the value of a position by eight heuristics ([`Heuristic`]) that can be
//!   switched off one by one, or by a trained [`net`]. An instance of the engine is a [`Knowledge`]
//!   set; all numbers are in `evaluation/weights.rs`.
//! - search: iterative deepening alpha-beta behind [`Engine`], which owns a game's memory. It plans
//!   no clock.
//!
//! Beside the search, [`proof`] finds forced mates.
//! [`Tablebases`] reads Syzygy tables, [`bench()`] measures, and [`uci`] is the engine alone as a
//! program.
//!
//! FEN and UCI text enter only at the edge; inside are the package's own board and moves.

mod bench;
pub mod board;
mod checksum;
pub mod evaluation;
mod knowledge;
pub mod net;
mod pages;
pub mod proof;
mod score;
mod search;
mod syzygy;
pub mod uci;

pub use bench::{Bench, bench, bench_evaluation, bench_with, short_bench};
pub use board::{Board, Move, MoveList, Position, PositionError};
pub use checksum::checksum;
pub use evaluation::{Breakdown, Noise, breakdown};
pub use knowledge::{Heuristic, IN_FULL, Knowledge, Percentages};
pub use net::{Net, NetError};
pub use score::{Score, ScoreBound};
pub use search::{
    AfterRound, Belief, BestOfGroup, Engine, EngineOptions, Iteration, Limits, MovesNow, Parameter, Parameters, Place,
    Root, SharedTable, TURN, TableBatch, TableEntry, Turnstile,
};
pub use syzygy::{Outcome, Tablebases, VariantTablebases};
