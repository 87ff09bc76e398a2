//! The rules of election and the ways of a second phase, by the names that settings, votes and records write.

use serde::{Deserialize, Serialize};

/// A rule of election (docs/method.md §4, and later ones).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CriterionName {
    /// The sum of the weights of the heuristics that propose a move.
    Weights,
    /// The mean of the weights instead of their sum: Tozzi's variant.
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
}

impl CriterionName {
    /// All criteria, in the order of the documentation.
    pub const ALL: [Self; 10] = [
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
    ];

    /// Returns the name in the settings and in the vote, and the rule in words that follow a colon.
    const fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Weights => ["weights", "the weights of the heuristics behind a move are added; the highest sum wins"],
            Self::MeanWeights => [
                "mean-weights",
                "each elector weighs the mean of its heuristics' weights; the highest sum for a move wins",
            ],
            Self::Depth => ["depth", "the deepest search wins"],
            Self::Relative1 => {
                ["relative-1", "the move that gains most over its proposer's own judgement of the position wins"]
            }
            Self::Relative1Democratic => {
                ["relative-1-democratic", "one vote each; ties go to the move that gains most for its proposer"]
            }
            Self::Relative2 => {
                ["relative-2", "the move whose expected line gains most in the eyes of all electors wins"]
            }
            Self::ReSearch => ["re-search", "the whole engine searches the proposed moves again and picks one"],
            Self::Majority => ["majority", "one vote each; the move with the most votes wins"],
            Self::Optimistic => ["optimistic", "the move with the highest score wins"],
            Self::ScoreMargin => [
                "score-margin",
                "a vote weighs its score above the lowest score, plus a constant; the highest sum for a move wins",
            ],
        }
    }

    pub const fn word(self) -> &'static str {
        self.texts()[0]
    }

    pub(super) const fn in_words(self) -> &'static str {
        self.texts()[1]
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
    /// `Peer`, and the best score found so far sets the aspiration window of all.
    PeerScore,
    /// Down the principal variation, then the siblings of each of its nodes as jobs, level by level on the way up.
    PvSplit,
    #[default]
    Shared,
    /// The complete instance never stops: proposals only order and extend its root moves, and when the others are done
    /// their cores join its search.
    Continued,
}

util::words!(SecondPhaseMode::word {
    Sequential = "sequential", Static = "static", Peer = "peer", PeerScore = "peer-score",
    PvSplit = "pv-split", Shared = "shared", Continued = "continued",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_and_votes_share_names() {
        for name in CriterionName::ALL {
            let value = serde_json::to_value(name).expect("a word");
            assert_eq!(value, name.word());
            assert_eq!(serde_json::from_value::<CriterionName>(value).expect("a name"), name);
        }
        for mode in SecondPhaseMode::ALL {
            assert_eq!(serde_json::to_value(mode).expect("a word"), mode.word());
        }
    }
}
