//! Pseudo-legal moves, in stages.
//!
//! Moves made here answer checks and castle legally; whether the king is safe after them is for
//! [`Board::is_legal`](super::Board::is_legal) to say, which most searched moves never need to ask.

use super::{
    Bitboard, Board, Move, MoveKind, MoveList, attacks,
    types::{Color, Role, Square},
};

/// Which moves to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Captures and promotions to a queen.
    Noisy,
    /// The rest, with the other promotions.
    Quiet,
}

impl Board {
    /// Appends the pseudo-legal moves of a stage.
    pub fn generate(&self, stage: Stage, moves: &mut MoveList) {
        let us = self.turn;
        let occupied = self.occupied();
        let wanted = match stage {
            Stage::Noisy => self.color(!us),
            Stage::Quiet => !occupied,
        };
        let king = self.king(us);
        for to in attacks::king(king) & wanted {
            moves.push(Move::normal(king, to));
        }
        let answers = self.check_targets();
        if answers.is_empty() {
            return;
        }
        let targets = wanted & answers;
        for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
            for from in self.men(us, role) {
                for to in attacks::of(role, from, occupied) & targets {
                    moves.push(Move::normal(from, to));
                }
            }
        }
        self.pawn_captures(stage, answers, moves);
        self.pawn_pushes(stage, answers, moves);
        if stage == Stage::Quiet {
            for queen_side in [false, true] {
                if self.can_castle(queen_side) {
                    let rook = self.castling.rooks[super::Castling::index(us, queen_side)];
                    moves.push(Move::pack(king, rook, MoveKind::Castling, Role::Knight));
                }
            }
        }
    }

    /// All legal moves.
    pub fn legal_moves(&self) -> MoveList {
        let mut moves = MoveList::new();
        self.generate(Stage::Noisy, &mut moves);
        self.generate(Stage::Quiet, &mut moves);
        moves.retain(|mv| self.is_legal(*mv));
        moves
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
        if stage == Stage::Quiet {
            return;
        }
        for from in pawns & !on_seventh {
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
        if stage == Stage::Quiet {
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
    let roles: &[Role] = match stage {
        Stage::Noisy => &[Role::Queen],
        Stage::Quiet => &[Role::Knight, Role::Rook, Role::Bishop],
    };
    for role in roles {
        moves.push(Move::pack(from, to, MoveKind::Promotion, *role));
    }
}

/// Where a pawn can be pushed.
pub(super) fn pawn_targets(from: Square, us: Color, occupied: Bitboard) -> Bitboard {
    let single = Bitboard::from(from).forward(us) & !occupied;
    single | ((single & Bitboard::rank(2, us)).forward(us) & !occupied)
}
