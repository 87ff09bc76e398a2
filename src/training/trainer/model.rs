//! The net in floating point: its numbers, its value, and how the value changes with them.
//!
//! Sums run in the order in which they are written here and nothing is fused, so equal trainings give equal numbers on every
//! machine whose `exp` is the same.

use engine::{
    board::{Color, Square},
    net::{
        BUCKETS, CENTIPAWNS, INPUTS, LARGEST_INPUT_WEIGHT, LARGEST_OUTPUT_WEIGHT, Mask, Net, ONE, OUTPUT_ONE, WIDTH,
        bucket, feature, is_mirrored,
    },
};

use crate::{Record, SplitMix};

/// Where the parts of the numbers begin.
pub(super) const BIAS: usize = INPUTS * WIDTH;
pub(super) const OUTPUT: usize = BIAS + WIDTH;
pub(super) const OUTPUT_BIAS: usize = OUTPUT + BUCKETS * 2 * WIDTH;
/// How many numbers there are.
pub(super) const COUNT: usize = OUTPUT_BIAS + BUCKETS;

/// Where the output of a bucket begins for the mover (0) or the other player (1).
pub(super) const fn output(bucket: usize, side: usize) -> usize {
    OUTPUT + (2 * bucket + side) * WIDTH
}

/// What a weight is counted in where it is a whole number.
pub(super) fn one(i: usize) -> f32 {
    match i {
        0..OUTPUT => ONE as f32,
        OUTPUT..OUTPUT_BIAS => OUTPUT_ONE as f32,
        _ => (ONE * OUTPUT_ONE) as f32,
    }
}

/// No weight is larger than what can be written in whole numbers.
pub(super) fn largest(i: usize) -> f32 {
    match i {
        0..OUTPUT => f32::from(LARGEST_INPUT_WEIGHT) / one(i),
        OUTPUT..OUTPUT_BIAS => f32::from(LARGEST_OUTPUT_WEIGHT) / one(i),
        _ => f32::INFINITY,
    }
}

/// The numbers of a net, to go on from.
pub(super) fn numbers_of(net: &Net) -> Vec<f32> {
    let weights = net.weights();
    let rows = weights.input.iter().chain([&weights.bias]).chain(weights.output.as_flattened());
    let whole = rows.flatten().map(|weight| f32::from(*weight)).chain(weights.output_bias.map(|bias| bias as f32));
    whole.enumerate().map(|(i, number)| number / one(i)).collect()
}

/// Numbers to begin with: small and random, and the same for the output of every bucket: what they are to tell apart, they learn.
pub(super) fn initial(seed: u64) -> Vec<f32> {
    let mut random = SplitMix::new(seed);
    let mut within = |most: f32| (2.0 * random.share() as f32 - 1.0) * most;
    let mut numbers: Vec<f32> = (0..output(1, 0))
        .map(|i| match i {
            0..BIAS => within(0.1),
            BIAS..OUTPUT => 0.1 + within(0.1),
            _ => within(0.06),
        })
        .collect();
    for _ in 1..BUCKETS {
        numbers.extend_from_within(OUTPUT..output(1, 0));
    }
    numbers.resize(COUNT, 0.0);
    numbers
}

/// The inputs of a position: those of the player to move, then of the other.
#[derive(Clone, Default)]
pub(super) struct Inputs {
    sides: [[u16; 32]; 2],
    count: usize,
    bucket: usize,
}

impl Inputs {
    /// Of what `mask` lets be seen.
    pub(super) fn new(record: &Record, mask: Mask) -> Self {
        let mut kings = [Square::new(0); 2];
        for (piece, square) in record.men() {
            if piece.role() == engine::board::Role::King {
                kings[piece.color().index()] = square;
            }
        }
        let mut inputs = Self { bucket: bucket(record.count()), ..Self::default() };
        let seen = mask.squares(kings);
        let mirrored = kings.map(is_mirrored);
        for (piece, square) in record.men().filter(|(piece, square)| mask.has(piece.role()) && seen.has(*square)) {
            let input = |player: Color| feature(player, mirrored[player.index()], piece, square) as u16;
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

type DenseLayer = [f32; WIDTH];

/// Lanes that are summed apart and joined at the end.
const LANES: usize = 8;

/// What the forward pass leaves for the backward pass.
pub(super) struct Pass {
    sums: [DenseLayer; 2],
    /// Centipawns for the player to move.
    pub value: f32,
}

fn row(numbers: &[f32], at: usize) -> &[f32] {
    &numbers[at..at + WIDTH]
}

/// The value of a position.
#[inline(always)]
pub(super) fn forward(numbers: &[f32], inputs: &Inputs) -> Pass {
    let mut sums = [[0.0; WIDTH]; 2];
    let mut lanes = [0.0_f32; LANES];
    for (side, sum) in sums.iter_mut().enumerate() {
        sum.copy_from_slice(row(numbers, BIAS));
        for input in inputs.side(side) {
            for (number, weight) in sum.iter_mut().zip(row(numbers, usize::from(*input) * WIDTH)) {
                *number += *weight;
            }
        }
        let weights = row(numbers, output(inputs.bucket, side));
        for (sum, weights) in sum.as_chunks::<LANES>().0.iter().zip(weights.as_chunks::<LANES>().0) {
            for lane in 0..LANES {
                let cut = sum[lane].clamp(0.0, 1.0);
                lanes[lane] += cut * cut * weights[lane];
            }
        }
    }
    let sum = lanes.iter().sum::<f32>() + numbers[OUTPUT_BIAS + inputs.bucket];
    Pass { sums, value: sum * CENTIPAWNS as f32 }
}

/// Adds to `gradient` what the loss changes by with every number, where it changes by `slope` with the value.
#[inline(always)]
pub(super) fn backward(numbers: &[f32], inputs: &Inputs, pass: &Pass, slope: f32, gradient: &mut [f32]) {
    let slope = slope * CENTIPAWNS as f32;
    gradient[OUTPUT_BIAS + inputs.bucket] += slope;
    for (side, sum) in pass.sums.iter().enumerate() {
        let mut change = [0.0; WIDTH];
        let weights = row(numbers, output(inputs.bucket, side));
        let own = &mut gradient[output(inputs.bucket, side)..][..WIDTH];
        for i in 0..WIDTH {
            let cut = sum[i].clamp(0.0, 1.0);
            own[i] += slope * cut * cut;
            let inside = if sum[i] > 0.0 && sum[i] < 1.0 { 2.0 * cut } else { 0.0 };
            change[i] = slope * weights[i] * inside;
        }
        let begins = inputs.side(side).iter().map(|input| usize::from(*input) * WIDTH).chain([BIAS]);
        for begin in begins {
            for (number, change) in gradient[begin..begin + WIDTH].iter_mut().zip(&change) {
                *number += *change;
            }
        }
    }
}
