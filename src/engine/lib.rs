//! One searcher: a position in, iterations of a search out.
//!
//! FEN and UCI text are at its door; inside are its own board and moves, and it knows no other room. Three layers, each
//! knowing only those before it:
//! - [`board`]: what stands where, which moves are legal, what a move makes of it; [`Position`] adds the past of a game.
//! - [`evaluation`]: what a position is worth by eight heuristics ([`Heuristic`]) that can be switched off one by one; an
//!   instance of the engine is a [`Knowledge`] set. All numbers are in `evaluation/weights.rs`. The ninth is a learned
//!   [`net`].
//! - search: iterative deepening alpha-beta behind [`Engine`], which owns the memory of a game. It plans no clock.
//!
//! A fourth beside the search is [`proof`]: what is certain about a position, and no opinion.
//!
//! Beside them are [`book`]s, [`Tablebases`], a [`bench()`] and the engine alone as a program ([`uci`]).

mod bench;
pub mod board;
pub mod book;
mod checksum;
pub mod evaluation;
mod knowledge;
pub mod net;
pub mod proof;
mod search;
mod syzygy;
pub mod uci;

pub use bench::{Bench, bench, bench_evaluation, bench_with, short_bench};
pub use board::{Board, Move, MoveList, Position, PositionError};
pub use checksum::checksum;
pub use evaluation::{Breakdown, Noise, breakdown};
pub use knowledge::{Heuristic, IN_FULL, Knowledge, KnowledgeError, Percentages};
pub use net::{Net, NetError};
pub use search::{
    AfterRound, Belief, BestOfGroup, DifferentEvaluation, Engine, EngineOptions, Iteration, Limits, MovesNow,
    NoSuchNet, Parameter, ParameterError, Parameters, Place, ProvedNow, Root, Score, ScoreBound, SharedTable, TURN,
    TableBatch, TableEntry, Turnstile,
};
pub use syzygy::{Outcome, Tablebases, VariantTablebases};
