//! Trains a net: mini-batches, Adam, a rate that falls along a cosine, validation by games that were kept back.
//!
//! A training depends on its plan and its data only, not on the threads; one that was ended goes on from its checkpoint to the
//! same bytes.

mod adam;
mod batch;
mod checkpoint;
mod course;
mod curve;
mod model;
mod quantise;
#[cfg(test)]
mod tests;
mod validate;

use std::{
    num::NonZeroUsize,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use engine::net::{Header, Mask, Net};

use crate::training::{
    SplitMix,
    dataset::{Dataset, Sample},
};
use adam::State;
use batch::Batch;
use model::{Inputs, Pass, Shape};

pub use checkpoint::CheckpointError;
pub use course::Course;
pub use curve::curve;
pub use quantise::{QuantisationError, Quantised, quantise};
pub use validate::{GameStage, Losses, validate, validate_net};

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// The part of the board that the net sees.
    pub mask: Mask,
    /// Numbers of its first layer, for each player: a multiple of [`BLOCK`](engine::net::BLOCK).
    pub width: usize,
    /// The seed of the first numbers and of the order of the positions.
    pub seed: u64,
    /// A net to go on from, as wide or narrower, in place of random numbers.
    pub start: Option<Arc<Net>>,
    pub epochs: u32,
    /// Positions of a step.
    pub batch: usize,
    /// The rate of the first step; the last one's is a hundredth of it.
    pub rate: f32,
    /// The decay of weights in a step, as a share of themselves and of the rate.
    pub decay: f32,
    /// Centipawns for which 73 % are expected.
    pub scale: f32,
}

impl Default for Plan {
    fn default() -> Self {
        let (mask, width, start) = (Mask::ALL, 128, None);
        Self { mask, width, seed: 1, start, epochs: 20, batch: 8192, rate: 0.001, decay: 0.01, scale: 200.0 }
    }
}

impl Plan {
    /// Returns the facts that the numbers depend on, besides the data themselves.
    fn description(&self, dataset: &Dataset) -> String {
        let Self { mask, width, seed, start, epochs, batch, rate, decay, scale } = self;
        let sum = dataset.training.iter().fold(0_u64, |sum, sample| {
            crate::training::random::mix(
                sum ^ sample.record.key() ^ u64::from(sample.target.to_bits()) << 32 ^ u64::from(sample.base.to_bits()),
            )
        });
        let positions = dataset.training.len();
        let start = start.as_ref().map_or_else(String::new, |net| format!(", from the net {:016x}", net.checksum()));
        format!(
            "{positions} positions {sum:016x}, mask {mask}, width {width}, seed {seed}{start}, {epochs} epochs of batches \
             of {batch}, rate {rate}, decay {decay}, scale {scale}"
        )
    }

    fn shape(&self) -> Shape {
        Shape { width: self.width }
    }

    fn first_numbers(&self) -> Vec<f32> {
        let start = self.start.as_ref();
        start.map_or_else(|| self.shape().initial(self.seed), |net| self.shape().widened(net, self.seed))
    }

    /// The rate of a step: along a cosine from the first to a hundredth.
    fn rate(&self, step: u64, steps: u64) -> f32 {
        let done = step as f32 / steps.max(1) as f32;
        let fallen = (1.0 - (std::f32::consts::PI * done).cos()) / 2.0;
        self.rate * (1.0 - 0.99 * fallen)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Epoch {
    pub number: u32,
    pub steps: u64,
    pub rate: f32,
    /// Mean loss over the epoch's batches as they were trained, since the start of the program.
    pub training: f64,
    /// Mean losses over the positions kept back.
    pub validation: Losses,
}

#[derive(Debug)]
pub enum TrainingOutcome {
    Finished(Trained),
    /// Stopped early; the checkpoint, if one was named, has everything.
    Stopped {
        steps: u64,
    },
}

/// A trained net in floating point. [`quantise`] makes a [`Net`] of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    numbers: Vec<f32>,
    shape: Shape,
    pub mask: Mask,
}

/// Trains a net. With a `checkpoint` file it resumes from there, and writes it after every epoch
/// and when stopped. `on_epoch` is called after every epoch.
pub fn train(
    plan: &Plan,
    dataset: &Dataset,
    threads: NonZeroUsize,
    checkpoint: Option<&Path>,
    stop: &AtomicBool,
    mut on_epoch: impl FnMut(&Epoch),
) -> Result<TrainingOutcome, CheckpointError> {
    let shape = plan.shape();
    let description = plan.description(dataset);
    let before = checkpoint.map(|path| checkpoint::read(path, &description, shape.count())).transpose()?.flatten();
    let mut state = before.unwrap_or_else(|| State::new(plan.first_numbers()));
    let samples: &[Sample] = &dataset.training;
    let size = plan.batch.max(1);
    let per_epoch = samples.len().div_ceil(size) as u64;
    let steps = per_epoch * u64::from(plan.epochs);
    let mut batch = Batch::new(shape, plan.mask, plan.scale, threads);
    while state.steps < steps {
        let epoch = state.steps / per_epoch;
        let order = order(samples.len(), plan.seed, epoch);
        let (mut loss, mut trained) = (0.0, 0_u32);
        for indices in order.chunks(size).skip((state.steps % per_epoch) as usize) {
            if stop.load(Relaxed) {
                save(checkpoint, &state, &description)?;
                return Ok(TrainingOutcome::Stopped { steps: state.steps });
            }
            let (batch_loss, gradient) = batch.run(&state.numbers, samples, indices);
            let rate = plan.rate(state.steps, steps);
            state.step(gradient, shape, rate, plan.decay);
            loss += batch_loss;
            trained += 1;
        }
        save(checkpoint, &state, &description)?;
        let trained_so_far = Trained { numbers: state.numbers.clone(), shape, mask: plan.mask };
        on_epoch(&Epoch {
            number: epoch as u32 + 1,
            steps: state.steps,
            rate: plan.rate(state.steps.saturating_sub(1), steps),
            training: loss / f64::from(trained.max(1)),
            validation: validate(&trained_so_far, &dataset.validation, plan.scale),
        });
    }
    Ok(TrainingOutcome::Finished(Trained { numbers: state.numbers, shape, mask: plan.mask }))
}

fn order(count: usize, seed: u64, epoch: u64) -> Vec<u32> {
    let mut order: Vec<u32> = (0..count as u32).collect();
    SplitMix::new(crate::training::random::mix(seed) ^ epoch).shuffle(&mut order);
    order
}

fn save(path: Option<&Path>, state: &State, description: &str) -> Result<(), CheckpointError> {
    path.map_or(Ok(()), |path| checkpoint::write(path, state, description))
}

impl Trained {
    /// The value of a position for the player to move, in centipawns, without the base.
    pub fn value(&self, record: &crate::training::Record) -> f32 {
        let mut pass = Pass::new(self.shape);
        pass.forward(&self.numbers, &Inputs::new(record, self.mask));
        pass.value
    }

    /// Returns a header for the net of this training, counting the positions of the net that it
    /// started from; the caller adds base and command.
    pub fn header(&self, plan: &Plan, dataset: &Dataset) -> Header {
        let before = plan.start.as_ref().map_or(0, |net| net.header().positions);
        let positions = before + dataset.training.len() as u64;
        Header { mask: self.mask, seed: plan.seed, positions, ..Header::default() }
    }
}
