//! Inputs of a position: one for every man, numbered from a player's side.

use crate::board::{Color, Piece, Square};

/// Own and other men, six roles, 64 squares.
pub const MEN: usize = 2 * 6 * 64;
/// The parts of the board a king can stand in. A man is another input for each part the player's own king is in.
pub const KING_BUCKETS: usize = 4;
pub const INPUTS: usize = KING_BUCKETS * MEN;

/// The board as a player sees it, which depends on its king: every man is another input in another view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    player: Color,
    /// True if the board is mirrored, so that the king stands on the files a to d.
    mirrored: bool,
    /// 0 to [`KING_BUCKETS`] - 1: the corner, the rest of the back rank, the second rank, anywhere else.
    bucket: u8,
}

impl View {
    /// Views of one player.
    pub(super) const COUNT: usize = 2 * KING_BUCKETS;

    #[inline]
    pub const fn new(player: Color, king: Square) -> Self {
        let mirrored = king.file() >= 4;
        let file = if mirrored { 7 - king.file() } else { king.file() };
        let bucket = match king.relative(player).rank() {
            0 if file < 2 => 0,
            0 => 1,
            1 => 2,
            _ => 3,
        };
        Self { player, mirrored, bucket }
    }

    /// 0 to [`Self::COUNT`] - 1.
    #[inline]
    pub(super) const fn index(self) -> usize {
        2 * self.bucket as usize + self.mirrored as usize
    }

    /// The input of a man: 0 to [`INPUTS`] - 1.
    #[inline]
    pub const fn input(self, piece: Piece, square: Square) -> usize {
        let other = (piece.color() as usize) ^ (self.player as usize);
        let flip = if self.mirrored { 7 } else { 0 };
        let man = (other * 6 + piece.role().index()) * 64 + (square.relative(self.player).index() ^ flip);
        self.bucket as usize * MEN + man
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square(text: &str) -> Square {
        Square::parse(text).expect("a square")
    }

    #[test]
    fn inputs_are_symmetric() {
        let own_king = |player, king: &str, piece| View::new(player, square(king)).input(piece, square(king));
        let known = own_king(Color::White, "e1", Piece::WhiteKing);
        assert_eq!(known, own_king(Color::White, "d1", Piece::WhiteKing), "mirrored onto the other file");
        assert_eq!(known, own_king(Color::Black, "d8", Piece::BlackKing), "black sees its own king so");
        assert_ne!(known, own_king(Color::Black, "d8", Piece::WhiteKing));
    }

    #[test]
    fn king_square_gives_the_bucket() {
        for (player, king, bucket) in [
            (Color::White, "g1", 0),
            (Color::White, "a1", 0),
            (Color::White, "e1", 1),
            (Color::White, "f2", 2),
            (Color::White, "e4", 3),
            (Color::Black, "g8", 0),
            (Color::Black, "c8", 1),
            (Color::Black, "g1", 3),
        ] {
            assert_eq!(View::new(player, square(king)).bucket, bucket, "{player:?} {king}");
        }
    }

    #[test]
    fn every_input_has_a_number_of_its_own() {
        let views = ["a1", "c1", "a2", "a3"].map(|king| View::new(Color::Black, square(king).relative(Color::Black)));
        let mut seen = [false; INPUTS];
        for view in views {
            for piece in Piece::ALL {
                (0..64).map(Square::new).for_each(|square| seen[view.input(piece, square)] = true);
            }
        }
        assert!(seen.iter().all(|seen| *seen));
    }
}
