//! Experiments and measurements: everything this project claims comes out of here and can be run again by anybody.

pub mod councils;
pub mod data;
pub mod epd;
pub mod fit;
pub mod game;
pub mod grids;
mod latency;
pub mod matches;
mod move_text;
pub mod openings;
pub mod player;
pub mod plot;
pub mod positions;
pub mod reproduce;
pub mod searches;
pub mod state;
pub mod stats;
pub mod suite;
pub mod tune;

pub use latency::{Latency, LatencyError, Share};
