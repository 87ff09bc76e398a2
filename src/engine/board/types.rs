use std::fmt;

/// The side that has the white or the black pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Color {
    White,
    Black,
}

impl Color {
    pub const ALL: [Self; 2] = [Self::White, Self::Black];

    /// 0 for white, 1 for black.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// +1 for white, -1 for black: the factor that turns a value of one player into a value for white.
    #[inline]
    pub const fn sign(self) -> i32 {
        1 - 2 * self as i32
    }
}

impl std::ops::Not for Color {
    type Output = Self;

    #[inline]
    fn not(self) -> Self {
        match self {
            Self::White => Self::Black,
            Self::Black => Self::White,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Role {
    Pawn,
    Knight,
    Bishop,
    Rook,
    Queen,
    King,
}

impl Role {
    pub const ALL: [Self; 6] = [Self::Pawn, Self::Knight, Self::Bishop, Self::Rook, Self::Queen, Self::King];

    /// 0 for the pawn to 5 for the king.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The lower-case letter of FEN and UCI.
    pub const fn letter(self) -> char {
        b"pnbrqk"[self as usize] as char
    }

    /// Reads either case of the letter.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.letter() == letter.to_ascii_lowercase())
    }
}

/// A piece of a player: twice its role, and one more for black.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[rustfmt::skip]
pub enum Piece {
    WhitePawn, BlackPawn, WhiteKnight, BlackKnight, WhiteBishop, BlackBishop,
    WhiteRook, BlackRook, WhiteQueen, BlackQueen, WhiteKing, BlackKing,
}

impl Piece {
    /// All twelve in the order of their index.
    #[rustfmt::skip]
    pub const ALL: [Self; 12] = [
        Self::WhitePawn, Self::BlackPawn, Self::WhiteKnight, Self::BlackKnight, Self::WhiteBishop, Self::BlackBishop,
        Self::WhiteRook, Self::BlackRook, Self::WhiteQueen, Self::BlackQueen, Self::WhiteKing, Self::BlackKing,
    ];

    #[inline]
    pub const fn new(color: Color, role: Role) -> Self {
        // SAFETY: a role is at most 5 and a colour at most 1, so this is the number of a piece.
        unsafe { std::mem::transmute::<u8, Self>(role as u8 * 2 + color as u8) }
    }

    #[inline]
    pub const fn color(self) -> Color {
        if self as u8 & 1 == 0 { Color::White } else { Color::Black }
    }

    #[inline]
    pub const fn role(self) -> Role {
        // SAFETY: a piece is at most 11, so half of it is the number of a role.
        unsafe { std::mem::transmute::<u8, Role>(self as u8 >> 1) }
    }

    /// 0 to 11, white pawn and black pawn first.
    #[inline]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The letter of FEN: upper case for white.
    pub const fn letter(self) -> char {
        b"PpNnBbRrQqKk"[self as usize] as char
    }

    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|piece| piece.letter() == letter)
    }
}

/// A square: a1 is 0, b1 is 1, h8 is 63.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Square(u8);

impl Square {
    /// Creates the square `index` modulo 64.
    #[inline]
    pub const fn new(index: usize) -> Self {
        Self(index as u8 & 63)
    }

    /// File and rank from 0 to 7.
    #[inline]
    pub const fn at(file: usize, rank: usize) -> Self {
        Self::new(rank * 8 + file)
    }

    /// Returns 0 to 63. The mask tells the compiler so, which avoids bounds checks.
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 & 63) as usize
    }

    /// 0 for a to 7 for h.
    #[inline]
    pub const fn file(self) -> usize {
        (self.0 & 7) as usize
    }

    /// 0 for the first to 7 for the eighth.
    #[inline]
    pub const fn rank(self) -> usize {
        (self.0 >> 3 & 7) as usize
    }

    /// The rank as `color` sees it: 0 is the own back rank.
    #[inline]
    pub const fn rank_for(self, color: Color) -> usize {
        self.rank() ^ (7 * color as usize)
    }

    /// The square as `color` sees it: mirrored for black.
    #[inline]
    pub const fn relative(self, color: Color) -> Self {
        Self(self.0 ^ (56 * color as u8))
    }

    /// Returns the square one step forward as `color` moves; wraps at the edge of the board.
    #[inline]
    pub const fn forward(self, color: Color) -> Self {
        match color {
            Color::White => Self::new(self.0 as usize + 8),
            Color::Black => Self::new(self.0 as usize + 56),
        }
    }

    /// Returns the distance in king steps.
    #[inline]
    pub const fn distance(self, other: Self) -> usize {
        let (files, ranks) = (self.file().abs_diff(other.file()), self.rank().abs_diff(other.rank()));
        if files > ranks { files } else { ranks }
    }

    pub fn parse(text: &str) -> Option<Self> {
        match text.as_bytes() {
            [file @ b'a'..=b'h', rank @ b'1'..=b'8'] => {
                Some(Self::at(usize::from(file - b'a'), usize::from(rank - b'1')))
            }
            _ => None,
        }
    }
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", char::from(b'a' + self.file() as u8), self.rank() + 1)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
