//! The ways a game can end.

use std::fmt;

use shakmaty::{KnownOutcome, Position};

use domain::{Color, GameStatus, Line, Variant};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum End {
    Checkmate,
    Stalemate,
    VariantRule,
    Repetition,
    FiftyMoves,
    InsufficientMaterial,
    Agreement,
    Resignation,
    /// A flag fell. Without a winner: the side with time left could not have mated.
    OutOfTime,
    /// A side left and the other one claimed.
    Abandoned,
    Aborted,
}

impl End {
    pub const fn status(self) -> GameStatus {
        match self {
            Self::Checkmate => GameStatus::Mate,
            Self::Stalemate => GameStatus::Stalemate,
            Self::VariantRule => GameStatus::VariantEnd,
            Self::Repetition | Self::FiftyMoves | Self::InsufficientMaterial | Self::Agreement => GameStatus::Draw,
            Self::Resignation => GameStatus::Resign,
            Self::OutOfTime => GameStatus::OutOfTime,
            Self::Abandoned => GameStatus::Timeout,
            Self::Aborted => GameStatus::Aborted,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GameOutcome {
    pub end: End,
    pub winner: Option<Color>,
}

impl GameOutcome {
    pub const fn won(winner: Color, end: End) -> Self {
        Self { end, winner: Some(winner) }
    }

    pub const fn drawn(end: End) -> Self {
        Self { end, winner: None }
    }

    pub const fn aborted() -> Self {
        Self::drawn(End::Aborted)
    }

    pub fn loser(&self) -> Option<Color> {
        self.winner.map(|winner| !winner)
    }

    /// Returns the PGN result: `1-0`, `0-1`, `1/2-1/2`, or `*` for an aborted game.
    pub const fn result(&self) -> &'static str {
        match (self.winner, self.end) {
            (Some(Color::White), _) => "1-0",
            (Some(Color::Black), _) => "0-1",
            (None, End::Aborted) => "*",
            (None, _) => "1/2-1/2",
        }
    }
}

impl fmt::Display for GameOutcome {
    /// Writes one line for people: `0-1 (mate)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.result(), self.end.status().name())
    }
}

/// Returns the outcome if the last move of `line` ended the game.
pub(super) fn after_move(line: &Line) -> Option<GameOutcome> {
    let position = line.position();
    if let Some(outcome) = position.variant_outcome().known() {
        return Some(GameOutcome { end: End::VariantRule, winner: outcome.winner() });
    }
    if let Some(outcome) = position.outcome().known() {
        return Some(match outcome {
            KnownOutcome::Decisive { winner } => GameOutcome::won(winner, End::Checkmate),
            KnownOutcome::Draw if position.legal_moves().is_empty() => GameOutcome::drawn(End::Stalemate),
            KnownOutcome::Draw => GameOutcome::drawn(End::InsufficientMaterial),
        });
    }
    if line.occurrences() >= 3 {
        return Some(GameOutcome::drawn(End::Repetition));
    }
    // Pieces come back in crazyhouse, so that nothing is ever beyond repair there.
    (position.halfmoves() >= 100 && line.variant() != Variant::Crazyhouse)
        .then_some(GameOutcome::drawn(End::FiftyMoves))
}

/// Returns the outcome of the fall of `loser`'s flag.
pub(super) fn on_time(line: &Line, loser: Color) -> GameOutcome {
    if line.position().has_insufficient_material(!loser) {
        GameOutcome::drawn(End::OutOfTime)
    } else {
        GameOutcome::won(!loser, End::OutOfTime)
    }
}
