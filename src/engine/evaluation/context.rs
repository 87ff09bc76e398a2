//! Facts about a position that several heuristics need, computed once.
//!
//! They do not depend on the heuristics in use, so switching one off cannot change another.

use arrayvec::ArrayVec;

use crate::board::{Bitboard, Board, Color, Role, Square, attacks};

/// A knight, bishop, rook or queen with its attacks.
#[derive(Clone, Copy)]
pub(super) struct Officer {
    pub role: Role,
    pub square: Square,
    /// Bishops see through queens, rooks through queens and own rooks.
    pub attacks: Bitboard,
}

impl Officer {
    /// 0 for a knight to 3 for a queen.
    #[inline]
    pub(super) fn index(self) -> usize {
        (self.role.index() - 1) & 3
    }
}

pub(super) struct Side {
    pub officers: ArrayVec<Officer, 16>,
    pub by_role: [Bitboard; 6],
    /// Attacks by any man.
    pub all: Bitboard,
    /// Squares attacked by at least two men.
    pub twice: Bitboard,
    pub king: Square,
    /// The king's square and neighbourhood, three by three, moved in from the edge.
    pub king_ring: Bitboard,
}

/// The attack maps of both sides.
pub(super) struct Context {
    pub occupied: Bitboard,
    pub sides: [Side; 2],
}

impl Context {
    pub(super) fn new(board: &Board) -> Self {
        let side = |color| Side::new(board, color);
        Self { occupied: board.occupied(), sides: [side(Color::White), side(Color::Black)] }
    }

    #[inline]
    pub(super) fn side(&self, color: Color) -> &Side {
        &self.sides[color.index()]
    }
}

impl Side {
    fn new(board: &Board, us: Color) -> Self {
        let king = board.king(us);
        let pawns = board.men(us, Role::Pawn);
        let pawn_attacks = pawns.pawn_attacks(us);
        let king_attacks = attacks::king(king);
        let mut side = Self {
            officers: ArrayVec::new(),
            by_role: [Bitboard::EMPTY; 6],
            all: pawn_attacks | king_attacks,
            twice: pawns.pawn_double_attacks(us) | (pawn_attacks & king_attacks),
            king,
            king_ring: ring(king),
        };
        side.by_role[Role::Pawn.index()] = pawn_attacks;
        side.by_role[Role::King.index()] = king_attacks;
        let occupied = board.occupied();
        let queens = board.role(Role::Queen);
        let own = board.color(us);
        for square in own & !(board.role(Role::Pawn) | board.role(Role::King)) {
            let Some(piece) = board.piece_on(square) else { continue };
            let role = piece.role();
            let seen = match role {
                Role::Knight => attacks::knight(square),
                Role::Bishop => attacks::bishop(square, occupied ^ queens),
                Role::Rook => attacks::rook(square, occupied ^ queens ^ (board.role(Role::Rook) & own)),
                _ => attacks::queen(square, occupied),
            };
            side.twice |= side.all & seen;
            side.all |= seen;
            side.by_role[role.index()] |= seen;
            let _ = side.officers.try_push(Officer { role, square, attacks: seen });
        }
        side
    }
}

/// The three by three squares around a king that was moved in from the edge.
#[inline]
fn ring(king: Square) -> Bitboard {
    let centre = Square::at(king.file().clamp(1, 6), king.rank().clamp(1, 6));
    attacks::king(centre) | centre
}
