//! A linear function of what is known about each proposal. Its weights come from the lab.

use super::{Ballot, Ballots, Criterion, calibrated::Calibrated, highest, weights::HandWeights};
use crate::{
    CouncilGame,
    council::{CouncilSettings, FEATURES},
};

/// The highest sum of weighted features is elected.
pub(super) struct Learned {
    weights: [f64; FEATURES.len()],
    reader: FeatureReader,
}

/// What it takes to read features from ballots.
struct FeatureReader {
    weights: HandWeights,
    calibrated: Calibrated,
}

impl Learned {
    pub(super) fn new(settings: &CouncilSettings) -> Self {
        Self { weights: settings.model.learned(), reader: FeatureReader::new(settings) }
    }
}

impl<L: CouncilGame> Criterion<L> for Learned {
    fn weigh(&self, ballot: &Ballot<L>, ballots: &Ballots<L>) -> f64 {
        self.reader.features(ballot, ballots).iter().zip(&self.weights).map(|(feature, weight)| feature * weight).sum()
    }

    fn total(&self, weights: &[f64]) -> f64 {
        highest(weights)
    }

    fn is_guarded(&self) -> bool {
        true
    }
}

/// The features of every proposal, by the elector's place in the roster.
pub(crate) fn features<L: CouncilGame>(
    settings: &CouncilSettings,
    ballots: &Ballots<L>,
) -> Vec<(usize, [f64; FEATURES.len()])> {
    let reader = FeatureReader::new(settings);
    ballots.iter().map(|ballot| (ballot.place, reader.features(&ballot, ballots))).collect()
}

impl FeatureReader {
    fn new(settings: &CouncilSettings) -> Self {
        Self {
            weights: HandWeights { weights: settings.weights, mean: false },
            calibrated: Calibrated::new(&settings.model),
        }
    }

    fn features<L: CouncilGame>(&self, ballot: &Ballot<L>, ballots: &Ballots<L>) -> [f64; FEATURES.len()] {
        let best = ballot.proposal.best;
        let score = ballot.score();
        let count = ballots.len().max(1) as f64;
        let mean = ballots.iter().map(|other| other.score()).sum::<f64>() / count;
        let deepest = ballots.iter().map(|other| other.proposal.depth).max().unwrap_or_default();
        let behind = f64::from(deepest - ballot.proposal.depth) / 10.0;
        let pawns = |centipawns: f64| (centipawns / 100.0).clamp(-3.0, 3.0);
        [
            ballots.backers(best) as f64 / count,
            self.weight_behind(best, ballots),
            pawns(score - ballots.highest_score()),
            pawns(score - mean),
            pawns(score - f64::from(ballots.static_value(ballot.place))),
            self.calibrated.expectation(ballot),
            behind.min(3.0),
            L::knowledge_share(ballot.elector),
            f64::from(u8::from(complete_proposes(best, ballots))),
        ]
    }

    fn weight_behind<L: CouncilGame>(&self, best: L::Move, ballots: &Ballots<L>) -> f64 {
        let sum = |only: Option<L::Move>| -> f64 {
            let counts = |ballot: &Ballot<L>| only.is_none_or(|only| only == ballot.proposal.best);
            ballots.iter().filter(counts).map(|ballot| self.weights.of::<L>(ballot.elector)).sum()
        };
        sum(Some(best)) / sum(None).max(f64::MIN_POSITIVE)
    }
}

fn complete_proposes<L: CouncilGame>(best: L::Move, ballots: &Ballots<L>) -> bool {
    ballots.iter().any(|ballot| ballot.proposal.best == best && L::knowledge_share(ballot.elector) >= 1.0)
}
