//! `r`: relations between pieces. Pairs, pieces and their own pawns, pieces that help each other.

use super::tally::{Tally, Trace};
use crate::board::{Bitboard, Board, Color, Role, attacks};

pub(super) fn evaluate<T: Trace>(board: &Board, us: Color, tally: &mut Tally<T>) {
    let weights = tally.weights();
    let pawns = board.men(us, Role::Pawn);
    let roles = [Role::Knight, Role::Bishop, Role::Rook];
    for (i, role) in roles.into_iter().enumerate() {
        let men = board.men(us, role);
        if men.many() {
            tally.add(&weights.pair[i], 1);
        }
        tally.add_signed(&weights.with_pawns[i], men.count() as i32 * (pawns.count() as i32 - 5));
    }

    let bishops = board.men(us, Role::Bishop);
    let centre = Bitboard::file(2) | Bitboard::file(3) | Bitboard::file(4) | Bitboard::file(5);
    let blocked = pawns & board.occupied().forward(!us) & centre;
    for half in [Bitboard::LIGHT_SQUARES, !Bitboard::LIGHT_SQUARES] {
        if (bishops & half).has_any() {
            tally.add(&weights.bad_bishop[0], (pawns & half).count());
            tally.add(&weights.bad_bishop_blocked[0], (blocked & half).count());
        }
    }
    let minors = bishops | board.men(us, Role::Knight);
    tally.add(&weights.behind_pawn[0], (minors & board.role(Role::Pawn).forward(!us)).count());
    let rooks = board.men(us, Role::Rook);
    let mut others = rooks;
    if let (Some(first), Some(second)) = (others.next(), others.next()) {
        let between = attacks::between(first, second);
        let aligned = first.file() == second.file() || first.rank() == second.rank();
        if aligned && (between & board.occupied()).is_empty() {
            tally.add(&weights.connected_rooks[0], 1);
        }
    }
    if board.men(us, Role::Queen).has_any() {
        tally.add(&weights.queen_and[0], usize::from(board.men(us, Role::Knight).has_any()));
        tally.add(&weights.queen_and[1], usize::from(bishops.has_any()));
    }
}
