//! Training of the engine's nets: positions of its own games, labels, and a trainer.
//!
//! - [`selfplay`]: games of the engine against itself that fill a folder; [`game`]: their files.
//! - [`label()`]: a teacher's scores, in a pass of its own.
//! - [`value_net`]: a teacher's net in place of its program, and many positions [`Around`] those of a game.
//! - [`mod@shuffle`]: the positions of labelled games in random order, each once. [`Record`]: a position and its labels (the own
//!   search, a teacher, the game's result), kept apart so that another mixture costs nothing.
//! - [`dataset`]: the positions of a training as a stream, and their targets.
//! - [`trainer`]: a net from them, in floating point and then in integers.
//!
//! The commands `concilio-lab data`, `label`, `shuffle` and `train` run these steps, and `concilio-lab match` lets two nets play.

mod around;
mod data_file;
pub mod dataset;
pub mod game;
mod label;
mod random;
mod record;
pub mod selfplay;
pub mod shuffle;
pub mod trainer;
pub mod value_net;

pub use around::Around;
pub use data_file::{DataFile, DataHead, DataKind};
pub use label::{Teacher, label};
pub use random::SplitMix;
pub use record::{GameResult, Record};
pub use shuffle::shuffle;
