//! `b`: good placement and safety of the pieces. Hanging and attacked men, outposts, squares of rook and queen.

use super::{
    context::Context,
    pawns::attack_span,
    tally::{Tally, Trace},
};
use crate::board::{Bitboard, Board, Color, Role};

pub(super) fn evaluate<T: Trace>(board: &Board, context: &Context, us: Color, tally: &mut Tally<T>) {
    let weights = tally.weights();
    let (own, enemy) = (context.side(us), context.side(!us));
    let men = board.color(us);
    let by = |role: Role| enemy.by_role[role.index()];

    // Attacked and not defended; the king defends too.
    let hanging = men & enemy.all & !own.all;
    for (role, weight) in Role::ALL.iter().zip(&weights.hanging) {
        tally.add(weight, (hanging & board.role(*role)).count());
    }
    if hanging.many() {
        tally.add(&weights.several_hanging[0], 1);
    }

    // Attacked by something cheaper.
    let officers = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
    for (role, weight) in officers.iter().zip(&weights.attacked_by_pawn) {
        tally.add(weight, (men & board.role(*role) & by(Role::Pawn)).count());
    }
    let by_minor = by(Role::Knight) | by(Role::Bishop);
    for (role, weight) in officers[2..].iter().zip(&weights.attacked_by_minor) {
        tally.add(weight, (men & board.role(*role) & by_minor).count());
    }
    tally.add(&weights.attacked_by_rook[0], (men & board.role(Role::Queen) & by(Role::Rook)).count());

    // Pawns that could step forward safely and attack.
    let enemy_pawns = board.men(!us, Role::Pawn);
    let single = enemy_pawns.forward(!us) & !context.occupied;
    let double = (single & Bitboard::rank(2, !us)).forward(!us) & !context.occupied;
    let safe = (single | double) & !own.by_role[Role::Pawn.index()] & (enemy.all | !own.all);
    let pushed = safe.pawn_attacks(!us) & men & !board.role(Role::Pawn) & !board.role(Role::King);
    tally.add(&weights.pawn_push_threat[0], pushed.count());

    // Strong squares: on the fourth to sixth rank, out of reach of enemy pawns for good.
    let strong =
        (Bitboard::rank(3, us) | Bitboard::rank(4, us) | Bitboard::rank(5, us)) & !attack_span(enemy_pawns, !us);
    let guarded = own.by_role[Role::Pawn.index()];
    for (i, role) in [Role::Knight, Role::Bishop].into_iter().enumerate() {
        let posted = board.men(us, role) & strong;
        tally.add(&weights.outpost[2 * i], (posted & !guarded).count());
        tally.add(&weights.outpost[2 * i + 1], (posted & guarded).count());
    }

    for square in board.men(us, Role::Rook) {
        tally.add_square(&weights.rook_square, square);
    }
    for square in board.men(us, Role::Queen) {
        tally.add_square(&weights.queen_square, square);
    }
}
