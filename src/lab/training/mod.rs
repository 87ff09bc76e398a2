//! Training of the engine's nets: positions of its own games, labels, and a trainer.
//!
//! - [`selfplay`]: games of the engine against itself that fill a folder with shards.
//! - [`Record`]: a position and its labels (the own search, a teacher, the game's result), kept
//!   apart so that another mixture costs nothing. [`Shard`]: a file of them with a checksum.
//! - [`label()`]: a teacher's scores, in a pass of its own.
//! - [`dataset`]: the choice of positions for a training, and their targets.
//! - [`trainer`]: a net from them, in floating point and then in integers.
//!
//! The commands `concilio-lab data`, `concilio-lab label` and `concilio-lab train` run these steps,
//! and `concilio-lab match` lets two nets play. The example `trials` tries many changes of the
//! search at once.

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
