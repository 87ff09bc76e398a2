//! `n`: a small trained net in place of the hand-written heuristics.
//!
//! It sees men and squares and nothing else: 768 inputs (colour, role and square, from the side of each player, mirrored so
//! that the player's king is on the files a to d) for each of four places of that king (king buckets), one layer for each
//! player, of a width that is the net's own, and eight outputs, one of which the number of men picks (output buckets). All
//! numbers are integers, so its value is the same on every machine, bit for bit.
//!
//! A net is the evaluation, but for terms on the whole, such as the right to move.
//!
//! - `weights.rs`: its numbers.
//! - `features.rs`: the inputs of a position.
//! - `accumulator.rs`: the first layer, updated from position to position.
//! - `kernel.rs`: the loops over numbers, compiled for several kinds of processors.
//! - `file.rs`: its file format.

mod accumulator;
mod features;
mod file;
mod kernel;
mod weights;

use std::sync::{Arc, OnceLock};

use super::board::{Board, Color};

pub(crate) use accumulator::Accumulator;
pub use features::{INPUTS, KING_BUCKETS, MEN, View};
pub use file::NetError;
use weights::Block;
pub use weights::{BLOCK, LARGEST_INPUT_WEIGHT, LARGEST_OUTPUT_WEIGHT, LARGEST_WIDTH, ROWS, Weights};

/// Output buckets, by how many men are on the board.
pub const BUCKETS: usize = 8;
/// The value of 1 in the first layer: sums are clipped to 0 and this.
pub const ONE: i32 = 255;
/// The value of 1 among the weights of the output.
pub const OUTPUT_ONE: i32 = 128;
/// Centipawns that an output of 1 means.
pub const CENTIPAWNS: i32 = 400;
/// The largest value, in centipawns.
const LARGEST_VALUE: i64 = 15_000;

/// Returns the output bucket of a position with `men` men on the board: 0 to [`BUCKETS`] - 1.
#[inline]
pub const fn bucket(men: usize) -> usize {
    let bucket = men.saturating_sub(1) * BUCKETS / 32;
    if bucket < BUCKETS { bucket } else { BUCKETS - 1 }
}

/// Description and origin of a net.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// The seed of its training: nets of other seeds make other errors.
    pub seed: u64,
    /// Labelled positions it was trained on.
    pub positions: u64,
    pub labels: String,
    pub command: String,
}

/// The file of the net that comes with the engine.
const SHIPPED: &[u8] = include_bytes!("shipped/n.net");

#[derive(Debug)]
pub struct Net {
    header: Header,
    weights: Weights,
    checksum: u64,
}

impl Net {
    /// Creates a net from its numbers.
    ///
    /// # Errors
    /// [`NetError::Weights`] if they are beyond their bounds.
    pub fn new(header: Header, weights: Weights) -> Result<Self, NetError> {
        if !weights.hold() {
            return Err(NetError::Weights);
        }
        let mut net = Self { header, weights, checksum: 0 };
        net.checksum = super::checksum(&net.body());
        Ok(net)
    }

    pub fn header(&self) -> &Header {
        &self.header
    }

    /// Returns a number that identifies the net.
    pub fn checksum(&self) -> u64 {
        self.checksum
    }

    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// The net that comes with the engine, read at its first use. Its header describes the training.
    pub fn shipped() -> Option<Arc<Self>> {
        static READ: OnceLock<Option<Arc<Net>>> = OnceLock::new();
        READ.get_or_init(|| Self::from_own_bytes(SHIPPED).ok().map(Arc::new)).clone()
    }

    /// The value for the player to move in centipawns, without a memory.
    pub fn evaluate(&self, board: &Board) -> i32 {
        Accumulator::new(self).evaluate(self, board)
    }

    /// The output of a bucket for the first layers of the mover and the other player.
    fn output(&self, bucket: usize, [mover, other]: [&[Block]; 2]) -> i32 {
        let [of_mover, of_other] = [0, 1].map(|side| self.weights.output(bucket, side));
        let sum = (kernel::output(mover, of_mover) + kernel::output(other, of_other)) / i64::from(ONE);
        let value =
            (sum + i64::from(self.weights.output_bias[bucket])) * i64::from(CENTIPAWNS) / i64::from(ONE * OUTPUT_ONE);
        value.clamp(-LARGEST_VALUE, LARGEST_VALUE) as i32
    }
}

impl PartialEq for Net {
    /// Returns true if both give every position the same value.
    fn eq(&self, other: &Self) -> bool {
        self.checksum == other.checksum
    }
}

impl Eq for Net {}

/// The players, the one to move first.
fn players(board: &Board) -> [Color; 2] {
    [board.turn(), !board.turn()]
}

#[cfg(test)]
pub(crate) mod tests;
#[cfg(test)]
pub(crate) use tests::senseless;
