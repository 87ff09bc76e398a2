//! Pseudo-legal moves, in stages.
//!
//! The moves answer checks and castle legally; the safety of the king afterwards is left to
//! [`Board::is_legal`](super::Board::is_legal), which most searched moves never need.

use super::{
    Bitboard, Board, Move, MoveKind, MoveList, attacks,
    types::{Color, Role, Square},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Captures and promotions to a queen.
    Noisy,
    /// The rest, with the other promotions.
    Quiet,
    All,
}

impl Stage {
    const fn has_noisy(self) -> bool {
        !matches!(self, Self::Quiet)
    }

    const fn has_quiet(self) -> bool {
        !matches!(self, Self::Noisy)
    }

    /// Returns the pieces a pawn becomes in this stage.
    const fn promotions(self) -> &'static [Role] {
        match self {
            Self::Noisy => &[Role::Queen],
            Self::Quiet => &[Role::Knight, Role::Rook, Role::Bishop],
            Self::All => &[Role::Queen, Role::Knight, Role::Rook, Role::Bishop],
        }
    }
}

impl Board {
    /// Appends the pseudo-legal moves of a stage.
    pub fn generate(&self, stage: Stage, moves: &mut MoveList) {
        let king = self.king(self.turn);
        for to in attacks::king(king) & self.wanted(stage) {
            moves.push(Move::normal(king, to));
        }
        self.generate_others(stage, moves);
    }

    pub fn legal_moves(&self) -> MoveList {
        let mut moves = MoveList::new();
        self.generate_others(Stage::All, &mut moves);
        // Few positions have a pinned man or a pawn to be taken in passing.
        if self.pinned.has_any() || self.en_passant.is_some() {
            moves.retain(|mv| self.is_legal(*mv));
        }
        let king = self.king(self.turn);
        for to in attacks::king(king) & self.wanted(Stage::All) {
            let step = Move::normal(king, to);
            if self.is_legal(step) {
                moves.push(step);
            }
        }
        moves
    }

    /// Returns the target squares of a stage.
    #[inline]
    fn wanted(&self, stage: Stage) -> Bitboard {
        match stage {
            Stage::Noisy => self.color(!self.turn),
            Stage::Quiet => !self.occupied(),
            Stage::All => !self.color(self.turn),
        }
    }

    /// The moves of a stage except the king's steps.
    #[inline]
    fn generate_others(&self, stage: Stage, moves: &mut MoveList) {
        let us = self.turn;
        let answers = self.check_targets();
        if answers.is_empty() {
            return;
        }
        let targets = self.wanted(stage) & answers;
        let occupied = self.occupied();
        for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
            for from in self.men(us, role) {
                for to in attacks::of(role, from, occupied) & targets {
                    moves.push(Move::normal(from, to));
                }
            }
        }
        self.pawn_captures(stage, answers, moves);
        self.pawn_pushes(stage, answers, moves);
        if stage.has_quiet() {
            for queen_side in [false, true] {
                if self.can_castle(queen_side) {
                    let rook = self.castling.rooks[super::Castling::index(us, queen_side)];
                    moves.push(Move::pack(self.king(us), rook, MoveKind::Castling, Role::Knight));
                }
            }
        }
    }

    fn pawn_captures(&self, stage: Stage, answers: Bitboard, moves: &mut MoveList) {
        let us = self.turn;
        let pawns = self.men(us, Role::Pawn);
        let on_seventh = pawns & Bitboard::rank(6, us);
        let victims = self.color(!us) & answers;
        for from in on_seventh {
            for to in attacks::pawn(from, us) & victims {
                push_promotions(stage, from, to, moves);
            }
        }
        if !stage.has_noisy() {
            return;
        }
        for from in pawns & !on_seventh & victims.pawn_attacks(!us) {
            for to in attacks::pawn(from, us) & victims {
                moves.push(Move::normal(from, to));
            }
        }
        if let Some(to) = self.en_passant {
            for from in attacks::pawn(to, !us) & pawns {
                moves.push(Move::pack(from, to, MoveKind::EnPassant, Role::Knight));
            }
        }
    }

    fn pawn_pushes(&self, stage: Stage, answers: Bitboard, moves: &mut MoveList) {
        let us = self.turn;
        let empty = !self.occupied();
        let pawns = self.men(us, Role::Pawn);
        let single = pawns.forward(us) & empty;
        let last_rank = Bitboard::rank(7, us);
        for to in single & last_rank & answers {
            push_promotions(stage, to.forward(!us), to, moves);
        }
        if stage.has_quiet() {
            for to in single & !last_rank & answers {
                moves.push(Move::normal(to.forward(!us), to));
            }
            let double = (single & Bitboard::rank(2, us)).forward(us) & empty;
            for to in double & answers {
                moves.push(Move::normal(to.forward(!us).forward(!us), to));
            }
        }
    }
}

fn push_promotions(stage: Stage, from: Square, to: Square, moves: &mut MoveList) {
    for role in stage.promotions() {
        moves.push(Move::pack(from, to, MoveKind::Promotion, *role));
    }
}

/// Returns the squares a pawn can be pushed to.
pub(super) fn pawn_targets(from: Square, us: Color, occupied: Bitboard) -> Bitboard {
    let single = Bitboard::from(from).forward(us) & !occupied;
    single | ((single & Bitboard::rank(2, us)).forward(us) & !occupied)
}
