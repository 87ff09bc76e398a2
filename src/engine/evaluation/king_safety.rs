//! `k`: safety of the own king. Its square, its guard of pawns and pieces, open files, and the danger around it.
//!
//! Danger is counted in small whole units (attackers, squares round the king that only the king guards, safe checks) and
//! weighed by a table, so that the sum grows faster than its parts and every entry can still be tuned as a linear term.

use super::{
    context::{Context, Side},
    tally::{Tally, Trace},
};
use crate::board::{Bitboard, Board, Color, Role, attacks};

/// Units an attacker of the king's ring brings, knight to queen.
const ATTACKER_UNITS: [usize; 4] = [2, 2, 3, 4];
/// Units of a safe check, knight to queen.
const CHECK_UNITS: [usize; 4] = [4, 3, 5, 4];

pub(super) fn evaluate<T: Trace>(board: &Board, context: &Context, us: Color, tally: &mut Tally<T>) {
    let weights = tally.weights();
    let (own, enemy) = (context.side(us), context.side(!us));
    let king = own.king;
    tally.add_square(&weights.king_square, king);

    // The guard: on the king's file and its neighbours, the rank of the nearest pawn that is not behind the king.
    let pawns = board.men(us, Role::Pawn);
    let ahead = Bitboard::rank(king.rank_for(us), us).fill_forward(us);
    let centre = king.file().clamp(1, 6);
    for file in centre - 1..=centre + 1 {
        let guard = (pawns & ahead & Bitboard::file(file)).foremost(!us).rank_for(us);
        let none = (pawns & ahead & Bitboard::file(file)).is_empty();
        let rank = if none { 0 } else { guard };
        tally.add(&weights.shelter[file.min(7 - file) * 8 + rank], 1);
    }
    let file = Bitboard::file(king.file());
    if (pawns & file).is_empty() {
        tally.add(&weights.king_file[usize::from((board.role(Role::Pawn) & file).is_empty())], 1);
    }
    tally.add(&weights.castling_right[0], board.castling_rights(us));
    let defenders = own.officers.iter().filter(|officer| (officer.attacks & own.king_ring).has_any()).count();
    tally.add(&weights.defenders[0], defenders);
    tally.add(&weights.danger[danger(board, context, own, enemy, us).min(39)], 1);
}

/// Returns the units of danger to the king of `us`.
fn danger(board: &Board, context: &Context, own: &Side, enemy: &Side, us: Color) -> usize {
    let mut attackers = 0;
    let mut units = 0;
    for officer in &enemy.officers {
        let seen = officer.attacks & own.king_ring;
        if seen.has_any() {
            attackers += 1;
            units += ATTACKER_UNITS[officer.index()];
        }
    }
    // Squares that at most king or queen guard.
    let by_king_or_queen = own.by_role[Role::King.index()] | own.by_role[Role::Queen.index()];
    let weak = enemy.all & !own.twice & (!own.all | by_king_or_queen);
    units += (own.king_ring & weak).count() + (own.king_ring & weak & enemy.twice).count();

    // Checks from squares where the checker cannot simply be taken.
    let safe = !board.color(!us) & (!own.all | (weak & enemy.twice));
    let straight = attacks::rook(own.king, context.occupied ^ board.men(us, Role::Queen));
    let diagonal = attacks::bishop(own.king, context.occupied ^ board.men(us, Role::Queen));
    let checks = [attacks::knight(own.king), diagonal, straight, straight | diagonal];
    let roles = [Role::Knight, Role::Bishop, Role::Rook, Role::Queen];
    for ((role, from), cost) in roles.into_iter().zip(checks).zip(CHECK_UNITS) {
        if (from & safe & enemy.by_role[role.index()]).has_any() {
            units += cost;
            attackers += 1;
        }
    }
    if attackers < 2 {
        return 0;
    }
    if board.men(!us, Role::Queen).is_empty() { units / 2 } else { units }
}
