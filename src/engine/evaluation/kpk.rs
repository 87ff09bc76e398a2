//! King and pawn against king, exactly.
//!
//! Squares are seen from the side with the pawn, which stands on the files a to d (the rest is
//! mirrored). For each place of pawn and own king, one set holds the squares of the bare king for
//! which the pawn's side wins, one for each player to move: 24 KiB in all. The sets grow from
//! nothing until neither can grow (a fixed point, as in a retrograde analysis), which takes a few
//! milliseconds at first use.

use std::sync::LazyLock;

use crate::board::{Bitboard, Color, Square, attacks};

/// Pawns on a2 to d7.
const PAWNS: usize = 24;

/// The losing squares of the bare king, by pawn and its king.
struct Wins {
    /// The pawn's side to move.
    strong: [[Bitboard; 64]; PAWNS],
    /// The bare king to move.
    weak: [[Bitboard; 64]; PAWNS],
}

static WINS: LazyLock<Box<Wins>> = LazyLock::new(|| {
    let mut wins = Box::new(Wins { strong: [[Bitboard::EMPTY; 64]; PAWNS], weak: [[Bitboard::EMPTY; 64]; PAWNS] });
    while wins.grow() {}
    wins
});

/// Returns true if the side with the pawn wins; squares from its side ([`Square::relative`]). Both
/// kings must stand legally.
pub(super) fn is_won(king: Square, pawn: Square, bare_king: Square, pawn_side_to_move: bool) -> bool {
    let mirror = if pawn.file() > 3 { 7 } else { 0 };
    let [king, pawn, bare_king] = [king, pawn, bare_king].map(|square| Square::new(square.index() ^ mirror));
    let sets = if pawn_side_to_move { &WINS.strong } else { &WINS.weak };
    // An impossible pawn has no set.
    index(pawn).is_some_and(|pawn| sets[pawn][king.index()].has(bare_king))
}

fn index(pawn: Square) -> Option<usize> {
    (1..=6).contains(&pawn.rank()).then(|| (pawn.rank() - 1) * 4 + (pawn.file() & 3))
}

fn pawns() -> impl Iterator<Item = (usize, Square)> {
    (0..PAWNS).map(|i| (i, Square::at(i % 4, i / 4 + 1)))
}

impl Wins {
    /// Adds the wins that follow from the known ones; returns false if there are none.
    fn grow(&mut self) -> bool {
        let mut grown = false;
        for (i, pawn) in pawns() {
            for king in Bitboard::ALL.filter(|king| *king != pawn) {
                let strong = self.strong_wins(i, pawn, king);
                let weak = self.weak_loses(i, pawn, king);
                let (old_strong, old_weak) = (&mut self.strong[i][king.index()], &mut self.weak[i][king.index()]);
                grown |= *old_strong != strong || *old_weak != weak;
                (*old_strong, *old_weak) = (strong, weak);
            }
        }
        grown
    }

    /// The pawn's side is to move: some step of its king or pawn leads to a win.
    fn strong_wins(&self, i: usize, pawn: Square, king: Square) -> Bitboard {
        let checked = attacks::pawn(pawn, Color::White);
        let mut won = attacks::king(king)
            .filter(|to| *to != pawn)
            .fold(Bitboard::EMPTY, |won, to| won | self.weak[i][to.index()]);
        let step = pawn.forward(Color::White);
        if step != king {
            won |= match index(step) {
                Some(next) => self.weak[next][king.index()],
                // Queens, and the queen is not lost.
                None if attacks::king(step).has(king) => Bitboard::ALL,
                None => !attacks::king(step),
            } & !Bitboard::from(step);
            let leap = step.forward(Color::White);
            if pawn.rank() == 1 && leap != king {
                won |=
                    index(leap).map_or(Bitboard::EMPTY, |next| self.weak[next][king.index()]) & !Bitboard::from(step);
            }
        }
        won & legal(pawn, king) & !checked
    }

    /// The bare king is to move: every step loses, or it is mate.
    fn weak_loses(&self, i: usize, pawn: Square, king: Square) -> Bitboard {
        let checked = attacks::pawn(pawn, Color::White);
        let safe = !(attacks::king(king) | checked);
        // Among the safe squares may be the pawn's own, which ends in a draw: no set of wins has it.
        let saving = safe & !self.strong[i][king.index()];
        legal(pawn, king) & !around(saving) & (around(safe) | checked)
    }
}

/// Returns the squares of the bare king that are legal apart from the pawn's attack.
fn legal(pawn: Square, king: Square) -> Bitboard {
    !(attacks::king(king) | king | pawn)
}

/// The squares a king's step away from a set.
fn around(set: Bitboard) -> Bitboard {
    set.fold(Bitboard::EMPTY, |around, square| around | attacks::king(square))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;

    fn wins(fen: &str) -> bool {
        let board = Board::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"));
        super::super::endgame::pawn_ending(&board).expect("king and pawn against king").1
    }

    #[test]
    fn textbook_pawn_endings_are_right() {
        for (fen, won) in [
            // A king on the sixth rank before its pawn always wins; on the fifth it needs the
            // opposition.
            ("4k3/8/4K3/4P3/8/8/8/8 w - - 0 1", true),
            ("4k3/8/4K3/4P3/8/8/8/8 b - - 0 1", true),
            ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1", true),
            ("8/4k3/8/4K3/4P3/8/8/8 w - - 0 1", false),
            // The pawn on the seventh with check is stalemate next move.
            ("4k3/4P3/4K3/8/8/8/8/8 b - - 0 1", false),
            ("3k4/3P4/4K3/8/8/8/8/8 w - - 0 1", false),
            // An edge pawn with the bare king in its corner, and with the king cut off.
            ("k7/8/K7/P7/8/8/8/8 w - - 0 1", false),
            ("8/1K6/8/P2k4/8/8/8/8 w - - 0 1", true),
            // Outside and inside the square of the pawn.
            ("8/8/8/P5k1/8/8/8/K7 w - - 0 1", true),
            ("8/8/8/P3k3/8/8/8/K7 b - - 0 1", false),
            // The same for Black, mirrored.
            ("8/8/8/8/4p3/4k3/8/4K3 b - - 0 1", true),
            ("8/8/8/4p3/4k3/8/4K3/8 b - - 0 1", false),
            ("8/8/8/7p/7k/8/8/7K b - - 0 1", false),
        ] {
            assert_eq!(wins(fen), won, "{fen}");
        }
    }

    #[test]
    fn kpk_wins_match_the_known_number() {
        let count = |sets: &[[Bitboard; 64]; PAWNS]| sets.iter().flatten().map(|set| set.count()).sum::<usize>();
        assert_eq!(count(&WINS.strong) + count(&WINS.weak), 111_282);
    }
}
