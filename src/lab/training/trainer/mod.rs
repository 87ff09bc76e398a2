//! Trains a net: mini-batches, Adam, a rate that warms up and falls along a cosine, validation by games that were kept back.
//! The positions stream from disk, so a training of any size needs the same memory.
//!
//! A training depends on its plan and its data only, not on the threads; one that was ended goes on from its checkpoint to the
//! same bytes.

mod batch;
mod course;
mod model;
mod quantise;
mod state;
#[cfg(test)]
mod tests;
mod validate;

use std::{num::NonZeroUsize, path::Path, sync::Arc};

use engine::net::{Header, Net};
use util::Failure;

use crate::training::dataset::Dataset;
use batch::Batch;
use model::{Inputs, Pass, Shape};
use state::State;

pub use course::{Course, curve};
pub use quantise::quantise;
pub use validate::{Losses, validate, validate_net};

/// Steps between two checkpoints.
const CHECKPOINT: u64 = 2000;
/// The most steps in which the rate rises.
const LONGEST_WARM_UP: u64 = 1000;

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Numbers of the first layer, for each player: a multiple of [`BLOCK`](engine::net::BLOCK).
    pub width: usize,
    /// The seed of the first numbers and of the order of the positions.
    pub seed: u64,
    /// A net to go on from, as wide or narrower, in place of random numbers.
    pub start: Option<Arc<Net>>,
    pub epochs: u32,
    pub batch: usize,
    /// The highest rate, after the first fiftieth of the steps; the last one's is a hundredth of it.
    pub rate: f32,
    /// The decay of weights in a step, as a share of themselves and of the rate.
    pub decay: f32,
    /// Centipawns for which 73 % are expected.
    pub scale: f32,
}

impl Default for Plan {
    fn default() -> Self {
        let (width, start) = (128, None);
        Self { width, seed: 1, start, epochs: 20, batch: 8192, rate: 0.001, decay: 0.01, scale: 110.0 }
    }
}

impl Plan {
    /// Returns the facts that the numbers depend on, besides the data themselves.
    fn description(&self, dataset: &Dataset) -> String {
        let Self { width, seed, start, epochs, batch, rate, decay, scale } = self;
        let (positions, sum) = (dataset.positions, dataset.fingerprint);
        let start = start.as_ref().map_or_else(String::new, |net| format!(", from the net {:016x}", net.checksum()));
        format!(
            "{positions} positions {sum:016x}, width {width}, seed {seed}{start}, {epochs} epochs of batches \
             of {batch}, rate {rate}, decay {decay}, scale {scale}"
        )
    }

    /// The rate of a step: rising in the first steps, then along a cosine to a hundredth.
    fn rate(&self, step: u64, steps: u64) -> f32 {
        let warm = (steps / 50).min(LONGEST_WARM_UP);
        if step < warm {
            return self.rate * (step + 1) as f32 / (warm + 1) as f32;
        }
        let done = (step - warm) as f32 / (steps - warm).max(1) as f32;
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
    pub validation: Losses,
}

/// A trained net in floating point. [`quantise`] makes a [`Net`] of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    numbers: Vec<f32>,
    shape: Shape,
}

/// Trains a net. With a `checkpoint` file it resumes from there, and writes it every few steps, after every epoch and when
/// stopped: before the first step, in the order of their numbers, for which `stop` is true. Then there is no net. `on_epoch` is
/// called after every epoch.
pub fn train(
    plan: &Plan,
    dataset: &Dataset,
    threads: NonZeroUsize,
    checkpoint: Option<&Path>,
    stop: impl Fn(u64) -> bool,
    mut on_epoch: impl FnMut(&Epoch),
) -> Result<Option<Trained>, Failure> {
    let shape = Shape { width: plan.width };
    let description = plan.description(dataset);
    let before = checkpoint.map(|path| state::read(path, &description, shape.count())).transpose()?.flatten();
    let mut state = before.unwrap_or_else(|| {
        State::new(plan.start.as_ref().map_or_else(|| shape.initial(plan.seed), |net| shape.widened(net, plan.seed)))
    });
    let size = plan.batch.max(1);
    let per_epoch = dataset.positions.div_ceil(size as u64);
    let steps = per_epoch * u64::from(plan.epochs);
    let mut batch = Batch::new(shape, plan.scale, threads);
    let mut samples = Vec::with_capacity(size);
    while state.steps < steps {
        let (epoch, done) = (state.steps / per_epoch, state.steps % per_epoch);
        let mut pass = dataset.pass(plan.seed, epoch, done * size as u64);
        let (mut loss, mut trained) = (0.0, 0_u32);
        for _ in done..per_epoch {
            if stop(state.steps) {
                save(checkpoint, &state, &description)?;
                return Ok(None);
            }
            pass.fill(&mut samples, size)?;
            let (batch_loss, gradient) = batch.run(&state.numbers, &samples);
            let rate = plan.rate(state.steps, steps);
            state.step(gradient, shape, rate, plan.decay, threads);
            loss += batch_loss;
            trained += 1;
            if state.steps.is_multiple_of(CHECKPOINT) {
                save(checkpoint, &state, &description)?;
            }
        }
        save(checkpoint, &state, &description)?;
        let trained_so_far = Trained { numbers: state.numbers.clone(), shape };
        on_epoch(&Epoch {
            number: epoch as u32 + 1,
            steps: state.steps,
            rate: plan.rate(state.steps.saturating_sub(1), steps),
            training: loss / f64::from(trained.max(1)),
            validation: validate(&trained_so_far, &dataset.validation, plan.scale),
        });
    }
    Ok(Some(Trained { numbers: state.numbers, shape }))
}

fn save(path: Option<&Path>, state: &State, description: &str) -> Result<(), Failure> {
    path.map_or(Ok(()), |path| state::write(path, state, description))
}

impl Trained {
    /// The value of a position for the player to move, in centipawns, by the net alone.
    pub fn value(&self, record: &crate::training::Record) -> f32 {
        let mut pass = Pass::new(self.shape);
        pass.forward(&self.numbers, &Inputs::new(record));
        pass.value
    }

    /// Returns a header with the positions of this net and of the one it started from, without labels and command.
    pub fn header(&self, plan: &Plan, dataset: &Dataset) -> Header {
        let before = plan.start.as_ref().map_or(0, |net| net.header().positions);
        let positions = before + dataset.positions;
        Header { seed: plan.seed, positions, ..Header::default() }
    }
}
