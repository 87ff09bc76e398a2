//! Inputs of a position: one for every man, numbered from a player's side.

use crate::board::{Color, Piece, Square};

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
}
