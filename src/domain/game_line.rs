//! The interface of a game to the council: chess is one such game.

use std::fmt::{Debug, Display};

use super::{
    Line, Score, Variant, engine_move, engine_position,
    knowledge_words::{self, ElectorRole},
};
use engine::{Heuristic, Knowledge, breakdown};
use shakmaty::{Color, Position as _, uci::UciMove};

/// The line of a game: its start and the moves since.
pub trait GameLine: Clone + Eq + Debug + Send + Sync + 'static {
    type Move: Copy + Eq + Display + Debug + Send + Sync + 'static;
    type Knowledge: Copy + PartialEq + Display + Debug + Send + Sync + 'static;
    /// The variant of the rules; as text, its word in records.
    type Variant: Copy + Display + Debug + Send + Sync + 'static;

    const COMPLETE_KNOWLEDGE: Self::Knowledge;

    fn variant(&self) -> Self::Variant;

    /// The starting position as text; `None` for the usual one.
    fn start_text(&self) -> Option<String>;

    fn moves(&self) -> &[Self::Move];

    fn ply(&self) -> usize {
        self.moves().len()
    }

    /// The legal moves; none once the game is over.
    fn legal_moves(&self) -> Vec<Self::Move>;

    fn is_legal(&self, mv: Self::Move) -> bool;

    /// Plays a move. `false`, and the line is unchanged, if it is not legal here.
    fn advance(&mut self, mv: Self::Move) -> bool;

    /// Returns the line cut off after `ply` moves.
    fn prefix(&self, ply: usize) -> Self;

    fn position_text(&self) -> String;

    /// Reads a move as records write it, legal or not.
    fn recorded_move(&self, text: &str) -> Option<Self::Move>;

    /// Writes a move in the notation of players; an illegal one stays as it is.
    fn move_text(&self, mv: Self::Move) -> String;

    /// Returns the number of the next move, and true if the first player makes it.
    fn move_number(&self) -> (usize, bool);

    /// Returns the value for the player who moved last, if the game is over.
    fn value_of_the_end(&self) -> Option<Score>;

    /// Returns each part of the evaluation of the position after `moves`, in centipawns for the player to move now; `None` if
    /// the evaluation of the game has no parts.
    fn parts_after(&self, _moves: &[Self::Move]) -> Option<Vec<(&'static str, i32)>> {
        None
    }

    /// The role of an elector with the knowledge of these letters, and that knowledge in words; `None` if the elector is called by
    /// its own name.
    fn knowledge_in_words(_letters: &str) -> Option<(ElectorRole, String)> {
        None
    }
}

impl GameLine for Line {
    type Move = UciMove;
    type Knowledge = Knowledge;
    type Variant = Variant;

    const COMPLETE_KNOWLEDGE: Knowledge = Knowledge::COMPLETE;

    fn variant(&self) -> Variant {
        Line::variant(self)
    }

    fn start_text(&self) -> Option<String> {
        self.start_fen()
    }

    fn moves(&self) -> &[UciMove] {
        Line::moves(self)
    }

    fn legal_moves(&self) -> Vec<UciMove> {
        Line::legal_moves(self)
    }

    fn is_legal(&self, uci: UciMove) -> bool {
        Line::is_legal(self, uci)
    }

    fn advance(&mut self, uci: UciMove) -> bool {
        self.play(uci).is_ok()
    }

    fn prefix(&self, ply: usize) -> Self {
        Line::prefix(self, ply)
    }

    fn position_text(&self) -> String {
        self.fen()
    }

    fn recorded_move(&self, text: &str) -> Option<UciMove> {
        text.parse().ok()
    }

    fn move_text(&self, uci: UciMove) -> String {
        self.san(uci)
    }

    fn move_number(&self) -> (usize, bool) {
        (u32::from(self.position().fullmoves()) as usize, self.turn() == Color::White)
    }

    fn value_of_the_end(&self) -> Option<Score> {
        let position = self.position();
        if position.legal_moves().is_empty() {
            return Some(if position.is_check() { Score::Mate(1) } else { Score::Cp(0) });
        }
        (self.occurrences() >= 3).then_some(Score::Cp(0))
    }

    /// Plays out winning captures first. Ignores moves from the first illegal one on.
    fn parts_after(&self, moves: &[UciMove]) -> Option<Vec<(&'static str, i32)>> {
        if !Line::variant(self).is_standard_rules() {
            return None;
        }
        let mut position = engine_position(self).ok()?;
        let sign = position.board().turn().sign();
        for uci in moves {
            let Some(mv) = engine_move(&position, *uci) else { break };
            position.play(mv);
        }
        let parts = breakdown(&position.board().after_exchanges(), None).parts();
        Some(parts.map(|(heuristic, value)| (in_words(heuristic), value * sign)).to_vec())
    }

    fn knowledge_in_words(letters: &str) -> Option<(ElectorRole, String)> {
        letters.parse::<Knowledge>().ok().map(knowledge_words::in_words)
    }
}

/// A heuristic as a chess player calls it.
const fn in_words(heuristic: Heuristic) -> &'static str {
    match heuristic {
        Heuristic::Pawns => "pawn structure",
        Heuristic::Relations => "piece relations",
        other => other.name(),
    }
}
