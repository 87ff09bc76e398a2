//! Fits the weights of the evaluation to labelled positions.
//!
//! The tuned function is the played one: each position goes once through the engine's own evaluation with a trace, which
//! notes how often each weight counts. From then on its value is a weighted sum, `scaling` turns that into an expected
//! score by a sigmoid, and Adam (Kingma and Ba, 2015) makes the mean squared distance to the labels small. `scaling` is
//! fitted first, to the weights as they are, and then stays (Texel's method).
//!
//! The outcome depends on positions, starting weights and plan, not on the number of threads: a batch is always cut into
//! the same pieces, and their gradients are added in the same order.

mod positions;
mod state;
#[cfg(test)]
mod tests;

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    num::NonZeroUsize,
    panic,
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};

use engine::evaluation::{Packed, WEIGHTS, Weights};
use util::Failure;

use positions::{TaperedPair, TracedPosition, sigmoid};
use state::TuneState;

pub use positions::LabelledPositions;

/// Positions that make one step of the optimiser.
const BATCH: usize = 4096;
/// Positions a thread takes at a time.
const PIECE: usize = 256;
/// The fewest positions for a fit.
const FEWEST: usize = 10;
/// The decay of Adam's mean of the gradient.
const FIRST_DECAY: f64 = 0.9;
/// The decay of the mean of its square.
const SECOND_DECAY: f64 = 0.999;

#[derive(Clone, Debug)]
pub struct TunePlan {
    pub epochs: u32,
    /// The longest step of a weight at the start, centipawns; it falls to a twentieth by the last epoch.
    pub rate: f64,
    /// The pull of each weight to its start, times its distance in centipawns, in the gradient of a batch of 4096.
    pub pull: f64,
    pub threads: NonZeroUsize,
    pub seed: u64,
}

#[derive(Clone, Debug)]
pub struct TuneProgress {
    pub epoch: u32,
    /// Mean squared error of the expected score on the positions fitted to.
    pub training: f64,
    pub held_out: f64,
    /// The change of the logit of the expected score by a centipawn.
    pub scaling: f64,
    /// Time the rest will take, if it goes on so; unknown before the first epoch.
    pub left: Option<Duration>,
}

/// Fits all weights, beginning at `start`. With a `state` file it resumes from there and writes it
/// after every epoch; `stop` ends it within a batch and drops the unfinished epoch.
pub fn tune(
    positions: &LabelledPositions,
    start: &Weights,
    plan: &TunePlan,
    state: Option<&Path>,
    stop: &AtomicBool,
    mut progress: impl FnMut(&TuneProgress),
) -> Result<Weights, Failure> {
    if positions.len() < FEWEST {
        let count = positions.len();
        return Err(Failure::failed(format_args!("{count} positions are too few to fit to (at least {FEWEST})")));
    }
    let (training, held_out) = positions.split();
    let start = pairs(start);
    let fingerprint = fingerprint(positions, &start, plan);
    let loaded = state.map(|path| TuneState::load(path, fingerprint)).transpose()?.flatten();
    let mut fit = loaded.unwrap_or_else(|| begin(training, &start, fingerprint));
    let (began, first) = (Instant::now(), fit.epoch);
    loop {
        let TuneState { epoch, scaling, ref weights, .. } = fit;
        let done = epoch - first;
        progress(&TuneProgress {
            epoch,
            training: loss(training, weights, scaling, plan.threads),
            held_out: loss(held_out, weights, scaling, plan.threads),
            scaling,
            left: (done > 0)
                .then(|| began.elapsed().mul_f64(f64::from(plan.epochs.saturating_sub(epoch)) / f64::from(done))),
        });
        if epoch >= plan.epochs {
            return Ok(rounded(weights));
        }
        // A part of an epoch is not kept, so that going on gives the same as never having stopped.
        if !fit.run_epoch(training, plan, &start, stop) {
            let rest = match state {
                Some(_) => "the same command goes on from there",
                None => "without --state nothing is kept",
            };
            return Err(Failure::failed(format_args!("stopped after {epoch} epochs; {rest}")));
        }
        if let Some(path) = state {
            fit.save(path)?;
        }
    }
}

impl TuneState {
    /// Sees every position once, in an order of its own; `false` when stopped before the end.
    fn run_epoch(
        &mut self,
        samples: &[TracedPosition],
        plan: &TunePlan,
        start: &[TaperedPair],
        stop: &AtomicBool,
    ) -> bool {
        let mut order: Vec<&TracedPosition> = samples.iter().collect();
        order.shuffle(&mut StdRng::seed_from_u64(plan.seed ^ u64::from(self.epoch) << 32));
        let rate = plan.rate * (1.0 - 0.95 * f64::from(self.epoch) / f64::from(plan.epochs));
        for batch in order.chunks(BATCH) {
            if stop.load(Ordering::Relaxed) {
                return false;
            }
            let gradient = self.gradient(batch, plan, start);
            self.step(&gradient, rate);
        }
        self.epoch += 1;
        true
    }

