//! Experiments and measurements: everything this project claims comes out of here and can be run again by anybody.

pub mod data;
mod latency;
pub mod tune;

pub use latency::{Latency, LatencyError, Share};
