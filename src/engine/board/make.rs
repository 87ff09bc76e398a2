use super::{
    Bitboard, Board, Castling, Keys, Move, MoveKind, attacks,
    types::{Color, Piece, Role, Square},
    zobrist,
};

impl Castling {
    /// Returns the bit of a right.
    pub(super) const fn bit(color: Color, queen_side: bool) -> u8 {
        1 << Self::index(color, queen_side)
    }

    pub(super) const fn index(color: Color, queen_side: bool) -> usize {
        color as usize * 2 + queen_side as usize
    }

    pub(super) const fn allows(&self, color: Color, queen_side: bool) -> bool {
        self.rights & Self::bit(color, queen_side) != 0
    }

    /// Takes the rights of rooks that have left their squares or were taken on them.
    fn touch(&mut self, squares: Bitboard) {
        if (squares & self.homes).has_any() {
            for (i, rook) in self.rooks.iter().enumerate() {
                if squares.has(*rook) {
                    self.rights &= !(1 << i);
                }
            }
        }
    }
}

impl Keys {
    /// Puts a piece on a square or takes it off; `key` is the piece's there.
    #[inline]
    fn toggle(&mut self, piece: Piece, key: u64) {
        self.position ^= key;
        // The case cannot be predicted, so there is no branch on it.
        let when = |condition: bool| 0_u64.wrapping_sub(u64::from(condition));
        let pawn = when(piece.role() == Role::Pawn);
        let black = when(piece.color() == Color::Black);
        self.pawns ^= key & pawn;
        self.minors ^= key & when(matches!(piece.role(), Role::Knight | Role::Bishop | Role::King));
        self.pieces[0] ^= key & !pawn & !black;
        self.pieces[1] ^= key & !pawn & black;
    }
}

/// Returns the squares where king and rook arrive.
pub(super) const fn castling_targets(color: Color, queen_side: bool) -> (Square, Square) {
    let rank = 7 * color as usize;
    if queen_side { (Square::at(2, rank), Square::at(3, rank)) } else { (Square::at(6, rank), Square::at(5, rank)) }
}

impl Board {
    /// Puts a piece on an empty square.
    pub(super) fn put(&mut self, piece: Piece, square: Square, keys: &mut Keys) {
        let (color, role) = (piece.color(), piece.role());
        keys.material ^= zobrist::count(color, role, self.men(color, role).count());
        self.toggle(piece, square, keys);
        self.squares[square.index()] = Some(piece);
    }

    fn take(&mut self, piece: Piece, square: Square, keys: &mut Keys) {
        let (color, role) = (piece.color(), piece.role());
        self.toggle(piece, square, keys);
        self.squares[square.index()] = None;
        keys.material ^= zobrist::count(color, role, self.men(color, role).count());
    }

    #[inline]
    fn shift(&mut self, piece: Piece, from: Square, to: Square, keys: &mut Keys) {
        let (color, role) = (piece.color(), piece.role());
        let both = Bitboard::from(from) | to;
        self.roles[role.index()] ^= both;
        self.colors[color.index()] ^= both;
        self.squares[from.index()] = None;
        self.squares[to.index()] = Some(piece);
        keys.toggle(piece, zobrist::piece(piece, from) ^ zobrist::piece(piece, to));
    }

    #[inline]
    fn toggle(&mut self, piece: Piece, square: Square, keys: &mut Keys) {
        self.roles[piece.role().index()] ^= square;
        self.colors[piece.color().index()] ^= square;
        keys.toggle(piece, zobrist::piece(piece, square));
    }

    #[inline]
    #[must_use]
    pub fn after(&self, mv: Move) -> Self {
        let mut next = self.clone();
        next.play(mv, self);
        next
    }

    /// The key of the position after a move that neither castles nor promotes nor changes a right.
    #[inline]
    pub(crate) fn likely_key_after(&self, mv: Move) -> u64 {
        let at = |square| self.piece_on(square).map_or(0, |piece| zobrist::piece(piece, square));
        let arrives = self.piece_on(mv.from()).map_or(0, |piece| zobrist::piece(piece, mv.to()));
        self.keys.position ^ at(mv.from()) ^ at(mv.to()) ^ arrives ^ zobrist::black_to_move()
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

    /// Makes a legal move on `self`, a copy of `before`. In hot code this is faster than
    /// [`Self::after`], whose result the compiler copies once more. Early reads come from the
    /// original, which avoids waiting for the copy; the keys are kept apart from the board until
    /// the end for the same reason.
    pub fn play(&mut self, mv: Move, before: &Self) {
        let (us, from, to) = (before.turn, mv.from(), mv.to());
        let Some(piece) = before.piece_on(from) else { return };
        let mut keys = before.keys;
        if let Some(old) = before.en_passant {
            keys.position ^= zobrist::en_passant(old);
            self.en_passant = None;
        }
        let mut halfmoves = before.halfmoves + 1;
        self.fullmoves = before.fullmoves.saturating_add(us as u16);
        let mut double_push = false;
        match mv.kind() {
            MoveKind::Castling => {
                let (king_to, rook_to) = castling_targets(us, to < from);
                let rook = Piece::new(us, Role::Rook);
                // In Chess960 the squares may overlap, so both leave before either arrives.
                self.take(rook, to, &mut keys);
                self.take(piece, from, &mut keys);
                self.put(piece, king_to, &mut keys);
                self.put(rook, rook_to, &mut keys);
            }
            MoveKind::EnPassant => {
                self.take(Piece::new(!us, Role::Pawn), to.forward(!us), &mut keys);
                self.shift(piece, from, to, &mut keys);
                halfmoves = 0;
            }
            MoveKind::Normal | MoveKind::Promotion => {
                if let Some(victim) = before.piece_on(to) {
                    self.take(victim, to, &mut keys);
                    halfmoves = 0;
                }
                match mv.promotion() {
                    None => self.shift(piece, from, to, &mut keys),
                    Some(promotion) => {
                        self.take(piece, from, &mut keys);
                        self.put(Piece::new(us, promotion), to, &mut keys);
                    }
                }
                if piece.role() == Role::Pawn {
                    halfmoves = 0;
                    double_push = from.index().abs_diff(to.index()) == 16;
                }
            }
        }
        self.halfmoves = halfmoves;
        let rights = before.castling.rights;
        if rights != 0 {
            if piece.role() == Role::King {
                self.castling.rights &= !(Castling::bit(us, false) | Castling::bit(us, true));
            }
            self.castling.touch(Bitboard::from(from) | to);
            keys.position ^= zobrist::castling(rights) ^ zobrist::castling(self.castling.rights);
        }
        self.keys = keys;
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

    /// Returns true if the player to move has a pawn that can legally capture en passant on
    /// `square`.
    pub(super) fn can_take_in_passing(&self, square: Square) -> bool {
        let takers: Bitboard = attacks::pawn(square, !self.turn) & self.men(self.turn, Role::Pawn);
        takers.into_iter().any(|from| self.is_en_passant_legal(from, square))
    }
}
