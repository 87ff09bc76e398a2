//! wip
pub mod board;
pub mod endgame;
pub mod evaluation;
pub mod game;
mod random;
pub mod search;
