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

    /// Returns Lichess's key, the value of the UCI option `UCI_Variant` under which engines know these rules, and the name in a PGN's
    /// `Variant` tag, as Lichess and python-chess write it.
    const fn names(self) -> [&'static str; 3] {
        match self {
            Self::Standard => ["standard", "chess", "Standard"],
            Self::Chess960 => ["chess960", "chess", "Chess960"],
            Self::FromPosition => ["fromPosition", "chess", "From Position"],
            Self::Crazyhouse => ["crazyhouse", "crazyhouse", "Crazyhouse"],
            Self::Antichess => ["antichess", "antichess", "Antichess"],
            Self::Atomic => ["atomic", "atomic", "Atomic"],
            Self::Horde => ["horde", "horde", "Horde"],
            Self::KingOfTheHill => ["kingOfTheHill", "kingofthehill", "King of the Hill"],
            Self::RacingKings => ["racingKings", "racingkings", "Racing Kings"],
            Self::ThreeCheck => ["threeCheck", "3check", "Three-check"],
        }
    }

    pub const fn key(self) -> &'static str {
        self.names()[0]
    }

    pub const fn uci_name(self) -> &'static str {
        self.names()[1]
    }

    pub const fn pgn_name(self) -> &'static str {
        self.names()[2]
    }

    /// Returns true if the built-in engine plays it: the rules of standard chess, from any starting
    /// position.
    pub const fn is_standard_rules(self) -> bool {
        matches!(self, Self::Standard | Self::Chess960 | Self::FromPosition)
    }

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

    fn from_str(key: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|variant| variant.key().eq_ignore_ascii_case(key))
            .ok_or_else(|| format!("unknown variant {key:?} (known: {})", Self::ALL.map(Self::key).join(", ")))
    }
}
