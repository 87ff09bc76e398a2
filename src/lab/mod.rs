//! Experiments and measurements: everything this project claims comes out of here and can be run again by anybody.

pub mod data;
pub mod epd;
pub mod game;
mod latency;
pub mod matches;
mod move_text;
pub mod openings;
pub mod player;
pub mod state;
pub mod stats;
pub mod tune;

pub use latency::{Latency, LatencyError, Share};
