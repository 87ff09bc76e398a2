//! The rules of election and the ways of a second phase, by the names that settings, votes and records write.

use serde::{Deserialize, Serialize};

/// A rule of election: docs/method.md §4, and what was found since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CriterionName {
    /// The sum of the weights of the heuristics that propose a move.
    Weights,
    /// The mean of the weights of an elector's heuristics instead of their sum: Tozzi's variant.
    MeanWeights,
    /// Depth, then completed root moves.
    Depth,
    /// The gain over the proposer's own static value of the position.
    #[serde(rename = "relative-1")]
    Relative1,
    /// A majority; ties are broken by that gain.
    #[serde(rename = "relative-1-democratic")]
    Relative1Democratic,
    /// The gain at the end of the proposed line, as all electors evaluate it.
    #[serde(rename = "relative-2")]
    Relative2,
    /// A second search of the proposed moves by complete knowledge.
    ReSearch,
    /// A majority: the baseline.
    Majority,
    Optimistic,
    /// Score less the lowest one, plus a constant, summed.
    #[default]
    ScoreMargin,
    /// The highest probability of winning, by each elector's own map from scores.
    Calibrated,
    /// A linear function of features of a proposal, with fitted weights.
    Learned,
    /// The vote of each elector weighs what its knowledge is worth in this class of position.
    Routing,
}

impl CriterionName {
    /// All criteria, in the order of the documentation.
    pub const ALL: [Self; 13] = [
        Self::Weights,
        Self::MeanWeights,
        Self::Depth,
        Self::Relative1,
        Self::Relative1Democratic,
        Self::Relative2,
        Self::ReSearch,
        Self::Majority,
        Self::Optimistic,
        Self::ScoreMargin,
        Self::Calibrated,
        Self::Learned,
        Self::Routing,
    ];

    /// The name as it is written in the settings and in the vote.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::MeanWeights => "mean-weights",
            Self::Depth => "depth",
            Self::Relative1 => "relative-1",
            Self::Relative1Democratic => "relative-1-democratic",
            Self::Relative2 => "relative-2",
            Self::ReSearch => "re-search",
            Self::Majority => "majority",
            Self::Optimistic => "optimistic",
            Self::ScoreMargin => "score-margin",
            Self::Calibrated => "calibrated",
            Self::Learned => "learned",
            Self::Routing => "routing",
        }
    }
}

/// Uses of the cores in the second phase (docs/method.md §7, and two later ways).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SecondPhaseMode {
    Sequential,
    Static,
    /// Every process takes a move, several may share one; the deepest score of a move counts.
    Peer,
    /// As `Peer`, and the best score found so far sets the aspiration window of all.
    PeerScore,
    /// Down the principal variation, then the siblings of each of its nodes as jobs, level by level on the way up.
    PvSplit,
    #[default]
    Shared,
    /// The complete instance never stops: proposals only order and extend its root moves, and when the others are done
    /// their cores join its search.
    Continued,
}

impl SecondPhaseMode {
    /// All modes, in the order of the documentation.
    pub const ALL: [Self; 7] =
        [Self::Sequential, Self::Static, Self::Peer, Self::PeerScore, Self::PvSplit, Self::Shared, Self::Continued];

    /// The name as it is written in the settings.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Static => "static",
            Self::Peer => "peer",
            Self::PeerScore => "peer-score",
            Self::PvSplit => "pv-split",
            Self::Shared => "shared",
            Self::Continued => "continued",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_votes_share_names() {
        for name in CriterionName::ALL {
            assert_eq!(serde_json::to_value(name).expect("a word"), name.word());
        }
        for mode in SecondPhaseMode::ALL {
            assert_eq!(serde_json::to_value(mode).expect("a word"), mode.word());
        }
    }
}
