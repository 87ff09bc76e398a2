//! The heuristics, and the sets of them that electors know (docs/method.md §2): eight written by
//! hand, and a trained net in their place.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// One category of chess knowledge. The discriminant is its bit in a [`Knowledge`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Heuristic {
    /// `m`: the value of the pieces.
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
    /// `n`: a trained net. In no set unless it is named.
    Net,
}

impl Heuristic {
    /// All eight hand-written heuristics, in the order of their letters: `mbxkcpar`.
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

    /// All nine, the net last: `mbxkcparn`.
    pub const WITH_NET: [Self; 9] = {
        let mut all = [Self::Net; 9];
        let mut i = 0;
        while i < Self::ALL.len() {
            all[i] = Self::ALL[i];
            i += 1;
        }
        all
    };

    pub const fn letter(self) -> char {
        b"mbxkcparn"[self as usize] as char
    }

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
            Self::Net => "net",
        }
    }
}

/// The share of each heuristic, in per cent from 0 to 200, in the order of [`Heuristic::WITH_NET`].
pub type Percentages = [u16; 9];

pub const IN_FULL: Percentages = [100; 9];

/// A set of heuristics: the knowledge of one instance of the engine. Its text is letters, such as
/// `mka`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Knowledge(u16);

impl Knowledge {
    /// All eight hand-written heuristics.
    pub const COMPLETE: Self = Self(0xff);
    /// The net, which is played alone. Old journals have sets with it and others.
    pub const LEARNED: Self = Self::NONE.with(Heuristic::Net);
    /// The default, which measured best by the clock (docs/experiments.md).
    pub const STRONGEST: Self = Self::LEARNED;
    pub const NONE: Self = Self(0);

    pub const fn has(self, heuristic: Heuristic) -> bool {
        self.0 & (1 << heuristic as u8) != 0
    }

    #[must_use]
    pub const fn with(self, heuristic: Heuristic) -> Self {
        Self(self.0 | 1 << heuristic as u8)
    }

    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    #[must_use]
    pub const fn without(self, heuristic: Heuristic) -> Self {
        Self(self.0 & !(1 << heuristic as u8))
    }

    /// Returns the heuristics of the eight that this set lacks.
    #[must_use]
    pub const fn complement(self) -> Self {
        Self(!self.0 & Self::COMPLETE.0)
    }

    /// Returns true if the set has all eight, or a net, which covers them.
    pub const fn is_whole(self) -> bool {
        self.has(Heuristic::Net) || self.complement().is_empty()
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The heuristics in the set, in the order of their letters.
    pub fn heuristics(self) -> impl Iterator<Item = Heuristic> {
        Heuristic::WITH_NET.into_iter().filter(move |heuristic| self.has(*heuristic))
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
    type Err = String;

    /// Reads letters in any order.
    fn from_str(letters: &str) -> Result<Self, String> {
        let error =
            || format!("{letters:?} is no knowledge set (accepted: n, or letters of mbxkcpar, each at most once)");
        let mut knowledge = Self::NONE;
        for letter in letters.chars() {
            let heuristic =
                Heuristic::WITH_NET.into_iter().find(|heuristic| heuristic.letter() == letter).ok_or_else(error)?;
            if knowledge.has(heuristic) {
                return Err(error());
            }
            knowledge = knowledge.with(heuristic);
        }
        if knowledge.is_empty() { Err(error()) } else { Ok(knowledge) }
    }
}

impl TryFrom<String> for Knowledge {
    type Error = String;

    fn try_from(letters: String) -> Result<Self, String> {
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
        for (given, written) in [("mbxkcpar", "mbxkcpar"), ("rapm", "mpar"), ("k", "k"), ("n", "n"), ("nm", "mn")] {
            assert_eq!(given.parse::<Knowledge>().map(|set| set.to_string()).as_deref(), Ok(written));
        }
        for bad in ["", "mm", "q", "m p"] {
            assert!(bad.parse::<Knowledge>().is_err(), "{bad:?} must be refused");
        }
    }

    #[test]
    fn net_must_be_named() {
        assert!(!Knowledge::COMPLETE.has(Heuristic::Net) && !Knowledge::default().has(Heuristic::Net));
        assert!(!Knowledge::NONE.complement().has(Heuristic::Net));
        assert_eq!(Knowledge::COMPLETE.with(Heuristic::Net).to_string(), "mbxkcparn");
        assert!(Knowledge::COMPLETE.with(Heuristic::Net).complement().is_empty());
        assert!(["mbxkcpar", "mbxkcparn", "n"].iter().all(|set| set.parse().is_ok_and(Knowledge::is_whole)));
        assert!(!"mbxkcpa".parse().is_ok_and(Knowledge::is_whole));
    }
}
