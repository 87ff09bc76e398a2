//! Inputs of a position: one for every man, numbered from a player's side.

use std::{fmt, str::FromStr};

use crate::board::{Bitboard, Board, Color, Piece, Role, Square, attacks};

/// Own and other men, six roles, 64 squares.
pub const INPUTS: usize = 2 * 6 * 64;

/// Returns true if `player` sees the board mirrored, so that its king stands on the files a to d.
#[inline]
pub const fn is_mirrored(king: Square) -> bool {
    king.file() >= 4
}

/// The input of a man as `player` sees it: 0 to [`INPUTS`] - 1.
#[inline]
pub const fn feature(player: Color, mirrored: bool, piece: Piece, square: Square) -> usize {
    let other = (piece.color() as usize) ^ (player as usize);
    let flip = if mirrored { 7 } else { 0 };
    (other * 6 + piece.role().index()) * 64 + (square.relative(player).index() ^ flip)
}

/// The visible part of the board.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Mask {
    /// A bit for each role, the pawn lowest.
    roles: u8,
    /// The largest distance from either king, in king steps; 0 for the whole board.
    near_kings: u8,
}

impl Mask {
    pub const ALL: Self = Self { roles: 0b11_1111, near_kings: 0 };

    /// The two numbers that are written to a net's file.
    pub(super) const fn to_bytes(self) -> [u8; 2] {
        [self.roles, self.near_kings]
    }

    pub(super) const fn from_bytes([roles, near_kings]: [u8; 2]) -> Option<Self> {
        if roles == 0 || roles > Self::ALL.roles || near_kings > 7 { None } else { Some(Self { roles, near_kings }) }
    }

    #[inline]
    pub const fn has(self, role: Role) -> bool {
        self.roles >> role.index() & 1 != 0
    }

    /// Returns the visible squares, given the kings' squares.
    #[inline]
    pub fn squares(self, kings: [Square; 2]) -> Bitboard {
        if self.near_kings == 0 {
            return Bitboard::ALL;
        }
        let mut squares = Bitboard::from_square(kings[0]) | kings[1];
        for _ in 0..self.near_kings {
            squares = squares.fold(squares, |near, square| near | attacks::king(square));
        }
        squares
    }

    /// The men of a board that are seen, by [`Piece::index`].
    #[inline]
    pub(super) fn men(self, board: &Board) -> [Bitboard; 12] {
        let squares = self.squares(Color::ALL.map(|color| board.king(color)));
        Piece::ALL.map(|piece| {
            if self.has(piece.role()) { board.men(piece.color(), piece.role()) & squares } else { Bitboard::EMPTY }
        })
    }
}

impl Default for Mask {
    fn default() -> Self {
        Self::ALL
    }
}

impl FromStr for Mask {
    type Err = String;

    /// Reads the letters of roles, `pk` for pawns and kings, and a reach, `pnbrqk@2` for men within two steps of a king.
    fn from_str(text: &str) -> Result<Self, String> {
        let error = || {
            format!(
                "{text:?} is no mask (accepted: letters of pnbrqk, each at most once, with @1 to @7 behind for men near the kings)"
            )
        };
        let (letters, reach) = text.split_once('@').unwrap_or((text, "0"));
        let mut roles = 0;
        for letter in letters.chars() {
            let role = Role::ALL.into_iter().find(|role| role.letter() == letter).ok_or_else(error)?;
            if roles >> role.index() & 1 != 0 {
                return Err(error());
            }
            roles |= 1 << role.index();
        }
        let near_kings = reach.parse().map_err(|_| error())?;
        if text.contains('@') && near_kings == 0 {
            return Err(error());
        }
        Self::from_bytes([roles, near_kings]).ok_or_else(error)
    }
}

impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters: String = Role::ALL.into_iter().filter(|role| self.has(*role)).map(Role::letter).collect();
        if self.near_kings == 0 { f.pad(&letters) } else { write!(f, "{letters}@{}", self.near_kings) }
    }
}

impl fmt::Debug for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Mask({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_symmetric() {
        let [e1, d1, d8] = ["e1", "d1", "d8"].map(|text| Square::parse(text).expect("a square"));
        assert!(is_mirrored(e1) && !is_mirrored(d1));
        let own_king = feature(Color::White, true, Piece::WhiteKing, e1);
        assert_eq!(own_king, feature(Color::White, false, Piece::WhiteKing, d1), "mirrored onto the other file");
        assert_eq!(own_king, feature(Color::Black, false, Piece::BlackKing, d8), "black sees its own king so");
        assert_ne!(own_king, feature(Color::Black, false, Piece::WhiteKing, d8));
        let inputs = Color::ALL.into_iter().flat_map(|player| {
            Piece::ALL
                .into_iter()
                .flat_map(move |piece| (0..64).map(move |i| feature(player, true, piece, Square::new(i))))
        });
        assert_eq!(inputs.max(), Some(INPUTS - 1));
    }

    #[test]
    fn masks_round_trip() {
        for text in ["pnbrqk", "pk", "pnbrqk@2", "k@7"] {
            assert_eq!(text.parse::<Mask>().map(|mask| mask.to_string()).as_deref(), Ok(text));
        }
        for bad in ["", "pp", "x", "pk@", "pk@0", "pk@8", "@2"] {
            assert!(bad.parse::<Mask>().is_err(), "{bad:?} must be refused");
        }
    }

    #[test]
    fn mask_hides_distant_men() {
        let board = Board::from_fen("4k3/8/8/8/3p4/8/4P3/4K2R w K - 0 1").expect("a position");
        let seen = |mask: &str| -> usize {
            mask.parse::<Mask>().expect("a mask").men(&board).iter().map(|men| men.count()).sum()
        };
        assert_eq!([seen("pnbrqk"), seen("pk"), seen("pnbrqk@1"), seen("pnbrqk@3"), seen("r@3")], [5, 4, 3, 5, 1]);
    }
}
