//! The nouns of a chess server: players, challenges, games and their states, in our own units.

use std::{fmt, time::Instant};

use serde::{Deserialize, Serialize};

use super::GameTerms;
use crate::chess::{ChallengeId, Clocks, Color, GameId, Line};

/// Somebody who plays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Player {
    /// The name in lower case, by which players are compared. Empty for the server's own engine.
    pub id: String,
    /// The name as it is shown, without title.
    pub name: String,
    /// `GM`, `BOT` and the like.
    pub title: Option<String>,
    /// The rating at the game's speed.
    pub rating: Option<u32>,
    /// Whether the rating is still uncertain.
    pub provisional: bool,
    /// Set for the server's own engine.
    pub ai_level: Option<u8>,
}

impl Player {
    /// A player of whom only the name is known.
    pub fn named(name: &str) -> Self {
        Self { id: name.to_lowercase(), name: name.to_owned(), ..Self::default() }
    }

    /// Whether it is a machine, as far as the server says.
    pub fn is_bot(&self) -> bool {
        self.ai_level.is_some() || self.title.as_deref().is_some_and(|title| matches!(title, "BOT" | "C"))
    }
}

impl fmt::Display for Player {
    /// `BOT Name (1500)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(title) = &self.title {
            write!(f, "{title} ")?;
        }
        f.write_str(&self.name)?;
        match self.rating {
            Some(rating) => write!(f, " ({rating}{})", if self.provisional { "?" } else { "" }),
            None => Ok(()),
        }
    }
}

/// An account on a server, ours or another bot's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Whose it is, without a rating: there is one for each speed.
    pub player: Player,
    /// Whether the server lets it play through its bot interface.
    pub is_bot: bool,
    /// Ratings by the server's name of the speed or variant.
    pub ratings: Vec<(String, u32)>,
    /// Games ever finished; a Lichess account with any cannot become a bot.
    pub games_played: u64,
}

/// A challenge that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    /// Its name.
    pub id: ChallengeId,
    /// Whether it was made to us; otherwise we made it.
    pub incoming: bool,
    /// The other side. `None` for an open challenge.
    pub opponent: Option<Player>,
    /// What is to be played.
    pub terms: GameTerms,
    /// The colour we would have; `None` is drawn by lot.
    pub our_color: Option<Color>,
    /// The starting position, where it is not the usual one.
    pub initial_fen: Option<String>,
    /// Lichess's extra rules, such as `noAbort`.
    pub rules: Vec<String>,
    /// The game of which it is the rematch.
    pub rematch_of: Option<GameId>,
    /// Our rating in its category, if the server says.
    pub our_rating: Option<u32>,
    /// Whether the server lets a bot play it at all.
    pub playable: bool,
}

/// A challenge we want to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeRequest {
    /// Whom.
    pub opponent: String,
    /// What is to be played.
    pub terms: GameTerms,
    /// The colour we want; `None` is drawn by lot.
    pub our_color: Option<Color>,
    /// The starting position, where it is not the usual one.
    pub initial_fen: Option<String>,
}

/// Why a challenge is declined, by Lichess's keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeclineReason {
    /// No reason given.
    #[default]
    Generic,
    /// Not now.
    Later,
    /// The time control is too fast.
    TooFast,
    /// The time control is too slow.
    TooSlow,
    /// The time control does not suit.
    TimeControl,
    /// Only rated games are played (so the key for declining a casual one).
    Rated,
    /// Only casual games are played.
    Casual,
    /// Only standard chess is played.
    Standard,
    /// The variant is not played.
    Variant,
    /// Bots are not played.
    NoBot,
    /// Only bots are played.
    OnlyBot,
}

impl DeclineReason {
    /// Every reason.
    pub const ALL: [Self; 11] = [
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

    /// The key that is sent, such as `tooFast`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Generic => "generic",
            Self::Later => "later",
            Self::TooFast => "tooFast",
            Self::TooSlow => "tooSlow",
            Self::TimeControl => "timeControl",
            Self::Rated => "rated",
            Self::Casual => "casual",
            Self::Standard => "standard",
            Self::Variant => "variant",
            Self::NoBot => "noBot",
            Self::OnlyBot => "onlyBot",
        }
    }

    /// The reason for a key in any case of letters (Lichess sends them back in lower case); unknown ones are [`Self::Generic`].
    pub fn from_key(key: &str) -> Self {
        Self::ALL.into_iter().find(|reason| reason.key().eq_ignore_ascii_case(key)).unwrap_or_default()
    }
}

