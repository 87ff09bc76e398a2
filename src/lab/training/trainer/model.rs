//! The net in floating point: its numbers, its value, and its gradient.
//!
//! Sums run in the order in which they are written here and nothing is fused, so equal trainings
//! give equal numbers on every machine whose `exp` is the same.

use engine::{
    board::{Color, Square},
    net::{
        BUCKETS, CENTIPAWNS, INPUTS, LARGEST_INPUT_WEIGHT, LARGEST_OUTPUT_WEIGHT, Net, ONE, OUTPUT_ONE, ROWS, View,
        bucket,
    },
};

use crate::training::{Record, SplitMix};

/// The layout of a net's numbers: the rows of its weights in their order, then the outputs' biases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    /// Numbers of the first layer, for each player.
    pub width: usize,
}

impl Shape {
    pub(super) const fn count(self) -> usize {
        self.output_bias() + BUCKETS
    }

    /// Returns the index of the first layer's bias.
    const fn bias(self) -> usize {
        INPUTS * self.width
    }

    /// Returns the index of a bucket's output for the mover (0) or the other player (1).
    const fn output(self, bucket: usize, side: usize) -> usize {
        (INPUTS + 1 + 2 * bucket + side) * self.width
    }

    pub(super) const fn output_bias(self) -> usize {
        ROWS * self.width
    }

    /// Returns the unit of a weight as an integer.
    pub(super) fn one(self, i: usize) -> f32 {
        match i {
            _ if i < self.output(0, 0) => ONE as f32,
            _ if i < self.output_bias() => OUTPUT_ONE as f32,
            _ => (ONE * OUTPUT_ONE) as f32,
        }
    }

    /// Returns the largest weight that an integer can hold.
    pub(super) fn largest(self, i: usize) -> f32 {
        match i {
            _ if i < self.output(0, 0) => f32::from(LARGEST_INPUT_WEIGHT) / self.one(i),
            _ if i < self.output_bias() => f32::from(LARGEST_OUTPUT_WEIGHT) / self.one(i),
            _ => f32::INFINITY,
        }
    }

    /// The numbers of a net to go on from, which is as wide or narrower: what it lacks is small and random in the first layer and
    /// counts nothing yet.
    pub(super) fn widened(self, net: &Net, seed: u64) -> Vec<f32> {
        let old = Self { width: net.weights().width() };
        let mut numbers = self.initial(seed);
        numbers[self.output(0, 0)..].fill(0.0);
        let known: Vec<f32> = net.weights().numbers().map(|weight| f32::from(*weight)).collect();
        for (row, known) in known.chunks_exact(old.width).enumerate() {
            for (i, weight) in known.iter().enumerate() {
                numbers[row * self.width + i] = weight / old.one(row * old.width);
            }
        }
        let biases = numbers[self.output_bias()..].iter_mut().zip(net.weights().output_bias);
        biases.for_each(|(number, bias)| *number = bias as f32 / old.one(old.output_bias()));
        numbers
    }

    /// Returns the initial numbers: small and random, and equal for the outputs of all buckets.
    pub(super) fn initial(self, seed: u64) -> Vec<f32> {
        let mut random = SplitMix::new(seed);
        let mut within = |most: f32| (2.0 * random.share() as f32 - 1.0) * most;
        let mut numbers: Vec<f32> = (0..self.output(1, 0))
            .map(|i| match i {
                _ if i < self.bias() => within(0.1),
                _ if i < self.output(0, 0) => 0.1 + within(0.1),
                _ => within(0.06),
            })
            .collect();
        for _ in 1..BUCKETS {
            numbers.extend_from_within(self.output(0, 0)..self.output(1, 0));
        }
        numbers.resize(self.count(), 0.0);
        numbers
    }

    fn row(self, numbers: &[f32], at: usize) -> &[f32] {
        &numbers[at..at + self.width]
    }
}

