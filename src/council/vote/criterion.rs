//! The criteria: the weight of each proposal, and of all proposals of one move together (docs/method.md §4).

use super::{
    CouncilSettings, HeuristicWeights,
    ballots::{Ballot, Ballots},
};
use crate::{CouncilGame, electors::ElectorSpec};
use domain::CriterionName;

/// Weight of a vote in `relative-1-democratic`: more than any gain short of mate.
const VOTE: f64 = 10_000.0;

/// Weight of a ply in `depth`: more than the legal moves of any usual position, so that a completed iteration outweighs an
/// unfinished one.
const ITERATION: u32 = 100;

/// The factor of a vote's weight in `score-margin` for every ply below the deepest vote. With a half or a quarter, a machine
/// 24 % of a move away made play weaker (docs/experiments.md, "Votes from afar").
const PER_PLY: f64 = 0.1;

/// A criterion with its settings, for any number of elections. Their `seed` decides ties, so that a run can be repeated.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    criterion: CriterionName,
    weights: HeuristicWeights,
    margin: f64,
}

impl Rule {
    /// Returns the criterion of the settings. Re-search leaves the election to its second phase; without one, weights decide.
    pub const fn of(settings: &CouncilSettings) -> Self {
        Self { criterion: settings.criterion, weights: settings.weights, margin: settings.margin }
    }

    /// Returns the weight of a proposal, comparable within one election.
    pub(super) fn weigh<L: CouncilGame>(&self, ballot: &Ballot<L>, ballots: &Ballots<L>) -> f64 {
        let proposal = ballot.proposal;
        let gain = || ballot.score() - f64::from(ballots.static_value(ballot.place));
        match self.criterion {
            CriterionName::Weights | CriterionName::MeanWeights | CriterionName::ReSearch => {
                self.hand_weight::<L>(ballot.elector)
            }
            CriterionName::Depth => f64::from(ITERATION * proposal.depth + proposal.root_moves_done),
            CriterionName::Relative1 => gain(),
            CriterionName::Relative1Democratic => VOTE + gain(),
            CriterionName::Relative2 => f64::from(ballots.gain_at_the_end(ballot)),
            CriterionName::Majority => 1.0,
            // Sugiyama, Obata, Hoki, Ito: Optimistic selection rule better than majority voting system, CG 2010.
            CriterionName::Optimistic => ballot.score(),
            CriterionName::ScoreMargin => self.margin_over_lowest(ballot, ballots),
        }
    }

    pub(super) fn total(&self, weights: &[f64]) -> f64 {
        match self.criterion {
            // The criterion elects a proposal and counts no votes.
            CriterionName::Optimistic => weights.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            _ => weights.iter().sum(),
        }
    }

    /// Returns true if the criterion compares scores, so that proven results precede it.
    pub(super) const fn is_guarded(&self) -> bool {
        matches!(self.criterion, CriterionName::Optimistic | CriterionName::ScoreMargin)
    }

    /// Returns the greatest possible weight of an elector's proposal, if it is known before the elector proposes.
    pub(super) fn most<L: CouncilGame>(&self, elector: &ElectorSpec<L::Kind>) -> Option<f64> {
        match self.criterion {
            CriterionName::Weights | CriterionName::MeanWeights | CriterionName::ReSearch => {
                Some(self.hand_weight::<L>(elector))
            }
            CriterionName::Majority => Some(1.0),
            _ => None,
        }
    }

    /// Returns the sum of the weights of the elector's heuristics, or in Tozzi's variant their mean. An external engine weighs as
    /// much as complete knowledge: its own is unknown. A weight in the settings precedes either.
    fn hand_weight<L: CouncilGame>(&self, elector: &ElectorSpec<L::Kind>) -> f64 {
        elector.weight.unwrap_or_else(|| {
            let weights = L::hand_weights(elector, &|heuristic| self.weights.of(heuristic));
            let sum: f64 = weights.iter().sum();
            if self.criterion == CriterionName::MeanWeights { sum / weights.len().max(1) as f64 } else { sum }
        })
    }

    /// Returns the score less the lowest score proposed, plus a constant, as among the threads of Stockfish's parallel search
    /// (constant: 14 of its own units). Among electors of equal evaluation, a deeper search knows better: each ply below the
    /// deepest of them divides a vote's weight by ten, so that only a far higher score elects it.
    fn margin_over_lowest<L: CouncilGame>(&self, ballot: &Ballot<L>, ballots: &Ballots<L>) -> f64 {
        let lowest = ballots.iter().map(|other| other.score()).fold(f64::INFINITY, f64::min);
        // A bound says too little about the value to weigh more than a bare vote.
        let margin = if ballot.is_exact() { ballot.score() - lowest } else { 0.0 };
        let alike = ballots.iter().filter(|other| other.elector.kind == ballot.elector.kind);
        let deepest = alike.map(|other| other.proposal.depth).max().unwrap_or(ballot.proposal.depth);
        (margin + self.margin) * PER_PLY.powi((deepest - ballot.proposal.depth).min(30) as i32)
    }
}

#[cfg(test)]
mod tests;
