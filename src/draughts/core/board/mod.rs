//! A position, and the position after a move.
//!
//! A [`Board`] is three sets of squares and the side to move. [`Board::legal_moves`] is in
//! `generate` beside perft, the text of boards in `fen`, the text of moves in `moves`.

mod fen;
mod generate;
mod moves;
mod square;
#[cfg(test)]
pub(crate) mod tests;

pub use moves::{Move, MoveList};
pub use square::{Direction, Square, Squares};

use std::{fmt, ops::Not};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// The federation's rules: all four priorities among captures, and draws.
    #[default]
    Official,
    /// The rules of the program IntellidAma (2010): any capture that takes most, and no draws.
    Relaxed,
}

impl Rules {
    pub const ALL: [Self; 2] = [Self::Official, Self::Relaxed];
}

impl fmt::Display for Rules {
    /// The word by which records of games know them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Official => "italian-draughts",
            Self::Relaxed => "italian-draughts-relaxed",
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Color {
    /// Moves first, up the board, towards square 1.
    White,
    /// Moves down the board, towards square 32.
    Black,
}

impl Color {
    pub const fn forward(self) -> [Direction; 2] {
        match self {
            Self::White => [Direction::UpLeft, Direction::UpRight],
            Self::Black => [Direction::DownLeft, Direction::DownRight],
        }
    }

    /// The row on which its men become kings.
    pub const fn promotion_row(self) -> Squares {
        Squares::row(match self {
            Self::White => 0,
            Self::Black => 7,
        })
    }

    /// A row counted from its own base, 1, to its promotion row, 8.
    pub const fn rank(self, square: Square) -> i32 {
        match self {
            Self::White => 8 - square.row() as i32,
            Self::Black => square.row() as i32 + 1,
        }
    }
}

impl Not for Color {
    type Output = Self;

    fn not(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

/// A fault of a text, a position, a move or a file, with what is accepted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct DraughtsError(pub String);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Board {
    pieces: [Squares; 2],
    kings: Squares,
    to_move: Color,
}

impl Default for Board {
    fn default() -> Self {
        Self { pieces: [Squares(0xfff0_0000), Squares(0x0000_0fff)], kings: Squares::NONE, to_move: Color::White }
    }
}

impl Board {
    /// Checks that the sets agree, no side has more than twelve pieces, and no man stands on its promotion row.
    pub fn new(white: Squares, black: Squares, kings: Squares, to_move: Color) -> Result<Self, DraughtsError> {
        let board = Self { pieces: [white, black], kings, to_move };
        let failed = |fault: String| Err(DraughtsError(fault));
        if let Some(square) = (white & black).next() {
            return failed(format!("square {square} holds two pieces"));
        }
        if let Some(square) = (kings & !(white | black)).next() {
            return failed(format!("square {square} is named as a king, but no piece stands there"));
        }
        for color in [Color::White, Color::Black] {
            if let Some(square) = (board.men(color) & color.promotion_row()).next() {
                return failed(format!("the man on {square} stands on its promotion row: write it as a king"));
            }
            if board.pieces(color).len() > 12 {
                return failed(format!("a side has {} pieces, twelve are the most", board.pieces(color).len()));
            }
        }
        Ok(board)
    }

    /// Creates a board without checks, for pieces that are known to be a position.
    pub(crate) fn of(white: Squares, black: Squares, kings: Squares, to_move: Color) -> Self {
        debug_assert!(Self::new(white, black, kings, to_move).is_ok());
        Self { pieces: [white, black], kings, to_move }
    }

    pub const fn to_move(&self) -> Color {
        self.to_move
    }

    /// Men and kings of a side.
    pub const fn pieces(&self, color: Color) -> Squares {
        self.pieces[color as usize]
    }

    pub fn men(&self, color: Color) -> Squares {
        self.pieces(color) & !self.kings
    }

    pub fn kings(&self, color: Color) -> Squares {
        self.pieces(color) & self.kings
    }

    /// Returns the letter of the piece on a square: of men and of kings, for each colour.
    pub fn letter(&self, square: Square, letters: [[char; 2]; 2]) -> Option<char> {
        let color = [Color::White, Color::Black].into_iter().find(|color| self.pieces(*color).has(square))?;
        Some(letters[color as usize][usize::from(self.kings.has(square))])
    }

    pub fn occupied(&self) -> Squares {
        self.pieces[0] | self.pieces[1]
    }

    /// Returns the position with colours exchanged and the board turned.
    #[must_use]
    pub fn rotated(&self) -> Self {
        Self {
            pieces: [self.pieces[1].rotated(), self.pieces[0].rotated()],
            kings: self.kings.rotated(),
            to_move: !self.to_move,
        }
    }

    /// Returns the position after a legal move. The result of an illegal move is meaningless.
    #[must_use]
    pub fn after(&self, mv: &Move) -> Self {
        let (mover, other) = (self.to_move, !self.to_move);
        let (from, to) = (mv.from().set(), mv.to().set());
        let was_king = !(self.kings & from).is_empty();
        let mut next = *self;
        next.pieces[mover as usize] = (self.pieces(mover) & !from) | to;
        next.pieces[other as usize] = self.pieces(other) & !mv.taken();
        next.kings = self.kings & !(from | mv.taken());
        if was_king || !(to & mover.promotion_row()).is_empty() {
            next.kings = next.kings | to;
        }
        next.to_move = other;
        next
    }

    /// Returns true if later moves cannot undo it: a capture, or a man's move.
    pub fn is_irreversible(&self, mv: &Move) -> bool {
        mv.is_capture() || !self.kings.has(mv.from())
    }

    /// A number by which tables know the position: equal for equal positions, well spread, and always the same.
    pub fn key(&self) -> u64 {
        let pieces = u64::from(self.pieces[0].0) << 32 | u64::from(self.pieces[1].0);
        let rest = u64::from(self.kings.0) << 1 | self.to_move as u64;
        spread(spread(pieces) ^ rest)
    }
}

/// A bijection of 64 bits in which every bit of the input moves about half of the bits of the output (the finisher of
/// the generator SplitMix64, Steele and others 2014).
pub(crate) const fn spread(input: u64) -> u64 {
    let a = input.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let b = (a ^ (a >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let c = (b ^ (b >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    c ^ (c >> 31)
}
