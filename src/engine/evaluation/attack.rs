//! `a`: chances of attack. Passed pawns, pawn storms, pieces near the enemy king, pins, the seventh rank.

use super::{
    context::Context,
    tally::{Tally, Trace},
};
use crate::board::{Bitboard, Board, Color, Role, Square, attacks};

pub(super) fn evaluate<T: Trace>(board: &Board, context: &Context, passed: Bitboard, us: Color, tally: &mut Tally<T>) {
    for square in passed {
        passed_pawn(board, context, square, us, tally);
    }
    pieces(board, context, us, tally);
    lines(board, context, us, tally);

    let weights = tally.weights();
    let (own, enemy) = (context.side(us), context.side(!us));
    // Pawns that march on the files of the enemy king.
    let file = enemy.king.file().clamp(1, 6);
    let files = Bitboard::file(file - 1) | Bitboard::file(file) | Bitboard::file(file + 1);
    let enemy_pawns = board.men(!us, Role::Pawn);
    for square in board.men(us, Role::Pawn) & files {
        let table = if enemy_pawns.has(square.forward(us)) { &weights.storm_blocked } else { &weights.storm };
        tally.add(&table[square.rank_for(us) & 7], 1);
    }
    // The king as a fighter: steps to the nearest pawn of either side.
    let targets = board.role(Role::Pawn);
    if targets.has_any() {
        let mut reach = Bitboard::from(own.king);
        let mut steps = 0;
        while (reach & targets).is_empty() {
            reach |= reach.sideways();
            reach |= reach.forward(us) | reach.forward(!us);
            steps += 1;
        }
        tally.add(&weights.king_to_pawns[0], steps);
    }
}

fn passed_pawn<T: Trace>(board: &Board, context: &Context, square: Square, us: Color, tally: &mut Tally<T>) {
    let weights = tally.weights();
    let (own, enemy) = (context.side(us), context.side(!us));
    let rank = square.rank_for(us) & 7;
    let stop = square.forward(us);
    let way = Bitboard::from(stop).fill_forward(us);
    tally.add(&weights.passed[rank], 1);
    if context.occupied.has(stop) {
        tally.add(&weights.passed_blocked[rank], 1);
    } else if (way & (board.color(!us) | (enemy.all & !own.all))).is_empty() {
        tally.add(&weights.passed_free[rank], 1);
    }
    if own.by_role[Role::Pawn.index()].has(square) {
        tally.add(&weights.passed_guarded[0], 1);
    }
    if (Bitboard::from(square).fill_forward(!us) & board.men(us, Role::Rook)).has_any() {
        tally.add(&weights.passed_rook_behind[0], 1);
    }
    if rank >= 3 {
        tally.add(&weights.passed_own_king[own.king.distance(stop) & 7], rank - 2);
        tally.add(&weights.passed_enemy_king[enemy.king.distance(stop) & 7], rank - 2);
    }
    if !board.has_pieces(!us) && (way & context.occupied).is_empty() {
        let goal = Square::at(square.file(), 7 * usize::from(us == Color::White));
        let steps = (7 - rank).min(5) + usize::from(board.turn() != us);
        if enemy.king.distance(goal) > steps {
            tally.add(&weights.passed_unstoppable[0], 1);
        }
    }
}

/// Pieces that are near the enemy king or attack squares round it, or attack other pieces.
fn pieces<T: Trace>(board: &Board, context: &Context, us: Color, tally: &mut Tally<T>) {
    let weights = tally.weights();
    let (own, enemy) = (context.side(us), context.side(!us));
    for officer in &own.officers {
        let steps = officer.square.distance(enemy.king);
        tally.add(&weights.near_king[officer.index()], 7 - steps.min(7));
        tally.add(&weights.king_ring_attack[officer.index()], (officer.attacks & enemy.king_ring).count());
    }
    let by_minor = own.by_role[Role::Knight.index()] | own.by_role[Role::Bishop.index()];
    let minors = board.color(!us) & (board.role(Role::Knight) | board.role(Role::Bishop));
    let undefended_minors = minors & !enemy.by_role[Role::Pawn.index()];
    tally.add(&weights.threat[0], (undefended_minors & by_minor).count());
    tally.add(&weights.threat[1], (undefended_minors & own.by_role[Role::Rook.index()]).count());

    let seventh = Bitboard::rank(6, us);
    let worth_it = (board.men(!us, Role::Pawn) & seventh).has_any() || enemy.king.rank_for(us) == 7;
    if worth_it {
        tally.add(&weights.rook_on_seventh[0], (board.men(us, Role::Rook) & seventh).count());
    }
}

/// Pins against the king, and queens behind a single man.
fn lines<T: Trace>(board: &Board, context: &Context, us: Color, tally: &mut Tally<T>) {
    let weights = tally.weights();
    let straight = board.straight_sliders() & board.color(us);
    let diagonal = board.diagonal_sliders() & board.color(us);
    let aimed_at = |target: Square, straight: Bitboard, diagonal: Bitboard| {
        let snipers: Bitboard = (attacks::rook_rays(target) & straight) | (attacks::bishop_rays(target) & diagonal);
        snipers
            .filter(|sniper| {
                let shield = attacks::between(target, *sniper) & context.occupied;
                shield.has_any() && !shield.many()
            })
            .count()
    };
    tally.add(&weights.pin[0], aimed_at(context.side(!us).king, straight, diagonal));
    if let Some(queen) = board.men(!us, Role::Queen).get() {
        let queens = board.role(Role::Queen);
        tally.add(&weights.pin[1], aimed_at(queen, straight & !queens, diagonal & !queens));
    }
}
