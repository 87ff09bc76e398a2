//! Experiments that can be repeated, interrupted and taken up again.
//!
//! | module | contents |
//! |---|---|
//! | [`mod@matches`], [`game`], [`player`] | games between any two players of a game, one game, who plays |
//! | [`state`] | the finished parts of an experiment, in a file |
//! | [`stats`] | estimates with their errors: scores, Elo, sequential tests, bootstrap |
//! | [`progress`] | progress on the terminal, and the arguments that name the state file |

pub mod game;
pub mod matches;
mod parallel;
pub mod player;
pub mod progress;
pub mod state;
pub mod stats;

pub use parallel::in_parallel;