/// What does not change while a game runs.
#[derive(Clone, Debug)]
pub struct GameInfo {
    /// Its name.
    pub id: GameId,
    /// Variant, clock, rated or not.
    pub terms: GameTerms,
    /// Who has White.
    pub white: Player,
    /// Who has Black.
    pub black: Player,
    /// Which of them we are.
    pub our_color: Color,
    /// The line without moves from the game's starting position.
    pub start: Line,
    /// The tournament it belongs to.
    pub tournament: Option<String>,
    /// Where it can be watched.
    pub url: Option<String>,
}

impl GameInfo {
    /// We, as a player.
    pub fn us(&self) -> &Player {
        match self.our_color {
            Color::White => &self.white,
            Color::Black => &self.black,
        }
    }

    /// The other one.
    pub fn opponent(&self) -> &Player {
        match self.our_color {
            Color::White => &self.black,
            Color::Black => &self.white,
        }
    }
}

/// What changes while a game runs. Always whole: nothing here is a difference to an earlier state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameState {
    /// All moves from the start, in UCI notation, separated by blanks.
    pub moves: String,
    /// Both clocks when the server spoke; `None` without a clock. In correspondence games: the time for the next move.
    pub clocks: Option<Clocks>,
    /// How the game stands.
    pub status: GameStatus,
    /// Who won, if anybody.
    pub winner: Option<Color>,
    /// Who offers a draw.
    pub draw_offers: Offers,
    /// Who asks for a takeback.
    pub takeback_offers: Offers,
    /// When this was read from the network: from here on our clock runs.
    pub received: Instant,
}

/// An offer that each side may have made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// White made it.
    pub white: bool,
    /// Black made it.
    pub black: bool,
}

impl Offers {
    /// Whether `color` made it.
    pub const fn by(self, color: Color) -> bool {
        match color {
            Color::White => self.white,
            Color::Black => self.black,
        }
    }
}

/// How a game stands or ended, by Lichess's names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GameStatus {
    /// Nobody has moved yet.
    Created,
    /// It is being played.
    Started,
    /// It ended before both sides had moved.
    Aborted,
    /// Checkmate.
    Mate,
    /// Somebody gave up.
    Resign,
    /// Stalemate.
    Stalemate,
    /// Somebody left and the other one claimed.
    Timeout,
    /// Drawn: agreed, by repetition, by fifty moves, by insufficient material.
    Draw,
    /// Somebody's time ran out.
    OutOfTime,
    /// The server found cheating.
    Cheat,
    /// Somebody did not make the first move in time.
    NoStart,
    /// Over, the server does not know why.
    UnknownFinish,
    /// Drawn by claim: the side that ran its opponent out of time could not have mated.
    InsufficientMaterialClaim,
    /// Won by the variant's own rule.
    VariantEnd,
    /// Adjourned, to be resumed (FICS).
    Adjourned,
    /// A name we do not know; taken for an end.
    Other(String),
}

impl GameStatus {
    const NAMES: [(Self, &'static str); 15] = [
        (Self::Created, "created"),
        (Self::Started, "started"),
        (Self::Aborted, "aborted"),
        (Self::Mate, "mate"),
        (Self::Resign, "resign"),
        (Self::Stalemate, "stalemate"),
        (Self::Timeout, "timeout"),
        (Self::Draw, "draw"),
        (Self::OutOfTime, "outoftime"),
        (Self::Cheat, "cheat"),
        (Self::NoStart, "noStart"),
        (Self::UnknownFinish, "unknownFinish"),
        (Self::InsufficientMaterialClaim, "insufficientMaterialClaim"),
        (Self::VariantEnd, "variantEnd"),
        (Self::Adjourned, "adjourned"),
    ];

    /// The status of a Lichess name.
    pub fn from_name(name: &str) -> Self {
        Self::NAMES
            .into_iter()
            .find_map(|(status, known)| (known == name).then_some(status))
            .unwrap_or_else(|| Self::Other(name.to_owned()))
    }

    /// The Lichess name.
    pub fn name(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => Self::NAMES.iter().find_map(|(status, name)| (status == known).then_some(*name)).unwrap_or("?"),
        }
    }

    /// Whether moves can still be made.
    pub const fn is_running(&self) -> bool {
        matches!(self, Self::Created | Self::Started)
    }
}

/// Who hears what is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatRoom {
    /// The two players.
    Player,
    /// Those who watch.
    Spectator,
}

impl ChatRoom {
    /// `player` or `spectator`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Spectator => "spectator",
        }
    }
}

/// Something said in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// To whom.
    pub room: ChatRoom,
    /// By whom, as shown; `lichess` for the server itself.
    pub username: String,
    /// What.
    pub text: String,
}
