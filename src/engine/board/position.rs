//! A board with the past that the rule of repetition needs, and chess as FEN and UCI write it.

use super::{
    Board, Castling, FenError, Move, MoveKind, MoveList,
    make::castling_targets,
    types::{Role, Square},
};

/// A position of a game: the board and the keys of the positions before it.
#[derive(Clone, Debug)]
pub struct Position {
    board: Board,
    chess960: bool,
    past: Vec<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PositionError {
    #[error("FEN {fen:?}: {reason}")]
    Fen { fen: String, reason: FenError },
    #[error("{text:?} is no legal move in {fen} (ply {ply} of the line)")]
    Move { text: String, fen: String, ply: usize },
}

impl Position {
    /// The starting position of standard chess.
    pub const START: &'static str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

    /// The position after `moves` (UCI) from `fen`, which may also be `startpos`. With `chess960`, castling is written as
    /// the king taking its rook; both ways are read in any case.
    ///
    /// # Errors
    /// When the FEN or one of the moves is wrong.
    pub fn from_line<'a>(
        fen: &str,
        chess960: bool,
        moves: impl IntoIterator<Item = &'a str>,
    ) -> Result<Self, PositionError> {
        let fen = if fen == "startpos" { Self::START } else { fen };
        let board = Board::from_fen(fen).map_err(|reason| PositionError::Fen { fen: fen.to_owned(), reason })?;
        let mut position = Self { board, chess960, past: Vec::new() };
        for (ply, text) in moves.into_iter().enumerate() {
            let mv = position.parse_move(text).ok_or_else(|| PositionError::Move {
                text: text.to_owned(),
                fen: position.board.to_fen(),
                ply,
            })?;
            position.play(mv);
        }
        Ok(position)
    }

    pub fn play(&mut self, mv: Move) {
        self.past.push(self.board.keys().position);
        self.board = self.board.after(mv);
        if self.board.halfmoves() == 0 {
            // Positions before a capture or a pawn's move cannot recur.
            self.past.clear();
        }
    }

    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// Keys of the positions before this one that could still come back, oldest first.
    pub(crate) fn past(&self) -> &[u64] {
        &self.past
    }

    /// Returns all legal moves. None of them: mate or stalemate.
    pub fn legal_moves(&self) -> MoveList {
        self.board.legal_moves()
    }

    /// The legal move that a UCI text means here. Castling is read in both ways: `e1g1` and `e1h1`.
    pub fn parse_move(&self, uci: &str) -> Option<Move> {
        let (from, to) = (Square::parse(uci.get(0..2)?)?, Square::parse(uci.get(2..4)?)?);
        let promotion = match uci.get(4..)? {
            "" => None,
            letter => Some(letter.chars().next().filter(|_| letter.len() == 1).and_then(Role::from_letter)?),
        };
        self.find_move(from, to, promotion)
    }

    /// The legal move between two squares, with what a pawn becomes. Castling is understood in both ways, as
    /// [`Self::parse_move`] does.
    pub fn find_move(&self, from: Square, to: Square, promotion: Option<Role>) -> Option<Move> {
        let moves = self.legal_moves();
        let fits = |mv: &&Move| mv.from() == from && mv.to() == to && mv.promotion() == promotion;
        let castles = |mv: &&Move| {
            mv.kind() == MoveKind::Castling
                && mv.from() == from
                && promotion.is_none()
                && castling_targets(self.board.turn(), mv.to() < from).0 == to
                && from.distance(to) == 2
        };
        moves.iter().find(fits).or_else(|| moves.iter().find(castles)).copied()
    }

    /// Writes a move of this position as UCI does. Castling is `e1g1`, or `e1h1` in Chess960 and
    /// wherever `e1g1` would be ambiguous because king or rook started elsewhere.
    pub fn move_to_uci(&self, mv: Move) -> String {
        write_move(&self.board, self.chess960, mv)
    }

    /// A line of moves from this position as UCI writes it; it ends before the first move that is not legal.
    pub fn line_to_uci(&self, line: &[Move]) -> Vec<String> {
        let mut board = self.board.clone();
        let mut texts = Vec::with_capacity(line.len());
        for mv in line {
            if !board.is_pseudo_legal(*mv) || !board.is_legal(*mv) {
                break;
            }
            texts.push(write_move(&board, self.chess960, *mv));
            board = board.after(*mv);
        }
        texts
    }

    /// Returns the number of earlier occurrences of this position.
    pub fn repetitions(&self) -> usize {
        let key = self.board.keys().position;
        self.past.iter().filter(|past| **past == key).count()
    }
}

fn write_move(board: &Board, chess960: bool, mv: Move) -> String {
    if mv.kind() != MoveKind::Castling || chess960 {
        return format!("{mv:?}");
    }
    let queen_side = mv.to() < mv.from();
    let usual_rook = if queen_side { 0 } else { 7 };
    let rook = board.castling.rooks[Castling::index(board.turn(), queen_side)];
    if mv.from().file() == 4 && rook.file() == usual_rook {
        format!("{}{}", mv.from(), castling_targets(board.turn(), queen_side).0)
    } else {
        format!("{mv:?}")
    }
}
