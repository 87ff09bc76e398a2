//! Tests of legality: of pseudo-legal moves, and of sixteen bits that may not even be one.

use super::{
    Bitboard, Board, Castling, Move, MoveKind, attacks,
    generate::pawn_targets,
    make::castling_targets,
    types::{Piece, Role, Square},
};

/// The squares from which the player to move gives check.
pub struct CheckMap {
    /// One set for each role, pawn to king (a king never gives check).
    squares: [Bitboard; 6],
    /// Men that open a line to the enemy king when they leave it.
    discoverers: Bitboard,
    king: Square,
}

impl CheckMap {
    /// Returns true if the move gives check, except by castling or by an en passant capture that
    /// opens a line.
    #[inline]
    pub fn gives_check(&self, board: &Board, mv: Move) -> bool {
        let role = mv.promotion().or_else(|| board.piece_on(mv.from()).map(Piece::role)).unwrap_or(Role::King);
        self.squares[role.index()].has(mv.to())
            || (self.discoverers.has(mv.from()) && !attacks::line(self.king, mv.from()).has(mv.to()))
    }
}

impl Board {
    /// Prepares to ask of many moves whether they give check.
    pub fn check_map(&self) -> CheckMap {
        let (us, king, occupied) = (self.turn, self.king(!self.turn), self.occupied());
        let (bishop, rook) = (attacks::bishop(king, occupied), attacks::rook(king, occupied));
        let squares = [attacks::pawn(king, !us), attacks::knight(king), bishop, rook, bishop | rook, Bitboard::EMPTY];
        let own = self.color(us);
        let snipers = own
            & ((attacks::rook_rays(king) & self.straight_sliders())
                | (attacks::bishop_rays(king) & self.diagonal_sliders()));
        let mut discoverers = Bitboard::EMPTY;
        for sniper in snipers {
            let shield = attacks::between(king, sniper) & occupied;
            if !shield.many() {
                discoverers |= shield & own;
            }
        }
        CheckMap { squares, discoverers, king }
    }

    /// Returns every square that the opponent attacks.
    pub fn threats(&self) -> Bitboard {
        let (them, occupied) = (!self.turn, self.occupied());
        let men = self.color(them);
        let mut threats = self.men(them, Role::Pawn).pawn_attacks(them) | attacks::king(self.king(them));
        for knight in self.men(them, Role::Knight) {
            threats |= attacks::knight(knight);
        }
        for slider in men & self.diagonal_sliders() {
            threats |= attacks::bishop(slider, occupied);
        }
        for slider in men & self.straight_sliders() {
            threats |= attacks::rook(slider, occupied);
        }
        threats
    }

    /// Returns true if a pseudo-legal move leaves the own king safe.
    ///
    /// The generators and [`Self::is_pseudo_legal`] already answer checks and test castling. The
    /// remaining cases are a king that walks into an attack, a pinned man that leaves its line, and
    /// en passant captures.
    #[inline]
    pub fn is_legal(&self, mv: Move) -> bool {
        let king = self.king(self.turn);
        match mv.kind() {
            MoveKind::Castling => true,
            MoveKind::EnPassant => self.is_en_passant_legal(mv.from(), mv.to()),
            MoveKind::Normal | MoveKind::Promotion if mv.from() == king => {
                let attackers = self.attackers(mv.to(), self.occupied() ^ king);
                (attackers & self.color(!self.turn)).is_empty()
            }
            MoveKind::Normal | MoveKind::Promotion => {
                !self.pinned.has(mv.from()) || attacks::line(king, mv.from()).has(mv.to())
            }
        }
    }

    /// Two pawns leave the rank at once, so the king is tested on the board as it would be.
    pub(super) fn is_en_passant_legal(&self, from: Square, to: Square) -> bool {
        let (us, taken) = (self.turn, to.forward(!self.turn));
        let occupied = (self.occupied() ^ from ^ taken) | to;
        let attackers = self.attackers(self.king(us), occupied) & self.color(!us) & occupied;
        attackers.is_empty()
    }

    /// Returns true if the player to move may castle to that side now.
    pub(super) fn can_castle(&self, queen_side: bool) -> bool {
        let us = self.turn;
        if !self.castling.allows(us, queen_side) || self.in_check() {
            return false;
        }
        let (king, rook) = (self.king(us), self.castling.rooks[Castling::index(us, queen_side)]);
        let (king_to, rook_to) = castling_targets(us, queen_side);
        let others = self.occupied() ^ king ^ rook;
        let path = attacks::between(king, king_to) | king_to;
        if (others & (path | attacks::between(rook, rook_to) | rook_to)).has_any() {
            return false;
        }
        // In Chess960 the rook may have shielded the king's new square.
        let safe = |square, occupied| (self.attackers(square, occupied) & self.color(!us)).is_empty();
        path.into_iter().all(|square| safe(square, others | rook)) && safe(king_to, others | rook_to)
    }

    /// Returns true if the generators would make this move here. Tests moves from tables, which may
    /// belong to other positions.
    pub fn is_pseudo_legal(&self, mv: Move) -> bool {
        let (us, from, to) = (self.turn, mv.from(), mv.to());
        let Some(piece) = self.piece_on(from).filter(|piece| piece.color() == us) else { return false };
        let role = piece.role();
        // Promotion bits of another kind of move must be clear, else two codes would mean one move.
        if mv != Move::pack(from, to, mv.kind(), mv.promotion().unwrap_or(Role::Knight)) {
            return false;
        }
        match mv.kind() {
            MoveKind::Castling => {
                let queen_side = to < from;
                return role == Role::King
                    && self.castling.rooks[Castling::index(us, queen_side)] == to
                    && self.can_castle(queen_side);
            }
            MoveKind::EnPassant => {
                return role == Role::Pawn && self.en_passant == Some(to) && attacks::pawn(from, us).has(to);
            }
            MoveKind::Normal | MoveKind::Promotion => {}
        }
        let last_rank = Bitboard::rank(7, us).has(to);
        let reaches = if role == Role::Pawn {
            let pushes = pawn_targets(from, us, self.occupied());
            (mv.kind() == MoveKind::Promotion) == last_rank
                && (pushes | (attacks::pawn(from, us) & self.color(!us))).has(to)
        } else {
            mv.kind() == MoveKind::Normal && (attacks::of(role, from, self.occupied()) & !self.color(us)).has(to)
        };
        reaches && (role == Role::King || self.check_targets().has(to))
    }

    /// Returns the target squares of men other than the king: all, or the line of a single check;
    /// none in double check.
    pub(super) fn check_targets(&self) -> Bitboard {
        match self.checkers.get() {
            None => Bitboard::ALL,
            Some(_) if self.checkers.many() => Bitboard::EMPTY,
            Some(checker) => attacks::between(self.king(self.turn), checker) | checker,
        }
    }
}
