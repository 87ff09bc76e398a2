//! Experiments that can be repeated, interrupted and taken up again.
//!
//! | module | contents |
//! |---|---|
//! | [`state`] | the finished parts of an experiment, in a file |
//! | [`stats`] | estimates with their errors: scores, Elo, sequential tests, bootstrap |
//! | [`progress`] | progress on the terminal, and the arguments that name the state file |

pub mod progress;
pub mod state;
pub mod stats;
