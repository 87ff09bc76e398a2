//! One sequential searcher.

#![allow(missing_docs)]

pub mod board;
mod knowledge;

pub use board::{Board, Move, MoveList, Position, PositionError};
pub use knowledge::{Heuristic, Knowledge, KnowledgeError};
