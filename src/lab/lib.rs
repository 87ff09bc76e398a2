//! Experiments and measurements: everything this project claims comes out of here and can be run again by anybody.
//!
//! | what | where |
//! |---|---|
//! | games: a match, one game, who plays, where it begins; equal time in nodes | [`mod@matches`], [`game`], [`player`], [`openings`]; [`speed`] |
//! | positions: suites, searches that are kept, figures by elector, roster and criterion | [`suite`], [`epd`], [`searches`], [`positions`] |
//! | players at the same positions, and what their moves are worth where they differ | [`decisions`] |
//! | whole councils on positions; the theses' tables | [`councils`], [`reproduce`] |
//! | fitting: the evaluation, and what a council goes by | [`tune`], [`fit`]; positions for it and for nets, labels, trainer: [`training`] |
//! | statistics, plots, states to go on from | [`stats`], [`plot`], [`state`] |
//! | the daemon itself: how fast, and under everything that can go wrong; workers on other machines | [`Latency`], [`soak()`]; [`cluster`] |
//!
//! Invariants: with node budgets the same seed gives the same bytes, however many work at once and on any machine; whatever
//! was done before Ctrl-C is kept; every figure has its error; failures of players are counted, never hidden.

pub mod cluster;
pub mod command;
mod correspondence;
pub mod councils;
mod daemon_program;
pub mod decisions;
pub mod epd;
pub mod fit;
mod latency;
#[cfg(test)]
mod match_tests;
mod move_text;
pub mod openings;
mod own_process;
pub mod player;
pub mod plot;
pub mod positions;
mod program_files;
pub mod reproduce;
pub mod searches;
mod soak;
pub mod speed;
pub mod suite;
pub mod training;
pub mod tune;
mod uci_teacher;

pub use experiment::{game, matches, state, stats};

pub use latency::{Latency, LatencyPlan, MoveDelays};
pub use soak::{SoakMemory, SoakPlan, SoakProtocol, SoakReport, soak};
