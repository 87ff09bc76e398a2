//! Sets of squares, one bit a square.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

use super::types::{Color, Square};

/// A set of squares. Iterating yields them from a1 to h8.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bitboard(pub u64);

impl Bitboard {
    pub const EMPTY: Self = Self(0);
    pub const ALL: Self = Self(!0);
    pub const FILE_A: Self = Self(0x0101_0101_0101_0101);
    pub const FILE_H: Self = Self(0x8080_8080_8080_8080);
    pub const LIGHT_SQUARES: Self = Self(0x55aa_55aa_55aa_55aa);

    /// The squares of a file, 0 for a.
    #[inline]
    pub const fn file(file: usize) -> Self {
        Self(Self::FILE_A.0 << (file & 7))
    }

    /// The squares of a rank as `color` counts them, 0 for its back rank.
    #[inline]
    pub const fn rank(rank: usize, color: Color) -> Self {
        Self(0xff << (((rank & 7) ^ (7 * color as usize)) * 8))
    }

    #[inline]
    pub const fn from_square(square: Square) -> Self {
        Self(1 << square.index())
    }

    #[inline]
    pub const fn has(self, square: Square) -> bool {
        self.0 >> square.index() & 1 != 0
    }

    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    #[inline]
    pub const fn has_any(self) -> bool {
        self.0 != 0
    }

    #[inline]
    pub const fn count(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Returns true if the set has at least two squares; cheaper than counting.
    #[inline]
    pub const fn many(self) -> bool {
        self.0 & self.0.wrapping_sub(1) != 0
    }

    /// The lowest square. Of the empty set: a1.
    #[inline]
    pub const fn first(self) -> Square {
        Square::new(self.0.trailing_zeros() as usize)
    }

    /// The lowest square, if there is one.
    #[inline]
    pub const fn get(self) -> Option<Square> {
        if self.is_empty() { None } else { Some(self.first()) }
    }

    /// The square that is furthest forward for `color`. Of the empty set: any.
    #[inline]
    pub const fn foremost(self, color: Color) -> Square {
        match color {
            Color::White => Square::new(63 ^ self.0.leading_zeros() as usize),
            Color::Black => self.first(),
        }
    }

    /// Returns the squares one step forward as `color` moves.
    #[inline]
    pub const fn forward(self, color: Color) -> Self {
        match color {
            Color::White => Self(self.0 << 8),
            Color::Black => Self(self.0 >> 8),
        }
    }

    /// Returns the set one step towards the queen's side.
    #[inline]
    pub const fn west(self) -> Self {
        Self((self.0 & !Self::FILE_A.0) >> 1)
    }

    /// Returns the set one step towards the king's side.
    #[inline]
    pub const fn east(self) -> Self {
        Self((self.0 & !Self::FILE_H.0) << 1)
    }

    /// Returns the neighbours on the rank.
    #[inline]
    pub const fn sideways(self) -> Self {
        Self(self.west().0 | self.east().0)
    }

    /// The squares and everything in front of them on their files, as `color` moves.
    #[inline]
    pub const fn fill_forward(self, color: Color) -> Self {
        let mut b = self.0;
        match color {
            Color::White => {
                b |= b << 8;
                b |= b << 16;
                b |= b << 32;
            }
            Color::Black => {
                b |= b >> 8;
                b |= b >> 16;
                b |= b >> 32;
            }
        }
        Self(b)
    }

    /// The squares and their whole files.
    #[inline]
    pub const fn fill_files(self) -> Self {
        Self(self.fill_forward(Color::White).0 | self.fill_forward(Color::Black).0)
    }

    /// Returns the squares that pawns of `color` on this set attack.
    #[inline]
    pub const fn pawn_attacks(self, color: Color) -> Self {
        self.sideways().forward(color)
    }

    /// Returns the squares that at least two pawns of `color` on this set attack.
    #[inline]
    pub const fn pawn_double_attacks(self, color: Color) -> Self {
        Self(self.west().forward(color).0 & self.east().forward(color).0)
    }
}

impl Iterator for Bitboard {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        let square = self.get()?;
        self.0 &= self.0 - 1;
        Some(square)
    }
}

impl From<Square> for Bitboard {
    #[inline]
    fn from(square: Square) -> Self {
        Self::from_square(square)
    }
}

impl Not for Bitboard {
    type Output = Self;
    #[inline]
    fn not(self) -> Self {
        Self(!self.0)
    }
}

macro_rules! set_operator {
    ($($operator:ident $method:ident $assign:ident $assign_method:ident;)*) => {$(
        impl<B: Into<Bitboard>> $operator<B> for Bitboard {
            type Output = Self;
            #[inline]
            fn $method(self, other: B) -> Self {
                Self($operator::$method(self.0, other.into().0))
            }
        }
        impl<B: Into<Bitboard>> $assign<B> for Bitboard {
            #[inline]
            fn $assign_method(&mut self, other: B) {
                *self = $operator::$method(*self, other);
            }
        }
    )*};
}

set_operator! {
    BitAnd bitand BitAndAssign bitand_assign;
    BitOr bitor BitOrAssign bitor_assign;
    BitXor bitxor BitXorAssign bitxor_assign;
}
