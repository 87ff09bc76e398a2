//! The rules a game is played by.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A variant of chess, by Lichess's keys. FICS's wild types map onto these.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Variant {
    #[default]
    Standard,
    /// Fischer's random starting positions.
    Chess960,
    /// Standard rules from a given position.
    FromPosition,
    /// Captured pieces change sides and are dropped.
    Crazyhouse,
    /// Captures are compulsory; losing all pieces wins.
    Antichess,
    Atomic,
    /// White has thirty-six pawns and no king.
    Horde,
    /// A king that reaches the centre wins.
    KingOfTheHill,
    /// Kings race to the eighth rank.
    RacingKings,
    ThreeCheck,
}

impl Variant {
    pub const ALL: [Self; 10] = [
        Self::Standard,
        Self::Chess960,
        Self::FromPosition,
        Self::Crazyhouse,
        Self::Antichess,
        Self::Atomic,
        Self::Horde,
        Self::KingOfTheHill,
        Self::RacingKings,
        Self::ThreeCheck,
    ];

    /// Returns Lichess's key, such as `kingOfTheHill`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Chess960 => "chess960",
            Self::FromPosition => "fromPosition",
            Self::Crazyhouse => "crazyhouse",
            Self::Antichess => "antichess",
            Self::Atomic => "atomic",
            Self::Horde => "horde",
            Self::KingOfTheHill => "kingOfTheHill",
            Self::RacingKings => "racingKings",
            Self::ThreeCheck => "threeCheck",
        }
    }

    /// The value of the UCI option `UCI_Variant` under which engines know these rules.
    pub const fn uci_name(self) -> &'static str {
        match self {
            Self::Standard | Self::Chess960 | Self::FromPosition => "chess",
            Self::Crazyhouse => "crazyhouse",
            Self::Antichess => "antichess",
            Self::Atomic => "atomic",
            Self::Horde => "horde",
            Self::KingOfTheHill => "kingofthehill",
            Self::RacingKings => "racingkings",
            Self::ThreeCheck => "3check",
        }
    }

    /// The name in a PGN's `Variant` tag, as Lichess and python-chess write it.
    pub const fn pgn_name(self) -> &'static str {
        match self {
            Self::Standard => "Standard",
            Self::Chess960 => "Chess960",
            Self::FromPosition => "From Position",
            Self::Crazyhouse => "Crazyhouse",
            Self::Antichess => "Antichess",
            Self::Atomic => "Atomic",
            Self::Horde => "Horde",
            Self::KingOfTheHill => "King of the Hill",
            Self::RacingKings => "Racing Kings",
            Self::ThreeCheck => "Three-check",
        }
    }

    /// Returns true if the built-in engine plays it: the rules of standard chess, from any starting
    /// position.
    pub const fn is_standard_rules(self) -> bool {
        matches!(self, Self::Standard | Self::Chess960 | Self::FromPosition)
    }

    /// The rules as `shakmaty` names them.
    pub const fn rules(self) -> shakmaty::variant::Variant {
        use shakmaty::variant::Variant as Rules;
        match self {
            Self::Standard | Self::Chess960 | Self::FromPosition => Rules::Chess,
            Self::Crazyhouse => Rules::Crazyhouse,
            Self::Antichess => Rules::Antichess,
            Self::Atomic => Rules::Atomic,
            Self::Horde => Rules::Horde,
            Self::KingOfTheHill => Rules::KingOfTheHill,
            Self::RacingKings => Rules::RacingKings,
            Self::ThreeCheck => Rules::ThreeCheck,
        }
    }
}

impl fmt::Display for Variant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.key())
    }
}

impl FromStr for Variant {
    type Err = String;

    /// Reads a key, in any case of letters.
    fn from_str(key: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|variant| variant.key().eq_ignore_ascii_case(key))
            .ok_or_else(|| format!("unknown variant {key:?} (known: {})", Self::ALL.map(Self::key).join(", ")))
    }
}
