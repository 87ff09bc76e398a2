//! `x`: space and mobility. Squares that pieces reach, squares of knights and bishops, rooks on
//! open files.

use super::{
    context::Context,
    tally::{Tally, Trace},
};
use crate::board::{Bitboard, Board, Color, Role};

pub(super) fn evaluate<T: Trace>(board: &Board, context: &Context, us: Color, tally: &mut Tally<T>) {
    let weights = tally.weights();
    let (own, enemy) = (context.side(us), context.side(!us));
    let pawns = board.men(us, Role::Pawn);
    let enemy_pawns = board.men(!us, Role::Pawn);

    // Squares worth going to: not guarded by enemy pawns, not taken by the own king or by pawns that cannot move away.
    let stuck = pawns & context.occupied.forward(!us);
    let area = !(enemy.by_role[Role::Pawn.index()] | stuck | board.men(us, Role::King));
    for officer in &own.officers {
        let reach = (officer.attacks & area).count();
        match officer.role {
            Role::Knight => tally.add(&weights.knight_mobility[reach.min(8)], 1),
            Role::Bishop => tally.add(&weights.bishop_mobility[reach.min(13)], 1),
            Role::Rook => tally.add(&weights.rook_mobility[reach.min(14)], 1),
            _ => tally.add(&weights.queen_mobility[reach.min(27)], 1),
        }
        match officer.role {
            Role::Knight => tally.add_square(&weights.knight_square, officer.square),
            Role::Bishop => tally.add_square(&weights.bishop_square, officer.square),
            Role::Rook => {
                let file = Bitboard::file(officer.square.file());
                if (file & pawns).is_empty() {
                    tally.add(&weights.rook_on_file[usize::from((file & enemy_pawns).is_empty())], 1);
                }
            }
            _ => {}
        }
    }

    // Space: files c to f, ranks two to four, counted twice behind own pawns.
    let centre = Bitboard::file(2) | Bitboard::file(3) | Bitboard::file(4) | Bitboard::file(5);
    let home = Bitboard::rank(1, us) | Bitboard::rank(2, us) | Bitboard::rank(3, us);
    let safe = centre & home & !pawns & !enemy.by_role[Role::Pawn.index()];
    let behind = pawns.fill_forward(!us);
    tally.add(&weights.space[0], safe.count() + (safe & behind & !enemy.all).count());
}
