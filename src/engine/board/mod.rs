//! The board: its men, their legal moves, and the position after a move.
//!
//! Bitboards by role and colour, with a mailbox beside them. A move copies the board
//! ([`Board::after`]); there is no unmake. Invariants of every board outside this module:
//! - one king a side, no pawns on the back ranks, the player not to move is not in check;
//! - `checkers` and `pinned` are those of the player to move; the keys are those of the position;
//! - `en_passant` is set only if a pawn can legally capture en passant, so that equal keys mean
//!   equal positions by the rule of repetition.

pub mod attacks;
mod bitboard;
mod cuckoo;
mod fen;
mod generate;
mod legality;
mod magics;
mod make;
mod moves;
mod perft;
mod position;
mod see;
mod types;
mod zobrist;

pub use bitboard::Bitboard;
pub use fen::FenError;
pub use generate::Stage;
pub(crate) use legality::CheckMap;
pub use moves::{Move, MoveKind, MoveList};
pub use perft::perft;
pub use position::{Position, PositionError};
pub use see::EXCHANGE_VALUES;
pub use types::{Color, Piece, Role, Square};

/// Zobrist keys, kept up to date move by move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// The whole position: men, player to move, castling rights, en passant.
    pub position: u64,
    pub pawns: u64,
    /// The other men of each colour.
    pub pieces: [u64; 2],
    /// Knights, bishops and kings of both colours.
    pub minors: u64,
    /// The number of men of each kind.
    pub material: u64,
}

/// Castling rights, and where the rooks of the game stood at its beginning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Castling {
    /// A bit for each of white's king side and queen side, black's king side and queen side.
    rights: u8,
    rooks: [Square; 4],
    /// The same squares as a set; few moves touch one.
    homes: Bitboard,
}

/// A chess position without its past.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub struct Board {
    squares: [Option<Piece>; 64],
    roles: [Bitboard; 6],
    colors: [Bitboard; 2],
    checkers: Bitboard,
    pinned: Bitboard,
    keys: Keys,
    castling: Castling,
    turn: Color,
    en_passant: Option<Square>,
    halfmoves: u16,
    fullmoves: u16,
}

impl Board {
    /// A board with nothing on it, white to move.
    pub(crate) fn empty() -> Self {
        Self {
            squares: [None; 64],
            roles: [Bitboard::EMPTY; 6],
            colors: [Bitboard::EMPTY; 2],
            checkers: Bitboard::EMPTY,
            pinned: Bitboard::EMPTY,
            keys: Keys::default(),
            castling: Castling { rights: 0, rooks: [Square::new(0); 4], homes: Bitboard::EMPTY },
            turn: Color::White,
            en_passant: None,
            halfmoves: 0,
            fullmoves: 1,
        }
    }

    #[inline]
    pub const fn turn(&self) -> Color {
        self.turn
    }

    #[inline]
    pub const fn piece_on(&self, square: Square) -> Option<Piece> {
        self.squares[square.index()]
    }

    /// The squares on which the men of two boards differ.
    #[inline]
    pub(crate) fn differences(&self, other: &Self) -> Bitboard {
        let roles = self.roles.iter().zip(&other.roles).fold(Bitboard::EMPTY, |all, (a, b)| all | (*a ^ *b));
        roles | (self.colors[0] ^ other.colors[0])
    }

    #[inline]
    pub const fn role(&self, role: Role) -> Bitboard {
        self.roles[role.index()]
    }

    #[inline]
    pub const fn color(&self, color: Color) -> Bitboard {
        self.colors[color.index()]
    }

    #[inline]
    pub fn men(&self, color: Color, role: Role) -> Bitboard {
        self.color(color) & self.role(role)
    }

    /// Returns all pieces that move like a rook.
    #[inline]
    pub fn straight_sliders(&self) -> Bitboard {
        self.role(Role::Rook) | self.role(Role::Queen)
    }

    /// Returns all pieces that move like a bishop.
    #[inline]
    pub fn diagonal_sliders(&self) -> Bitboard {
        self.role(Role::Bishop) | self.role(Role::Queen)
    }

