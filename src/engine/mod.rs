//! One sequential searcher.

#![allow(missing_docs)]
mod knowledge;
pub use knowledge::{Heuristic, Knowledge, KnowledgeError};
