//! The 32 dark squares, sets of them, and the four diagonal steps between them.

use std::{
    fmt,
    ops::{BitAnd, BitOr, Not},
};

/// A playing square. Squares are numbered 1 to 32 row by row from the top left as White sees the board, so that 32 is
/// the dark corner at White's right hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(u8);

impl Square {
    /// The square of a number from 1 to 32; none for any other number.
    pub const fn new(number: u8) -> Option<Self> {
        if number >= 1 && number <= 32 { Some(Self(number - 1)) } else { None }
    }

    /// The square of an index from 0 to 31. Only the low five bits count, so there is no wrong index.
    pub(crate) const fn from_index(index: u32) -> Self {
        Self((index & 31) as u8)
    }

    /// Iterates over all squares, from 1 to 32.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..32).map(Self::from_index)
    }

    pub const fn number(self) -> u8 {
        self.0 + 1
    }

    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns the row, 0 at the top (the base of Black) to 7 at the bottom (the base of White).
    pub const fn row(self) -> u8 {
        self.0 / 4
    }

    /// Returns the column, 0 at White's left to 7 at White's right.
    pub const fn column(self) -> u8 {
        2 * (self.0 % 4) + self.row() % 2
    }

    /// Returns the same square as the opponent sees it.
    #[must_use]
    pub const fn rotated(self) -> Self {
        Self(31 - self.0)
    }

    pub const fn set(self) -> Squares {
        Squares(1 << self.0)
    }

    /// The neighbour in a direction, unless the board ends there.
    pub const fn step(self, direction: Direction) -> Option<Self> {
        let next = self.set().step(direction);
        if next.0 == 0 { None } else { Some(Self(next.0.trailing_zeros() as u8)) }
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.number().fmt(f)
    }
}

/// A diagonal direction, as White sees the board. Rows count from the top: up is where White's men go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards square 1.
    UpLeft,
    /// Towards square 4.
    UpRight,
    /// Towards square 29.
    DownLeft,
    /// Towards square 32.
    DownRight,
}

impl Direction {
    /// All four, those of White's men first.
    pub const ALL: [Self; 4] = [Self::UpLeft, Self::UpRight, Self::DownLeft, Self::DownRight];
}

/// A set of squares, one bit each; bit 0 is square 1.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Squares(pub u32);

impl Squares {
    pub const NONE: Self = Self(0);
    /// The squares of rows 0, 2, 4 and 6, which touch the left edge of the board.
    pub const EVEN_ROWS: Self = Self(0x0f0f_0f0f);
    /// The column at White's left, and the one at White's right.
    pub const SIDE_EDGES: Self = Self(0x8181_8181);
    pub const EDGES: Self = Self(0xf000_000f | 0x8181_8181);

    const LEFT_COLUMN: Self = Self(0x0101_0101);
    const RIGHT_COLUMN: Self = Self(0x8080_8080);

    /// The four squares of a row, 0 to 7 from the top.
    pub const fn row(row: u8) -> Self {
        Self(0xf << (4 * (row & 7)))
    }

    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub const fn has(self, square: Square) -> bool {
        self.0 & square.set().0 != 0
    }

    /// Returns all squares of the set moved by one step, without those that would leave the board.
    #[must_use]
    pub const fn step(self, direction: Direction) -> Self {
        let (even, odd) = (self.0 & Self::EVEN_ROWS.0, self.0 & !Self::EVEN_ROWS.0);
        let inner_even = even & !Self::LEFT_COLUMN.0;
        let inner_odd = odd & !Self::RIGHT_COLUMN.0;
        Self(match direction {
            Direction::UpLeft => inner_even >> 5 | odd >> 4,
            Direction::UpRight => even >> 4 | inner_odd >> 3,
            Direction::DownLeft => inner_even << 3 | odd << 4,
            Direction::DownRight => even << 4 | inner_odd << 5,
        })
    }

    /// The set as the opponent sees it.
    #[must_use]
    pub const fn rotated(self) -> Self {
        Self(self.0.reverse_bits())
    }
}

/// The squares of the set from 1 to 32.
impl Iterator for Squares {
    type Item = Square;

    fn next(&mut self) -> Option<Square> {
        if self.0 == 0 {
            return None;
        }
        let square = Square(self.0.trailing_zeros() as u8);
        self.0 &= self.0 - 1;
        Some(square)
    }
}

impl FromIterator<Square> for Squares {
    fn from_iter<T: IntoIterator<Item = Square>>(squares: T) -> Self {
        squares.into_iter().fold(Self::NONE, |set, square| set | square.set())
    }
}

impl BitAnd for Squares {
    type Output = Self;

    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl BitOr for Squares {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Not for Squares {
    type Output = Self;

    fn not(self) -> Self {
        Self(!self.0)
    }
}

impl fmt::Debug for Squares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.map(Square::number)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_match_rows_and_columns() {
        for square in Square::all() {
            for (direction, rows, columns) in [
                (Direction::UpLeft, -1, -1),
                (Direction::UpRight, -1, 1),
                (Direction::DownLeft, 1, -1),
                (Direction::DownRight, 1, 1),
            ] {
                let to = (square.row() as i8 + rows, square.column() as i8 + columns);
                let on_board = (0..8).contains(&to.0) && (0..8).contains(&to.1);
                let stepped = square.step(direction).map(|next| (next.row() as i8, next.column() as i8));
                assert_eq!(stepped, on_board.then_some(to), "{square} {direction:?}");
            }
        }
    }

    #[test]
    fn edges_are_the_outer_squares() {
        let outer = |n: u8| n == 0 || n == 7;
        let edges: Squares = Square::all().filter(|s| outer(s.row()) || outer(s.column())).collect();
        let sides: Squares = Square::all().filter(|s| outer(s.column())).collect();
        assert_eq!((Squares::EDGES, Squares::SIDE_EDGES), (edges, sides));
    }
}
