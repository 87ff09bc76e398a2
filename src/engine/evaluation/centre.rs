//! `c`: control of the centre, and the king's way there in the ending.

use super::{
    context::Context,
    tally::{Tally, Trace},
};
use crate::board::{Bitboard, Board, Color, Role, Square};

/// d4, e4, d5, e5.
const CENTRE: Bitboard = Bitboard(0x0000_0018_1800_0000);
/// c3 to f6.
const LARGE_CENTRE: Bitboard = Bitboard(0x0000_3c3c_3c3c_0000);

pub(super) fn evaluate<T: Trace>(board: &Board, context: &Context, us: Color, tally: &mut Tally<T>) {
    let weights = tally.weights();
    let own = context.side(us);
    let pawns = board.men(us, Role::Pawn);
    let at_home = pawns & Bitboard::rank(1, us) & (Bitboard::file(3) | Bitboard::file(4));
    let blocked = at_home & context.occupied.forward(!us);
    tally.add(&weights.unmoved_centre_pawn[0], at_home.count());
    tally.add(&weights.unmoved_centre_pawn[1], blocked.count());
    tally.add(&weights.centre_pawn[0], (pawns & CENTRE).count());
    tally.add(&weights.centre_pawn_attack[0], (own.by_role[Role::Pawn.index()] & CENTRE).count());
    let reach: usize = own.officers.iter().map(|officer| (officer.attacks & CENTRE).count()).sum();
    tally.add(&weights.centre_attack[0], reach);
    tally.add(&weights.centre_knight[0], (board.men(us, Role::Knight) & LARGE_CENTRE).count());
    tally.add(&weights.king_from_centre[from_centre(own.king)], 1);
}

/// Steps from the nearest central square, 0 to 3.
fn from_centre(square: Square) -> usize {
    let away = |n: usize| if n < 4 { 3 - n } else { n - 4 };
    away(square.file()).max(away(square.rank()))
}
