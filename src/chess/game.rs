//! A game on a chess server: what stays while it runs, and what changes.

use std::time::Instant;

use super::{Clocks, Color, GameId, GameTerms, Line, Player, UciMove};

/// What does not change while a game runs.
#[derive(Clone, Debug)]
pub struct GameInfo {
    /// Its name with the server.
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
    /// Ourselves, as the server shows us.
    pub fn us(&self) -> &Player {
        match self.our_color {
            Color::White => &self.white,
            Color::Black => &self.black,
        }
    }

    /// The player against us.
    pub fn opponent(&self) -> &Player {
        match self.our_color {
            Color::White => &self.black,
            Color::Black => &self.white,
        }
    }
}

/// A game as we last knew it: enough to find it again on a server that gives no names to games.
#[derive(Clone, Debug)]
pub struct KnownGame {
    /// What does not change.
    pub info: GameInfo,
    /// The moves that the server has shown.
    pub shown: Vec<UciMove>,
    /// The move of ours that was decided after them; the server may have taken it or not.
    pub decided: Option<UciMove>,
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

    /// Whether a game that ended so, without a winner, is drawn; otherwise it has no result. A side that runs out of time, or leaves, has
    /// not lost where the other one could not have mated.
    pub const fn is_drawn(&self) -> bool {
        use GameStatus::{Draw, InsufficientMaterialClaim, OutOfTime, Stalemate, Timeout, VariantEnd};
        matches!(self, Draw | Stalemate | OutOfTime | Timeout | InsufficientMaterialClaim | VariantEnd)
    }

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
