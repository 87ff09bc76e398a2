//! One mini-batch: its loss and its gradient, by several threads.
//!
//! A batch is cut into a fixed number of slices, each with a gradient of its own, which are added
//! in their order, so the result does not depend on the number of threads.

use std::{num::NonZeroUsize, thread};

use engine::net::{INPUTS, KING_BUCKETS};

use super::model::{Inputs, Pass, Shape};
use crate::training::dataset::{Sample, sigmoid};

const SLICES: usize = 8;

struct Slice {
    gradient: Vec<f32>,
    pass: Pass,
    loss: f64,
}

/// Gradients of a batch, kept from one to the next.
pub(super) struct Batch {
    slices: Vec<Slice>,
    shape: Shape,
    scale: f32,
    threads: NonZeroUsize,
}

impl Batch {
    /// Creates a batch for nets of a shape, with the unit of the sigmoid in centipawns.
    pub(super) fn new(shape: Shape, scale: f32, threads: NonZeroUsize) -> Self {
        let slice = |_| Slice { gradient: vec![0.0; shape.count()], pass: Pass::new(shape), loss: 0.0 };
        Self { slices: (0..SLICES).map(slice).collect(), shape, scale, threads }
    }

    /// The mean loss of the samples, and its gradient in the first slice.
    pub(super) fn run(&mut self, numbers: &[f32], samples: &[Sample]) -> (f64, &[f32]) {
        let scale = self.scale;
        let per_slice = samples.len().div_ceil(SLICES).max(1);
        let mut work: Vec<(&mut Slice, &[Sample])> = self.slices.iter_mut().zip(samples.chunks(per_slice)).collect();
        let per_thread = work.len().div_ceil(self.threads.get()).max(1);
        thread::scope(|scope| {
            for part in work.chunks_mut(per_thread) {
                scope.spawn(move || {
                    for (slice, samples) in part {
                        slice.run(numbers, samples, scale);
                    }
                });
            }
        });
        let used = samples.len().div_ceil(per_slice).max(1);
        let (first, others) = self.slices[..used].split_at_mut(1);
        let loss = first[0].loss + others.iter().map(|slice| slice.loss).sum::<f64>();
        let total = &mut first[0].gradient;
        let share = 1.0 / samples.len().max(1) as f32;
        let part = total.len().div_ceil(self.threads.get());
        thread::scope(|scope| {
            for (i, total) in total.chunks_mut(part).enumerate() {
                let parts = others.iter().map(move |slice| &slice.gradient[i * part..]);
                scope.spawn(move || join(total, parts, share));
            }
        });
        share_among_kings(&mut total[..INPUTS * self.shape.width]);
        (loss * f64::from(share), total)
    }
}

/// Adds the parts to `total` and multiplies it by `share`.
fn join<'a>(total: &mut [f32], parts: impl Iterator<Item = &'a [f32]>, share: f32) {
    for part in parts {
        total.iter_mut().zip(part).for_each(|(sum, number)| *sum += number);
    }
    total.iter_mut().for_each(|number| *number *= share);
}

/// Adds to the gradient of an input that of the same man in all king buckets together: what is learned in one holds in
/// the others too, until they are told otherwise. (The factoriser of other trainers has numbers of its own for it.)
fn share_among_kings(gradient: &mut [f32]) {
    let bucket = gradient.len() / KING_BUCKETS;
    let mut sum = vec![0.0; bucket];
    for part in gradient.chunks_exact(bucket) {
        sum.iter_mut().zip(part).for_each(|(sum, number)| *sum += number);
    }
    for part in gradient.chunks_exact_mut(bucket) {
        part.iter_mut().zip(&sum).for_each(|(number, sum)| *number += sum);
    }
}

impl Slice {
    fn run(&mut self, numbers: &[f32], samples: &[Sample], scale: f32) {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512f") {
                // SAFETY: the processor has AVX-512, the function's only requirement.
                return unsafe { self.run_avx512(numbers, samples, scale) };
            }
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2, the function's only requirement.
                return unsafe { self.run_avx2(numbers, samples, scale) };
            }
        }
        self.run_plain(numbers, samples, scale);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f")]
    fn run_avx512(&mut self, numbers: &[f32], samples: &[Sample], scale: f32) {
        self.run_plain(numbers, samples, scale);
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn run_avx2(&mut self, numbers: &[f32], samples: &[Sample], scale: f32) {
        self.run_plain(numbers, samples, scale);
    }

    #[inline(always)]
    fn run_plain(&mut self, numbers: &[f32], samples: &[Sample], scale: f32) {
        self.gradient.fill(0.0);
        self.loss = 0.0;
        for sample in samples {
            let inputs = Inputs::new(&sample.record);
            self.pass.forward(numbers, &inputs);
            let expected = sigmoid(self.pass.value / scale);
            let error = expected - sample.target;
            self.loss += f64::from(error * error);
            let slope = 2.0 * error * expected * (1.0 - expected) / scale;
            self.pass.backward(numbers, &inputs, slope, &mut self.gradient);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn king_buckets_share_what_they_learn() {
        let mut gradient = vec![0.0; 2 * KING_BUCKETS];
        (gradient[1], gradient[3]) = (1.0, 0.5);
        share_among_kings(&mut gradient);
        assert_eq!(gradient[..4], [0.0, 2.5, 0.0, 2.0], "its own and the sum");
        assert!(gradient[4..].chunks(2).all(|bucket| bucket == [0.0, 1.5]), "the sum");
    }
}
