use std::fmt;

use serde::{Deserialize, Serialize};

use super::{ChallengeId, Color, GameId, Player, TimeControl, Variant};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameTerms {
    pub variant: Variant,
    pub time_control: TimeControl,
    pub rated: bool,
}

impl fmt::Display for GameTerms {
    /// Writes `180+2 rated standard`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.time_control, if self.rated { "rated" } else { "casual" }, self.variant)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    pub id: ChallengeId,
    pub incoming: bool,
    /// The other side. `None` for an open challenge.
    pub opponent: Option<Player>,
    pub terms: GameTerms,
    /// The bot's colour; `None`: random.
    pub our_color: Option<Color>,
    /// The starting position, where it is not the usual one.
    pub initial_fen: Option<String>,
    /// Lichess's extra rules, such as `noAbort`.
    pub rules: Vec<String>,
    pub rematch_of: Option<GameId>,
    /// The bot's rating in its category, if the server reports it.
    pub our_rating: Option<u32>,
    /// The reason why this challenge can never be played, if there is one.
    pub obstacle: Option<ChallengeObstacle>,
}

/// Reasons why a challenge cannot be played, independent of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChallengeObstacle {
    /// An unknown variant, by the server's name; the terms then say standard chess.
    UnknownVariant(String),
    /// Different clocks for the players; the terms have the first one's.
    TimeOdds,
    /// The server lets no bot play it.
    NotForBots,
}

impl Challenge {
    /// Creates a challenge to the bot, with random colours and the usual start.
    pub fn to_us(id: ChallengeId, opponent: Player, terms: GameTerms) -> Self {
        Self {
            id,
            incoming: true,
            opponent: Some(opponent),
            terms,
            our_color: None,
            initial_fen: None,
            rules: Vec::new(),
            rematch_of: None,
            our_rating: None,
            obstacle: None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeRequest {
    /// The name of the challenged player.
    pub opponent: String,
    pub terms: GameTerms,
    /// The wanted colour; `None`: random.
    pub our_color: Option<Color>,
    /// The starting position, where it is not the usual one.
    pub initial_fen: Option<String>,
}

/// Reasons for declining a challenge, by Lichess's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeclineReason {
    #[default]
    Generic,
    Later,
    TooFast,
    TooSlow,
    TimeControl,
    /// Only rated games are accepted (Lichess's key for declining a casual one).
    Rated,
    Casual,
    Standard,
    Variant,
    NoBot,
    OnlyBot,
}

impl DeclineReason {
    const ALL: [Self; 11] = [
        Self::Generic,
        Self::Later,
        Self::TooFast,
        Self::TooSlow,
        Self::TimeControl,
        Self::Rated,
        Self::Casual,
        Self::Standard,
        Self::Variant,
        Self::NoBot,
        Self::OnlyBot,
    ];

    /// Returns the key for the server, such as `tooFast`, and the words of the declining player.
    const fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Generic => ["generic", "no reason given"],
            Self::Later => ["later", "not now"],
            Self::TooFast => ["tooFast", "too fast"],
            Self::TooSlow => ["tooSlow", "too slow"],
            Self::TimeControl => ["timeControl", "not this time control"],
            Self::Rated => ["rated", "rated games only"],
            Self::Casual => ["casual", "casual games only"],
            Self::Standard => ["standard", "standard chess only"],
            Self::Variant => ["variant", "not this variant"],
            Self::NoBot => ["noBot", "no bots"],
            Self::OnlyBot => ["onlyBot", "bots only"],
        }
    }

    pub const fn key(self) -> &'static str {
        self.texts()[0]
    }

    pub const fn words(self) -> &'static str {
        self.texts()[1]
    }

    /// The reason for a key in any case of letters (Lichess sends them back in lower case); unknown ones are [`Self::Generic`].
    pub fn from_key(key: &str) -> Self {
        Self::ALL.into_iter().find(|reason| reason.key().eq_ignore_ascii_case(key)).unwrap_or_default()
    }
}
