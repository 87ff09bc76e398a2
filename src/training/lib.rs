//! Where the nets of the searcher come from.
//!
//! - [`Record`]: a position with everything that is said about it (the own search, a teacher, the game's result), kept apart so
//!   that mixing them costs nothing. [`Shard`]: a file of them with a checksum.
//! - [`selfplay`]: games of the engine against itself that fill a folder with shards, as many as there is patience for.

mod random;
mod record;
pub mod selfplay;
mod shard;

pub use random::Random;
pub use record::{GameResult, Record, RecordError};
pub use shard::{Shard, ShardError};
