//! The value of a position.

use std::{cmp::Ordering, fmt};

use serde::{Deserialize, Serialize};

/// The value of a position, from the side of the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Score {
    /// Centipawns; positive is good for the player to move. Wins known from tablebases lie beyond ±19000.
    Cp(i32),
    /// Full moves to mate: positive gives mate, negative (or zero: mated already) receives it.
    Mate(i32),
}

impl Score {
    /// Returns a number that orders all scores: centipawns, with mates beyond ±30000, the longest
    /// of which are alike.
    pub const fn as_centipawns(self) -> i32 {
        const LONGEST: i32 = 1_000;
        match self {
            Self::Cp(centipawns) => centipawns,
            Self::Mate(LONGEST..) => 32_000 - LONGEST,
            Self::Mate(moves @ 1..) => 32_000 - moves,
            Self::Mate(moves) if moves > -LONGEST => -32_000 - moves,
            Self::Mate(_) => -32_000 + LONGEST,
        }
    }

    /// Returns the same value from the other player's side.
    pub const fn flipped(self) -> Self {
        match self {
            Self::Cp(centipawns) => Self::Cp(-centipawns),
            Self::Mate(moves) => Self::Mate(-moves),
        }
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_centipawns().cmp(&other.as_centipawns())
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Score {
    /// Pawns with a sign, or `#` and moves: `+0.34`, `-1.20`, `#3`, `#-2`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cp(centipawns) => f.pad(&format!("{:+.2}", f64::from(*centipawns) / 100.0)),
            Self::Mate(moves) => f.pad(&format!("#{moves}")),
        }
    }
}

/// The relation of a score to the true value of the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScoreBound {
    #[default]
    Exact,
    /// The value is at least this.
    Lower,
    /// The value is at most this.
    Upper,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_are_ordered() {
        let said = [Score::Mate(-1), Score::Mate(-9), Score::Cp(-9_000), Score::Cp(0), Score::Mate(9), Score::Mate(1)];
        assert!(said.is_sorted(), "{said:?}");
        assert!(Score::Mate(-1_000_000) < Score::Cp(-9_000) && Score::Cp(9_000) < Score::Mate(1_000_000));
    }
}