    fn gradient(&self, batch: &[&TracedPosition], plan: &TunePlan, start: &[TaperedPair]) -> Vec<TaperedPair> {
        let Self { weights, scaling, .. } = self;
        let pieces: Vec<_> = batch.chunks(PIECE).collect();
        let sums = in_parallel(&pieces, plan.threads, |piece| {
            let mut gradient = vec![[0.0; 2]; Weights::COUNT];
            piece.iter().for_each(|sample| sample.add_gradient(weights, *scaling, &mut gradient));
            gradient
        });
        let pull = plan.pull * batch.len() as f64 / BATCH as f64;
        let pulled = weights.iter().zip(start).map(|(weight, start)| [0, 1].map(|i| pull * (weight[i] - start[i])));
        sums.iter().fold(pulled.collect(), |mut total: Vec<TaperedPair>, gradient| {
            for (sum, part) in total.iter_mut().flatten().zip(gradient.iter().flatten()) {
                *sum += part;
            }
            total
        })
    }

    fn step(&mut self, gradient: &[TaperedPair], rate: f64) {
        // Keeps weights that hardly ever count from long steps for the sake of a few positions.
        const FLOOR: f64 = 1e-4;
        let Self { steps, weights, first, second, .. } = self;
        *steps += 1;
        let (whole_first, whole_second) = (1.0 - FIRST_DECAY.powi(*steps), 1.0 - SECOND_DECAY.powi(*steps));
        let moments = first.iter_mut().flatten().zip(second.iter_mut().flatten());
        for ((weight, slope), (first, second)) in
            weights.iter_mut().flatten().zip(gradient.iter().flatten()).zip(moments)
        {
            *first = FIRST_DECAY * *first + (1.0 - FIRST_DECAY) * slope;
            *second = SECOND_DECAY * *second + (1.0 - SECOND_DECAY) * slope * slope;
            *weight -= rate * (*first / whole_first) / ((*second / whole_second).sqrt() + FLOOR);
        }
    }
}

fn begin(samples: &[TracedPosition], start: &[TaperedPair], fingerprint: u64) -> TuneState {
    let nothing = vec![[0.0; 2]; start.len()];
    TuneState {
        fingerprint,
        epoch: 0,
        steps: 0,
        scaling: fit_scaling(samples, start),
        weights: start.to_vec(),
        first: nothing.clone(),
        second: nothing,
    }
}

/// The scaling with the least loss, between 1/10000 and 1/10 a centipawn: a golden section search of its logarithm.
fn fit_scaling(samples: &[TracedPosition], weights: &[TaperedPair]) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_9;
    let values: Vec<_> = samples.iter().map(|sample| (sample.value(weights), sample.label)).collect();
    let loss = |logarithm: f64| -> f64 {
        values.iter().map(|(value, label)| (sigmoid(logarithm.exp() * value) - label).powi(2)).sum()
    };
    let (mut low, mut high) = (1e-4_f64.ln(), 0.1_f64.ln());
    while high - low > 1e-4 {
        let inner = (high - low) * GOLDEN;
        if loss(high - inner) < loss(low + inner) { high = low + inner } else { low = high - inner }
    }
    f64::midpoint(low, high).exp()
}

fn loss(samples: &[TracedPosition], weights: &[TaperedPair], scaling: f64, threads: NonZeroUsize) -> f64 {
    let pieces: Vec<_> = samples.chunks(PIECE).collect();
    let sums = in_parallel(&pieces, threads, |piece| -> f64 {
        piece.iter().map(|sample| (sigmoid(scaling * sample.value(weights)) - sample.label).powi(2)).sum()
    });
    sums.iter().sum::<f64>() / samples.len() as f64
}

/// Maps the items in parallel, in their order.
fn in_parallel<T: Sync, R: Send>(items: &[T], threads: NonZeroUsize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let share = items.len().div_ceil(threads.get()).max(1);
    let work = &work;
    thread::scope(|scope| {
        let shares = items.chunks(share).map(|share| scope.spawn(move || share.iter().map(work).collect::<Vec<_>>()));
        let workers: Vec<_> = shares.collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap_or_else(|panic| panic::resume_unwind(panic)))
            .collect()
    })
}

/// Returns a fingerprint of everything that a resumed fit must share with the one before. The rate of each epoch depends on their
/// number.
fn fingerprint(positions: &LabelledPositions, start: &[TaperedPair], plan: &TunePlan) -> u64 {
    let mut hasher = DefaultHasher::new();
    (positions.fingerprint, plan.epochs, plan.rate.to_bits(), plan.pull.to_bits(), plan.seed).hash(&mut hasher);
    start.iter().flatten().for_each(|value| value.to_bits().hash(&mut hasher));
    hasher.finish()
}

fn pairs(weights: &Weights) -> Vec<TaperedPair> {
    weights.as_slice().iter().map(|weight| [weight.middlegame(), weight.endgame()].map(f64::from)).collect()
}

fn rounded(pairs: &[TaperedPair]) -> Weights {
    let mut weights = WEIGHTS.clone();
    for (weight, pair) in weights.as_mut_slice().iter_mut().zip(pairs) {
        // Sums of many of them must fit sixteen bits.
        let [middlegame, endgame] = pair.map(|value| value.round().clamp(-2000.0, 2000.0) as i32);
        *weight = Packed::new(middlegame, endgame);
    }
    weights
}
