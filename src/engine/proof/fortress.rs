//! Positions that are blocked for good.

use crate::board::{Bitboard, Board, Color, Role, attacks};

/// Whether there are only kings and pawns, no pawn can ever move or take, and no king can ever take a pawn: then nothing but kings
/// moves for the rest of the game, and kings do not mate.
///
/// A pawn is blocked by any pawn before it, because that one does not move either. What a king can reach is filled from where it
/// stands, over all squares that no pawn of the other side guards and none of its own occupies; it ignores the other king, which
/// can only take squares away from it.
pub(super) fn is_blocked(board: &Board) -> bool {
    let pawns = board.role(Role::Pawn);
    if board.occupied() != pawns | board.role(Role::King) || pawns.is_empty() || board.in_check() {
        return false;
    }
    // A pawn that can be taken in passing is not beside those that attack it any more when it is seen where it stands.
    if board.en_passant().is_some() {
        return false;
    }
    Color::ALL.into_iter().all(|color| {
        let own = board.men(color, Role::Pawn);
        let others = board.men(!color, Role::Pawn);
        let immobile = (own.forward(color) & !pawns).is_empty();
        let harmless = (own.pawn_attacks(color) & others).is_empty();
        immobile && harmless && (reach(board, color) & others).is_empty()
    })
}

/// The squares to which the king of `color` can ever come, pawns that it could take among them.
fn reach(board: &Board, color: Color) -> Bitboard {
    let guarded = board.men(!color, Role::Pawn).pawn_attacks(!color);
    let open = !(guarded | board.men(color, Role::Pawn));
    let mut reached = Bitboard::from(board.king(color));
    loop {
        let next = reached.fold(reached, |all, square| all | (attacks::king(square) & open));
        if next == reached {
            return reached;
        }
        reached = next;
    }
}
