//! The loss of a net on positions of unseen games.

use engine::{Board, Net};

use super::Trained;
use crate::training::dataset::{Sample, sigmoid};

/// The phase of a game, by how many men are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameStage {
    /// More than 24 men.
    Opening,
    /// 13 to 24 men.
    Middlegame,
    /// At most 12 men.
    Endgame,
}

impl GameStage {
    pub const ALL: [Self; 3] = [Self::Opening, Self::Middlegame, Self::Endgame];

    const fn of(men: usize) -> Self {
        match men {
            25.. => Self::Opening,
            13.. => Self::Middlegame,
            _ => Self::Endgame,
        }
    }
}

/// Mean squared differences between what was expected and what should be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    pub all: f64,
    /// In the order of [`GameStage::ALL`].
    pub by_stage: [f64; 3],
    pub counts: [usize; 3],
    /// Loss of the base alone, over all positions.
    pub base: f64,
}

/// The losses of a net in floating point; `scale` is the unit of the sigmoid in centipawns.
pub fn validate(trained: &Trained, samples: &[Sample], scale: f32) -> Losses {
    losses(samples, scale, |sample| trained.value(&sample.record))
}

pub fn validate_net(net: &Net, samples: &[Sample], scale: f32) -> Losses {
    losses(samples, scale, |sample| {
        let board = sample.record.board().ok();
        board.map_or(0.0, |board: Board| net.evaluate(&board) as f32)
    })
}

fn losses(samples: &[Sample], scale: f32, value: impl Fn(&Sample) -> f32) -> Losses {
    let mut losses = Losses::default();
    let loss = |value: f32, target: f32| f64::from(sigmoid(value / scale) - target).powi(2);
    for sample in samples {
        let stage = GameStage::of(sample.record.count()) as usize;
        losses.by_stage[stage] += loss(sample.base + value(sample), sample.target);
        losses.counts[stage] += 1;
        losses.base += loss(sample.base, sample.target);
    }
    let count = samples.len().max(1) as f64;
    losses.all = losses.by_stage.iter().sum::<f64>() / count;
    losses.base /= count;
    for (sum, count) in losses.by_stage.iter_mut().zip(losses.counts) {
        *sum /= count.max(1) as f64;
    }
    losses
}
