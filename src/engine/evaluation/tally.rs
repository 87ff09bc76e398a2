//! Sums of weights, with an optional record of the weights used.

use super::{score::Packed, terms::Weights};
use crate::board::{Color, Square};

/// A recorder of the number of times each weight was counted. The tuner has one; play does not.
pub trait Trace {
    /// Weight `index` of the flat array counts `count` times for `color`.
    fn note(&mut self, index: usize, color: Color, count: i32);
}

/// No recorder: compiles to nothing.
pub(super) struct NoTrace;

impl Trace for NoTrace {
    #[inline(always)]
    fn note(&mut self, _: usize, _: Color, _: i32) {}
}

/// The sum of one heuristic for one side.
pub(super) struct Tally<'a, T> {
    weights: &'a Weights,
    color: Color,
    sum: Packed,
    trace: &'a mut T,
}

impl<'a, T: Trace> Tally<'a, T> {
    #[inline]
    pub(super) fn new(weights: &'a Weights, color: Color, trace: &'a mut T) -> Self {
        Self { weights, color, sum: Packed::ZERO, trace }
    }

    #[inline]
    pub(super) fn weights(&self) -> &'a Weights {
        self.weights
    }

    #[inline]
    pub(super) fn add(&mut self, weight: &Packed, count: usize) {
        self.sum += *weight * count as i32;
        self.trace.note(self.weights.index_of(weight), self.color, count as i32);
    }

    /// Counts a weight a positive or negative number of times.
    #[inline]
    pub(super) fn add_signed(&mut self, weight: &Packed, count: i32) {
        self.sum += *weight * count;
        self.trace.note(self.weights.index_of(weight), self.color, count);
    }

    /// Counts the entry of a table by square.
    #[inline]
    pub(super) fn add_square(&mut self, table: &'a [Packed; 32], square: Square) {
        self.add(&table[table_index(square, self.color)], 1);
    }

    #[inline]
    pub(super) fn sum(self) -> Packed {
        self.sum
    }
}

/// Tables by square are symmetric: relative rank times four plus the distance from the edge file.
#[inline]
fn table_index(square: Square, color: Color) -> usize {
    (square.rank_for(color) * 4 + square.file().min(7 - square.file())) & 31
}
