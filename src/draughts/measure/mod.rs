//! Measurements at Italian draughts: games between any two players, and what electors and criteria make of positions.
//!
//! Openings are ballots of eleven men a side, drawn by a seed; each is played with both colours by players that know nothing
//! of the pair before. With nodes alone equal matches are equal to the node.

mod command;
mod fit;
mod matches;
mod positions;

pub use command::MeasureDraughts;
