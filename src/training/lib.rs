//! Where the nets of the searcher come from.
//!
//! - [`Record`]: a position with everything that is said about it (the own search, a teacher, the game's result), kept apart so
//!   that mixing them costs nothing. [`Shard`]: a file of them with a checksum.
//! - [`label()`]: a teacher's scores, in a pass of its own; [`read_text`]: what `concilio lab data` has written.
//! - [`dataset`]: which positions a training takes and what they should be worth.
//! - [`trainer`]: a net from them, in floating point and then in whole numbers.
//! - [`selfplay`]: games of the engine against itself that fill a folder with shards, as many as there is patience for.
//!
//! By hand, each from a folder to the next (the examples say more):
//!
//! ```text
//! cargo run --release -p concilio-training --example selfplay -- games 1000 200 1 2
//! cargo run --release -p concilio-training --example label -- games labelled stockfish 64 2
//! cargo run --release -p concilio-training --example train -- n.net none 2 10 own=0.5 teacher=2 result=0.1 labelled games
//! cargo run --release -p concilio-training --example duel -- n:n.net mbxkcpar 2000 200 1
//! ```

pub mod dataset;
mod openings;
mod random;
mod record;
pub mod selfplay;
mod shard;
mod teacher;
mod text;
pub mod trainer;

pub use openings::random_opening;
pub use random::SplitMix;
pub use record::{GameResult, Record, RecordError};
pub use shard::{Shard, ShardError};
pub use teacher::{TeacherError, TeacherPlan, label};
pub use text::{TextError, read_text};
