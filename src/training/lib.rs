//! Where the nets of the searcher come from.
//!
//! - [`Record`]: a position with everything that is said about it (the own search, a teacher, the game's result), kept apart so
//!   that mixing them costs nothing. [`Shard`]: a file of them with a checksum.
//! - [`label()`]: a teacher's scores, in a pass of its own.
//! - [`dataset`]: which positions a training takes and what they should be worth.
//! - [`trainer`]: a net from them, in floating point and then in whole numbers.
//! - [`selfplay`]: games of the engine against itself that fill a folder with shards, as many as there is patience for.
//!
//! The commands `concilio-lab data`, `concilio-lab label` and `concilio-lab train` lead from one to the next, and
//! `concilio-lab match` lets two nets play. The example `trials` tries many changes of the search at once.

pub mod dataset;
mod label;
mod openings;
mod random;
mod record;
pub mod selfplay;
mod shard;
mod shared_work;
pub mod trainer;
mod whole_file;

pub use label::{LabellingError, Teacher, label};
pub use openings::random_opening;
pub use random::SplitMix;
pub use record::{GameResult, Record, RecordError};
pub use shard::{Shard, ShardError};
