//! wip
pub mod board;
pub mod evaluation;
pub mod game;
