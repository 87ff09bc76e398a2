use std::time::Instant;

use jiff::Timestamp;

use super::{BySide, Clocks, Color, GameId, GameTerms, Line, Player, UciMove};

/// The part of a game that does not change while it runs.
#[derive(Clone, Debug)]
pub struct GameInfo {
    pub id: GameId,
    pub terms: GameTerms,
    pub white: Player,
    pub black: Player,
    pub our_color: Color,
    pub start: Line,
    pub tournament: Option<String>,
    pub url: Option<String>,
}

impl GameInfo {
    /// A game from the usual start of its variant, in which the bot has White.
    pub fn from_start(id: impl Into<GameId>, terms: GameTerms, white: Player, black: Player) -> Self {
        let start = Line::start(terms.variant);
        Self { id: id.into(), terms, white, black, our_color: Color::White, start, tournament: None, url: None }
    }

    pub fn us(&self) -> &Player {
        self.our_color.fold_wb(&self.white, &self.black)
    }

    pub fn opponent(&self) -> &Player {
        self.our_color.fold_wb(&self.black, &self.white)
    }
}

/// The last known state of a game: enough to find it again on a server without names for games.
#[derive(Clone, Debug)]
pub struct KnownGame {
    pub info: GameInfo,
    /// The moves that the server has shown.
    pub shown: Vec<UciMove>,
    /// The bot's next move, decided before a restart; the server may have taken it or not.
    pub decided: Option<UciMove>,
    pub started: Option<Timestamp>,
    pub is_adjourned: bool,
}

/// The part of a game that changes while it runs, always complete: never a difference to an earlier
/// state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameState {
    /// All moves from the start in UCI notation, separated by blanks.
    pub moves: String,
    /// Both clocks at the time of the server's message; `None` without a clock. In correspondence
    /// games: the time for the next move.
    pub clocks: Option<Clocks>,
    pub status: GameStatus,
    pub winner: Option<Color>,
    pub draw_offers: Offers,
    pub takeback_offers: Offers,
    /// The time of reading from the network: the bot's clock runs from here.
    pub received: Instant,
}

impl GameState {
    /// Returns the number of moves.
    pub fn plies(&self) -> usize {
        self.moves.split_ascii_whitespace().count()
    }
}

/// The sides that made an offer.
pub type Offers = BySide<bool>;

impl Offers {
    pub const fn by(self, color: Color) -> bool {
        self.of(color)
    }
}

/// States and endings of a game, by Lichess's names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GameStatus {
    Created,
    Started,
    /// It ended before both sides had moved.
    Aborted,
    Mate,
    Resign,
    Stalemate,
    /// A player left, and the other one claimed the game.
    Timeout,
    /// Drawn: agreed, by repetition, by fifty moves, by insufficient material.
    Draw,
    OutOfTime,
    Cheat,
    /// A player did not make the first move in time.
    NoStart,
    UnknownFinish,
    /// Drawn by claim: the side that ran its opponent out of time could not have mated.
    InsufficientMaterialClaim,
    /// Won by the variant's own rule.
    VariantEnd,
    /// Interrupted, to be resumed (FICS).
    Adjourned,
    /// An unknown name, taken for an end.
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

    /// Returns true if a game that ended so, without a winner, is drawn; otherwise it has no
    /// result. A player that runs out of time, or leaves, has not lost if the opponent could not
    /// have mated.
    pub const fn is_drawn(&self) -> bool {
        use GameStatus::{Draw, InsufficientMaterialClaim, OutOfTime, Stalemate, Timeout, VariantEnd};
        matches!(self, Draw | Stalemate | OutOfTime | Timeout | InsufficientMaterialClaim | VariantEnd)
    }

    pub fn from_name(name: &str) -> Self {
        Self::NAMES
            .into_iter()
            .find_map(|(status, known)| (known == name).then_some(status))
            .unwrap_or_else(|| Self::Other(name.to_owned()))
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Other(name) => name,
            known => Self::NAMES.iter().find_map(|(status, name)| (status == known).then_some(*name)).unwrap_or("?"),
        }
    }

    pub const fn is_running(&self) -> bool {
        matches!(self, Self::Created | Self::Started)
    }
}
