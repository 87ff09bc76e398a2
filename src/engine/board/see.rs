//! Static exchange evaluation: the value of a sequence of captures on one square.

use super::{Bitboard, Board, Move, MoveKind, attacks, types::Role};

/// Centipawns of each role in exchanges; independent of the evaluation, so that every knowledge set prunes alike.
pub const EXCHANGE_VALUES: [i32; 6] = [100, 320, 330, 500, 950, 20_000];

const fn value(role: Role) -> i32 {
    EXCHANGE_VALUES[role.index()]
}

impl Board {
    /// Returns the position after all captures that win material, the most valuable men first: no exchange is left half
    /// done.
    #[must_use]
    pub fn after_exchanges(&self) -> Self {
        let mut board = self.clone();
        loop {
            let taken = |mv: &Move| board.captured(*mv).map(value);
            let moves = board.legal_moves();
            let wins = moves.iter().filter(|mv| taken(mv).is_some() && board.exchange_reaches(**mv, 1));
            let Some(best) = wins.max_by_key(|mv| taken(mv)) else { return board };
            board = board.after(*best);
        }
    }

    /// Returns true if the exchanges that `mv` begins are worth at least `threshold` centipawns to
    /// the player to move, if each side always recaptures with its least man or stops when that is
    /// better. Pins count only through the king.
    pub fn exchange_reaches(&self, mv: Move, threshold: i32) -> bool {
        let (from, to) = (mv.from(), mv.to());
        if mv.kind() == MoveKind::Castling {
            return threshold <= 0;
        }
        let Some(mover) = self.piece_on(from) else { return false };
        let mut balance = self.captured(mv).map_or(0, value) - threshold;
        let mut next = mover.role();
        if let Some(promotion) = mv.promotion() {
            balance += value(promotion) - value(Role::Pawn);
            next = promotion;
        }
        if balance < 0 {
            return false;
        }
        // Even if the moved man is lost for nothing.
        balance -= value(next);
        if balance >= 0 {
            return true;
        }
        let mut occupied = (self.occupied() ^ from) | to;
        if mv.kind() == MoveKind::EnPassant {
            occupied ^= to.forward(!self.turn());
        }
        let (diagonal, straight) = (self.diagonal_sliders(), self.straight_sliders());
        let mut attackers = self.attackers(to, occupied) & occupied;
        let mut side = !self.turn();
        loop {
            let own = attackers & self.color(side);
            let Some(role) = Role::ALL.into_iter().find(|role| (own & self.role(*role)).has_any()) else { break };
            // A king does not take a defended man.
            if role == Role::King && (attackers & self.color(!side)).has_any() {
                break;
            }
            occupied ^= Bitboard::from((own & self.role(role)).first());
            if matches!(role, Role::Pawn | Role::Bishop | Role::Queen) {
                attackers |= attacks::bishop(to, occupied) & diagonal;
            }
            if matches!(role, Role::Rook | Role::Queen) {
                attackers |= attacks::rook(to, occupied) & straight;
            }
            attackers &= occupied;
            side = !side;
            balance = -balance - 1 - value(role);
            if balance >= 0 {
                break;
            }
        }
        // The side to move cannot or need not go on: the other side has reached the goal.
        side != self.turn()
    }
}
