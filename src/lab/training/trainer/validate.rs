//! The loss of a net on positions of unseen games.

use engine::Net;

use super::Trained;
use crate::training::dataset::{Sample, sigmoid};

/// The stage of a game by the men on the board: the opening with more than 24, the middlegame, and the endgame with at most 12.
const fn stage(men: usize) -> usize {
    match men {
        25.. => 0,
        13.. => 1,
        _ => 2,
    }
}

/// Mean squared differences between what was expected and what should be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    pub all: f64,
    /// Opening, middlegame and endgame.
    pub by_stage: [f64; 3],
    pub counts: [usize; 3],
}

/// The losses of a net in floating point; `scale` is the unit of the sigmoid in centipawns.
pub fn validate(trained: &Trained, samples: &[Sample], scale: f32) -> Losses {
    losses(samples, scale, |sample| trained.value(&sample.record))
}

pub fn validate_net(net: &Net, samples: &[Sample], scale: f32) -> Losses {
    losses(samples, scale, |sample| sample.record.board().map_or(0.0, |board| net.evaluate(&board) as f32))
}

fn losses(samples: &[Sample], scale: f32, value: impl Fn(&Sample) -> f32) -> Losses {
    let mut losses = Losses::default();
    let loss = |value: f32, target: f32| f64::from(sigmoid(value / scale) - target).powi(2);
    for sample in samples {
        let stage = stage(sample.record.count());
        losses.by_stage[stage] += loss(value(sample), sample.target);
        losses.counts[stage] += 1;
    }
    let count = samples.len().max(1) as f64;
    losses.all = losses.by_stage.iter().sum::<f64>() / count;
    for (sum, count) in losses.by_stage.iter_mut().zip(losses.counts) {
        *sum /= count.max(1) as f64;
    }
    losses
}
