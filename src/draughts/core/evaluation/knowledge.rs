//! The five heuristics of draughts, and the sets of them that electors are made of.

use std::{fmt, str::FromStr};

use crate::board::DraughtsError;

/// One category of knowledge. The discriminant is its bit in a [`Knowledge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Heuristic {
    /// `m`: what men and kings are worth.
    Material,
    /// `p`: how far the men have come.
    Advance,
    /// `g`: the geometry of corners and centre, and the move.
    Geometry,
    /// `s`: support of the men, and the back rank.
    Support,
    /// `k`: kings on the edge.
    KingsOnEdge,
}

impl Heuristic {
    /// All five, in the order of their letters: `mpgsk`.
    pub const ALL: [Self; 5] = [Self::Material, Self::Advance, Self::Geometry, Self::Support, Self::KingsOnEdge];

    pub const fn letter(self) -> char {
        b"mpgsk"[self as usize] as char
    }
}

/// A set of heuristics: the knowledge of an elector. Its text is letters, such as `mpk`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Knowledge(u8);

impl Knowledge {
    pub const COMPLETE: Self = Self(0x1f);

    pub const fn has(self, heuristic: Heuristic) -> bool {
        self.0 & (1 << heuristic as u8) != 0
    }

    pub(super) fn of(heuristics: &[Heuristic]) -> Self {
        Self(heuristics.iter().fold(0, |bits, heuristic| bits | 1 << *heuristic as u8))
    }

    /// The heuristics in the set, in the order of their letters.
    pub fn heuristics(self) -> impl Iterator<Item = Heuristic> {
        Heuristic::ALL.into_iter().filter(move |heuristic| self.has(*heuristic))
    }
}

impl Default for Knowledge {
    fn default() -> Self {
        Self::COMPLETE
    }
}

impl fmt::Display for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters: String = self.heuristics().map(Heuristic::letter).collect();
        f.pad(&letters)
    }
}

impl fmt::Debug for Knowledge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Knowledge({self})")
    }
}

impl FromStr for Knowledge {
    type Err = DraughtsError;

    /// Reads letters in any order.
    fn from_str(letters: &str) -> Result<Self, DraughtsError> {
        let named: Option<Vec<Heuristic>> =
            letters.chars().map(|letter| Heuristic::ALL.into_iter().find(|one| one.letter() == letter)).collect();
        let set = Self::of(named.as_deref().unwrap_or_default());
        let all_different = set.0.count_ones() as usize == letters.chars().count();
        if all_different && set.0 != 0 {
            Ok(set)
        } else {
            let accepted = "letters of mpgsk, each at most once, at least one";
            Err(DraughtsError(format!("{letters:?} is no knowledge of draughts (accepted: {accepted})")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back_in_their_order() {
        for (given, written) in [("mpgsk", "mpgsk"), ("ksm", "msk"), ("g", "g")] {
            assert_eq!(given.parse::<Knowledge>().map(|set| set.to_string()).as_deref(), Ok(written));
        }
        for bad in ["", "mm", "q", "m p", "mq"] {
            assert!(bad.parse::<Knowledge>().is_err(), "{bad:?} must be refused");
        }
    }
}
