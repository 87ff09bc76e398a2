//! Moves and their text: `21-17`, `22x15x6`, or `22x6` where that is enough.

use std::fmt;

use super::{Board, DraughtsError, Rules, Square, Squares};

/// The most captures of a king in one move: its jumps join squares of one of four classes, and no
/// class has more than nine pairs of neighbours.
const MOST_TAKEN: usize = 9;

/// The legal moves of a position; there are rarely more than a dozen.
pub type MoveList = smallvec::SmallVec<[Move; 16]>;

/// A move: the squares that a piece visits in order, and its captures.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move {
    squares: [Square; MOST_TAKEN + 1],
    len: u8,
    taken: Squares,
}

impl Move {
    /// A move of one step that takes nothing.
    pub(crate) fn quiet(from: Square, to: Square) -> Self {
        let mut squares = [Square::default(); MOST_TAKEN + 1];
        squares[..2].copy_from_slice(&[from, to]);
        Self { squares, len: 2, taken: Squares::NONE }
    }

    /// A capture that has not taken anything yet.
    pub(crate) fn standing(from: Square) -> Self {
        let mut squares = [Square::default(); MOST_TAKEN + 1];
        squares[0] = from;
        Self { squares, len: 1, taken: Squares::NONE }
    }

    #[must_use]
    pub(crate) fn jump(mut self, over: Squares, to: Square) -> Self {
        self.squares[self.len as usize] = to;
        self.len += 1;
        self.taken = self.taken | over;
        self
    }

    pub const fn from(&self) -> Square {
        self.squares[0]
    }

    /// Returns the last square; a king may end where it started.
    pub const fn to(&self) -> Square {
        self.squares[self.len as usize - 1]
    }

    /// Returns all squares visited, including the first and the last.
    pub fn squares(&self) -> &[Square] {
        &self.squares[..self.len as usize]
    }

    pub const fn taken(&self) -> Squares {
        self.taken
    }

    pub const fn is_capture(&self) -> bool {
        !self.taken.is_empty()
    }
}

impl fmt::Display for Move {
    /// Writes every square, which is always unambiguous.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let between = if self.is_capture() { "x" } else { "-" };
        let squares: Vec<String> = self.squares().iter().map(Square::to_string).collect();
        f.pad(&squares.join(between))
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Reads the squares of a move, and true if it is written as a capture.
fn read(text: &str) -> Option<(Vec<Square>, bool)> {
    let capture = text.contains(['x', 'X', ':']);
    let square = |number: &str| {
        let digits = (1..=2).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit());
        if digits { number.parse().ok().and_then(Square::new) } else { None }
    };
    let squares: Vec<Square> = text.split(['-', 'x', 'X', ':']).map(square).collect::<Option<_>>()?;
    let plausible = if capture { !text.contains('-') && squares.len() >= 2 } else { squares.len() == 2 };
    plausible.then_some((squares, capture))
}

impl Board {
    /// The legal move that a text names, a capture by its ends where all that have them take the same pieces.
    pub fn read_move(&self, text: &str, rules: Rules) -> Result<Move, DraughtsError> {
        let (squares, capture) = read(text).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            DraughtsError(format!("{shown:?} is no move (accepted: 21-17, 22x15 or 22x15x6, squares from 1 to 32)"))
        })?;
        let legal = self.legal_moves(rules);
        let joined = |moves: &[Move]| match moves {
            [] => "none".to_owned(),
            moves => moves.iter().map(Move::to_string).collect::<Vec<_>>().join(", "),
        };
        if let Some(mv) = legal.iter().find(|mv| mv.is_capture() == capture && mv.squares() == squares) {
            return Ok(*mv);
        }
        let mut candidates = legal.clone();
        candidates.retain(|mv| capture && squares.len() == 2 && mv.is_capture() && [mv.from(), mv.to()] == squares[..]);
        match candidates[..] {
            [] => Err(DraughtsError(format!("{text} is not legal here (legal: {})", joined(&legal)))),
            [first, ref others @ ..] if others.iter().all(|mv| mv.taken() == first.taken()) => Ok(first),
            ref several => {
                let candidates = joined(several);
                Err(DraughtsError(format!("{text} may be any of {candidates}: name the squares between")))
            }
        }
    }
}
