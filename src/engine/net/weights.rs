//! The numbers of a net: rows as wide as its first layer, in the order in which files and trainings have them.
//!
//! A row for every input, added to the first layer; one for the layer's start; then, bucket by bucket, the output's weights of
//! the mover's layer and of the other player's.

use super::{BUCKETS, INPUTS, KING_BUCKETS, MEN};
use crate::pages::{Pages, Zero};

/// Numbers that are computed with together; widths are multiples of it.
pub const BLOCK: usize = 128;
/// The largest width of a first layer.
pub const LARGEST_WIDTH: usize = 1024;
pub const ROWS: usize = INPUTS + 1 + 2 * BUCKETS;
/// The largest weight or bias of the first layer, so that 32 men and a bias fit 16 bits.
pub const LARGEST_INPUT_WEIGHT: i16 = 990;
/// The largest weight of the output, so that times [`ONE`](super::ONE) it fits 16 bits and the sum
/// of a block 32.
pub const LARGEST_OUTPUT_WEIGHT: i16 = 127;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C, align(64))]
pub(super) struct Block(pub(super) [i16; BLOCK]);

// SAFETY: integers, of which zero is one.
unsafe impl Zero for Block {}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Weights {
    /// All rows, one after the other.
    blocks: Pages<Block>,
    /// The initial value of each bucket's output, in units of [`ONE`](super::ONE) times
    /// [`OUTPUT_ONE`](super::OUTPUT_ONE).
    pub output_bias: [i32; BUCKETS],
}

impl Weights {
    /// Creates an all-zero net; `None` if the width is not allowed.
    pub fn zero(width: usize) -> Option<Self> {
        let blocks = Self::is_width(width).then(|| Pages::zeroed(ROWS * width / BLOCK))?;
        Some(Self { blocks, output_bias: [0; BUCKETS] })
    }

    /// Returns true if a first layer may have this width.
    pub const fn is_width(width: usize) -> bool {
        width > 0 && width <= LARGEST_WIDTH && width.is_multiple_of(BLOCK)
    }

    /// Numbers of the first layer, for each player.
    pub fn width(&self) -> usize {
        self.blocks_of(1) * BLOCK
    }

    #[inline]
    fn blocks_of(&self, rows: usize) -> usize {
        self.blocks.len() / ROWS * rows
    }

    /// A row by its place, 0 to [`ROWS`] - 1.
    #[inline]
    fn row(&self, place: usize) -> &[Block] {
        &self.blocks[self.blocks_of(place)..][..self.blocks_of(1)]
    }

    #[inline]
    pub(super) fn inputs(&self) -> &[Block] {
        &self.blocks[..self.blocks_of(INPUTS)]
    }

    pub(super) fn bias(&self) -> &[Block] {
        self.row(INPUTS)
    }

    /// Returns the weights of the mover's first layer (0) or the other player's (1) for the output
    /// of a bucket.
    #[inline]
    pub(super) fn output(&self, bucket: usize, side: usize) -> &[Block] {
        self.row(INPUTS + 1 + 2 * bucket + side)
    }

    /// Iterates over all numbers except the outputs' biases, row by row.
    pub fn numbers(&self) -> impl Iterator<Item = &i16> {
        self.blocks.iter().flat_map(|block| &block.0)
    }

    /// Iterates over the same numbers, mutably.
    pub fn numbers_mut(&mut self) -> impl Iterator<Item = &mut i16> {
        self.blocks.iter_mut().flat_map(|block| &mut block.0)
    }

    /// Gives the inputs of every king bucket the weights of the first.
    pub(super) fn repeat_first_inputs(&mut self) {
        let one = self.blocks_of(MEN);
        for bucket in 1..KING_BUCKETS {
            self.blocks.copy_within(..one, bucket * one);
        }
    }

    pub(super) fn repeat_first_output(&mut self) {
        let (begin, two_rows) = (self.blocks_of(INPUTS + 1), self.blocks_of(2));
        let (first, others) = self.blocks[begin..].split_at_mut(two_rows);
        others.chunks_exact_mut(two_rows).for_each(|other| other.copy_from_slice(first));
        self.output_bias = [self.output_bias[0]; BUCKETS];
    }

    /// Returns true if all numbers are within their bounds.
    pub(super) fn hold(&self) -> bool {
        let (layer, output) = self.blocks.split_at(self.blocks_of(INPUTS + 1));
        let within = |blocks: &[Block], most: i16| {
            blocks.iter().flat_map(|block| &block.0).all(|weight| weight.unsigned_abs() <= most.unsigned_abs())
        };
        within(layer, LARGEST_INPUT_WEIGHT)
            && within(output, LARGEST_OUTPUT_WEIGHT)
            && self.output_bias.iter().all(|bias| bias.unsigned_abs() < 1 << 24)
    }
}
