//! One mini-batch: its loss and its gradient, by several threads.
//!
//! A batch is cut into a fixed number of slices, each with a gradient of its own, which are added
//! in their order, so the result does not depend on the number of threads.

use std::{num::NonZeroUsize, thread};

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
    scale: f32,
    threads: NonZeroUsize,
}

impl Batch {
    /// Creates a batch for nets of a shape, with the unit of the sigmoid in centipawns.
    pub(super) fn new(shape: Shape, scale: f32, threads: NonZeroUsize) -> Self {
        let slice = |_| Slice { gradient: vec![0.0; shape.count()], pass: Pass::new(shape), loss: 0.0 };
        Self { slices: (0..SLICES).map(slice).collect(), scale, threads }
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
        let used = samples.len().div_ceil(per_slice);
        let (first, others) = self.slices[..used.max(1)].split_at_mut(1);
        let total = &mut first[0].gradient;
        let mut loss = first[0].loss;
        for other in others {
            loss += other.loss;
            for (sum, part) in total.iter_mut().zip(&other.gradient) {
                *sum += *part;
            }
        }
        let share = 1.0 / samples.len().max(1) as f32;
        for number in total.iter_mut() {
            *number *= share;
        }
        (loss * f64::from(share), total)
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
