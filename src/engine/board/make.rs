//! Making moves.

use super::{
    Bitboard, Board, Castling, Move, MoveKind, attacks,
    types::{Color, Piece, Role, Square},
    zobrist,
};

impl Castling {
    /// The bit of a right.
    pub(super) const fn bit(color: Color, queen_side: bool) -> u8 {
        1 << Self::index(color, queen_side)
    }

    pub(super) const fn index(color: Color, queen_side: bool) -> usize {
        color as usize * 2 + queen_side as usize
    }

    /// Whether the right is still there.
    pub(super) const fn allows(&self, color: Color, queen_side: bool) -> bool {
        self.rights & Self::bit(color, queen_side) != 0
    }

    /// Takes the rights of a rook that has left its square or was taken on it.
    fn touch(&mut self, square: Square) {
        for (i, rook) in self.rooks.iter().enumerate() {
            if *rook == square {
                self.rights &= !(1 << i);
            }
        }
    }
}

/// Where king and rook arrive.
pub(super) const fn castling_targets(color: Color, queen_side: bool) -> (Square, Square) {
    let rank = 7 * color as usize;
    if queen_side { (Square::at(2, rank), Square::at(3, rank)) } else { (Square::at(6, rank), Square::at(5, rank)) }
}

impl Board {
    /// Puts a piece on an empty square.
    pub(super) fn put(&mut self, piece: Piece, square: Square) {
        let (color, role) = (piece.color(), piece.role());
        self.keys.material ^= zobrist::count(color, role, self.men(color, role).count());
        self.toggle(piece, square);
        self.squares[square.index()] = Some(piece);
    }

    /// Takes a piece off its square.
    fn take(&mut self, piece: Piece, square: Square) {
        let (color, role) = (piece.color(), piece.role());
        self.toggle(piece, square);
        self.squares[square.index()] = None;
        self.keys.material ^= zobrist::count(color, role, self.men(color, role).count());
    }

    fn shift(&mut self, piece: Piece, from: Square, to: Square) {
        self.toggle(piece, from);
        self.toggle(piece, to);
        self.squares[from.index()] = None;
        self.squares[to.index()] = Some(piece);
    }

    fn toggle(&mut self, piece: Piece, square: Square) {
        let (color, role) = (piece.color(), piece.role());
        self.roles[role.index()] ^= square;
        self.colors[color.index()] ^= square;
        let key = zobrist::piece(piece, square);
        self.keys.position ^= key;
        if role == Role::Pawn {
            self.keys.pawns ^= key;
        } else {
            self.keys.pieces[color.index()] ^= key;
        }
    }

    /// The board after a legal move.
    #[inline]
    #[must_use]
    pub fn after(&self, mv: Move) -> Self {
        let mut next = self.clone();
        next.play(mv);
        next
    }

    /// The board with the other player to move. The player to move must not be in check.
    #[must_use]
    pub fn after_null(&self) -> Self {
        let mut next = self.clone();
        next.set_en_passant(None);
        next.halfmoves += 1;
        next.pass_turn();
        next
    }

    fn play(&mut self, mv: Move) {
        let (us, from, to) = (self.turn, mv.from(), mv.to());
        let Some(piece) = self.piece_on(from) else { return };
        self.set_en_passant(None);
        self.halfmoves += 1;
        self.fullmoves = self.fullmoves.saturating_add(us as u16);
        let mut double_push = false;
        match mv.kind() {
            MoveKind::Castling => {
                let (king_to, rook_to) = castling_targets(us, to < from);
                let rook = Piece::new(us, Role::Rook);
                // In Chess960 the squares may overlap, so both leave before either arrives.
                self.take(rook, to);
                self.take(piece, from);
                self.put(piece, king_to);
                self.put(rook, rook_to);
            }
            MoveKind::EnPassant => {
                self.take(Piece::new(!us, Role::Pawn), to.forward(!us));
                self.shift(piece, from, to);
                self.halfmoves = 0;
            }
            MoveKind::Normal | MoveKind::Promotion => {
                if let Some(victim) = self.piece_on(to) {
                    self.take(victim, to);
                    self.halfmoves = 0;
                }
                if let Some(promotion) = mv.promotion() {
                    self.take(piece, from);
                    self.put(Piece::new(us, promotion), to);
                } else {
                    self.shift(piece, from, to);
                }
                if piece.role() == Role::Pawn {
                    self.halfmoves = 0;
                    double_push = from.index().abs_diff(to.index()) == 16;
                }
            }
        }
        if self.castling.rights != 0 {
            self.keys.position ^= zobrist::castling(self.castling.rights);
            if piece.role() == Role::King {
                self.castling.rights &= !(Castling::bit(us, false) | Castling::bit(us, true));
            }
            self.castling.touch(from);
            self.castling.touch(to);
            self.keys.position ^= zobrist::castling(self.castling.rights);
        }
        self.pass_turn();
        if double_push {
            self.set_en_passant(Some(from.forward(us)).filter(|square| self.can_take_in_passing(*square)));
        }
    }

    fn pass_turn(&mut self) {
        self.turn = !self.turn;
        self.keys.position ^= zobrist::black_to_move();
        self.update_checks();
    }

    pub(super) fn set_en_passant(&mut self, square: Option<Square>) {
        if let Some(old) = self.en_passant {
            self.keys.position ^= zobrist::en_passant(old);
        }
        if let Some(new) = square {
            self.keys.position ^= zobrist::en_passant(new);
        }
        self.en_passant = square;
    }

    /// Whether the player to move has a pawn that can legally take in passing on `square`.
    pub(super) fn can_take_in_passing(&self, square: Square) -> bool {
        let takers: Bitboard = attacks::pawn(square, !self.turn) & self.men(self.turn, Role::Pawn);
        takers.into_iter().any(|from| self.is_en_passant_legal(from, square))
    }
}
