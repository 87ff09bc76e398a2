//! The eight heuristics and the sets of them that electors are made of (docs/method.md §2).

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// One category of chess knowledge. The discriminant is its bit in a [`Knowledge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Heuristic {
    /// `m`: what the pieces are worth.
    Material,
    /// `b`: good placement, safety of pieces.
    Placement,
    /// `x`: space and mobility.
    Mobility,
    /// `k`: king safety.
    KingSafety,
    /// `c`: control of the centre.
    Centre,
    /// `p`: pawn structure.
    Pawns,
    /// `a`: chances of attack.
    Attack,
    /// `r`: relations between pieces.
    Relations,
}

impl Heuristic {
    /// All eight, in the order in which their letters are written: `mbxkcpar`.
    pub const ALL: [Self; 8] = [
        Self::Material,
        Self::Placement,
        Self::Mobility,
        Self::KingSafety,
        Self::Centre,
        Self::Pawns,
        Self::Attack,
        Self::Relations,
    ];

    /// The letter docs/method.md gives it.
    pub const fn letter(self) -> char {
        b"mbxkcpar"[self as usize] as char
    }

    /// Its name in words.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Material => "material",
            Self::Placement => "placement",
            Self::Mobility => "mobility",
            Self::KingSafety => "king safety",
            Self::Centre => "centre",
            Self::Pawns => "pawns",
            Self::Attack => "attack",
            Self::Relations => "relations",
        }
    }
}

/// A set of heuristics: what one instance of the engine knows. Written and read as letters, `mka`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Knowledge(u8);

impl Knowledge {
    /// All eight heuristics.
    pub const COMPLETE: Self = Self(0xff);
    /// None at all.
    pub const NONE: Self = Self(0);

    /// Whether the set has `heuristic`.
    pub const fn has(self, heuristic: Heuristic) -> bool {
        self.0 & (1 << heuristic as u8) != 0
    }

    /// The set with `heuristic` in it.
    #[must_use]
    pub const fn with(self, heuristic: Heuristic) -> Self {
        Self(self.0 | 1 << heuristic as u8)
    }

    /// What either set knows.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// What this set does not know.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self(!self.0)
    }

    /// Whether the set is empty.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The eight bits, material lowest.
    pub const fn bits(self) -> u8 {
        self.0
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

/// A text that names no set of heuristics.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no knowledge set (accepted: letters of mbxkcpar, each at most once, at least one)")]
pub struct KnowledgeError(pub String);

impl FromStr for Knowledge {
    type Err = KnowledgeError;

    /// Reads letters in any order.
    fn from_str(letters: &str) -> Result<Self, KnowledgeError> {
        let error = || KnowledgeError(letters.to_owned());
        let mut knowledge = Self::NONE;
        for letter in letters.chars() {
            let heuristic =
                Heuristic::ALL.into_iter().find(|heuristic| heuristic.letter() == letter).ok_or_else(error)?;
            if knowledge.has(heuristic) {
                return Err(error());
            }
            knowledge = knowledge.with(heuristic);
        }
        if knowledge.is_empty() { Err(error()) } else { Ok(knowledge) }
    }
}

impl TryFrom<String> for Knowledge {
    type Error = KnowledgeError;

    fn try_from(letters: String) -> Result<Self, KnowledgeError> {
        letters.parse()
    }
}

impl From<Knowledge> for String {
    fn from(knowledge: Knowledge) -> Self {
        knowledge.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_come_back_in_their_order() {
        for (given, written) in [("mbxkcpar", "mbxkcpar"), ("rapm", "mpar"), ("k", "k")] {
            assert_eq!(given.parse::<Knowledge>().map(|set| set.to_string()).as_deref(), Ok(written));
        }
        for bad in ["", "mm", "q", "m p"] {
            assert!(bad.parse::<Knowledge>().is_err(), "{bad:?} must be refused");
        }
    }
}
