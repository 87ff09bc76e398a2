//! One sequential searcher.

#![allow(missing_docs)]

mod bench;
pub mod board;
pub mod evaluation;
mod knowledge;
mod search;
pub mod uci;

pub use bench::{Bench, bench};
pub use board::{Board, Move, MoveList, Position, PositionError};
pub use evaluation::{Breakdown, breakdown};
pub use knowledge::{Heuristic, Knowledge, KnowledgeError};
pub use search::{Engine, EngineOptions, Iteration, Limits, Score, ScoreBound};