/// The inputs of a position: those of the player to move, then of the other.
#[derive(Clone, Default)]
pub(super) struct Inputs {
    sides: [[u16; 32]; 2],
    count: usize,
    bucket: usize,
}

impl Inputs {
    pub(super) fn new(record: &Record) -> Self {
        let mut kings = [Square::new(0); 2];
        for (piece, square) in record.men() {
            if piece.role() == engine::board::Role::King {
                kings[piece.color().index()] = square;
            }
        }
        let mut inputs = Self { bucket: bucket(record.count()), ..Self::default() };
        let views = Color::ALL.map(|player| View::new(player, kings[player.index()]));
        for (piece, square) in record.men() {
            let input = |player: Color| views[player.index()].input(piece, square) as u16;
            inputs.sides[0][inputs.count & 31] = input(record.turn());
            inputs.sides[1][inputs.count & 31] = input(!record.turn());
            inputs.count += 1;
        }
        inputs
    }

    fn side(&self, side: usize) -> &[u16] {
        &self.sides[side][..self.count.min(32)]
    }
}

/// Lanes that are summed apart and joined at the end.
const LANES: usize = 8;

/// The forward pass's results for the backward pass.
pub(super) struct Pass {
    shape: Shape,
    sums: [Vec<f32>; 2],
    change: Vec<f32>,
    /// Centipawns for the player to move.
    pub value: f32,
}

impl Pass {
    pub(super) fn new(shape: Shape) -> Self {
        let row = || vec![0.0; shape.width];
        Self { shape, sums: [row(), row()], change: row(), value: 0.0 }
    }

    #[inline(always)]
    pub(super) fn forward(&mut self, numbers: &[f32], inputs: &Inputs) {
        let shape = self.shape;
        let mut lanes = [0.0_f32; LANES];
        for (side, sum) in self.sums.iter_mut().enumerate() {
            sum.copy_from_slice(shape.row(numbers, shape.bias()));
            for input in inputs.side(side) {
                for (number, weight) in sum.iter_mut().zip(shape.row(numbers, usize::from(*input) * shape.width)) {
                    *number += *weight;
                }
            }
            let weights = shape.row(numbers, shape.output(inputs.bucket, side));
            for (sum, weights) in sum.as_chunks::<LANES>().0.iter().zip(weights.as_chunks::<LANES>().0) {
                for lane in 0..LANES {
                    let cut = sum[lane].clamp(0.0, 1.0);
                    lanes[lane] += cut * cut * weights[lane];
                }
            }
        }
        let sum = lanes.iter().sum::<f32>() + numbers[shape.output_bias() + inputs.bucket];
        self.value = sum * CENTIPAWNS as f32;
    }

    /// Adds to `gradient` what the loss changes by with every number, where it changes by `slope` with the value.
    #[inline(always)]
    pub(super) fn backward(&mut self, numbers: &[f32], inputs: &Inputs, slope: f32, gradient: &mut [f32]) {
        let shape = self.shape;
        let slope = slope * CENTIPAWNS as f32;
        gradient[shape.output_bias() + inputs.bucket] += slope;
        for (side, sum) in self.sums.iter().enumerate() {
            let at = shape.output(inputs.bucket, side);
            let own = gradient[at..at + shape.width].iter_mut().zip(shape.row(numbers, at));
            for ((own, weight), (sum, change)) in own.zip(sum.iter().zip(&mut self.change)) {
                let cut = sum.clamp(0.0, 1.0);
                *own += slope * cut * cut;
                let inside = if *sum > 0.0 && *sum < 1.0 { 2.0 * cut } else { 0.0 };
                *change = slope * weight * inside;
            }
            let begins = inputs.side(side).iter().map(|input| usize::from(*input) * shape.width);
            for begin in begins.chain([shape.bias()]) {
                for (number, change) in gradient[begin..begin + shape.width].iter_mut().zip(&self.change) {
                    *number += *change;
                }
            }
        }
    }
}