    #[inline]
    pub fn occupied(&self) -> Bitboard {
        self.colors[0] | self.colors[1]
    }

    #[inline]
    pub fn king(&self, color: Color) -> Square {
        self.men(color, Role::King).first()
    }

    /// Returns true if a player has more than king and pawns.
    #[inline]
    pub fn has_pieces(&self, color: Color) -> bool {
        (self.color(color) & !(self.role(Role::Pawn) | self.role(Role::King))).has_any()
    }

    /// Returns the number of castling rights that a player has left.
    #[inline]
    pub fn castling_rights(&self, color: Color) -> usize {
        (self.castling.rights >> (2 * color.index()) & 3).count_ones() as usize
    }

    /// Returns true if no castling right is left.
    #[inline]
    pub const fn can_never_castle(&self) -> bool {
        self.castling.rights == 0
    }

    #[inline]
    pub const fn in_check(&self) -> bool {
        self.checkers.has_any()
    }

    /// The keys that name the position and parts of it.
    #[inline]
    pub const fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Plies since a pawn moved or something was taken.
    #[inline]
    pub const fn halfmoves(&self) -> u16 {
        self.halfmoves
    }

    /// Returns the role captured by `mv`. Castling captures nothing.
    #[inline]
    pub fn captured(&self, mv: Move) -> Option<Role> {
        match mv.kind() {
            MoveKind::EnPassant => Some(Role::Pawn),
            MoveKind::Castling => None,
            MoveKind::Normal | MoveKind::Promotion => self.piece_on(mv.to()).map(Piece::role),
        }
    }

    /// Returns true if `mv` changes the material: a capture or a promotion to a queen. Other
    /// promotions count as quiet.
    #[inline]
    pub fn is_noisy(&self, mv: Move) -> bool {
        match mv.kind() {
            MoveKind::Normal => self.piece_on(mv.to()).is_some(),
            MoveKind::EnPassant => true,
            MoveKind::Castling => false,
            MoveKind::Promotion => mv.promotion() == Some(Role::Queen),
        }
    }

    /// Returns all men of both colours that attack a square, given `occupied`.
    #[inline]
    pub fn attackers(&self, square: Square, occupied: Bitboard) -> Bitboard {
        (attacks::pawn(square, Color::Black) & self.men(Color::White, Role::Pawn))
            | (attacks::pawn(square, Color::White) & self.men(Color::Black, Role::Pawn))
            | (attacks::knight(square) & self.role(Role::Knight))
            | (attacks::king(square) & self.role(Role::King))
            | (attacks::bishop(square, occupied) & self.diagonal_sliders())
            | (attacks::rook(square, occupied) & self.straight_sliders())
    }

    /// Returns true if neither side can ever mate, by rule: bare kings, or one minor piece in all.
    pub fn is_insufficient(&self) -> bool {
        let minors = self.role(Role::Knight) | self.role(Role::Bishop);
        (self.occupied() & !(minors | self.role(Role::King))).is_empty() && !minors.many()
    }

    /// Sets `checkers` and `pinned` for the player to move.
    fn update_checks(&mut self) {
        let us = self.turn;
        let king = self.king(us);
        let (own, enemies, occupied) = (self.color(us), self.color(!us), self.occupied());
        self.checkers = enemies
            & ((attacks::pawn(king, us) & self.role(Role::Pawn)) | (attacks::knight(king) & self.role(Role::Knight)));
        self.pinned = Bitboard::EMPTY;
        let snipers = enemies
            & ((attacks::rook_rays(king) & self.straight_sliders())
                | (attacks::bishop_rays(king) & self.diagonal_sliders()));
        for sniper in snipers {
            let shield = attacks::between(king, sniper) & occupied;
            if shield.is_empty() {
                self.checkers |= sniper;
            } else if !shield.many() {
                self.pinned |= shield & own;
            }
        }
    }
}

#[cfg(test)]
mod tests;
