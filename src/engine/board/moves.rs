//! Moves in sixteen bits, and lists of them.

use std::{fmt, num::NonZeroU16};

use arrayvec::ArrayVec;

use super::types::{Role, Square};

/// A move: from and to (six bits each), a promotion (two) and a [`MoveKind`] (two).
///
/// Castling is written as the king taking its own rook, in standard chess as in Chess960. No move goes from a1 to a1, so
/// zero is free to mean "none" and `Option<Move>` takes sixteen bits too.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Move(NonZeroU16);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveKind {
    /// A move or capture without anything special.
    Normal,
    EnPassant,
    /// The king "captures" its rook.
    Castling,
    Promotion,
}

impl Move {
    #[inline]
    pub(super) const fn pack(from: Square, to: Square, kind: MoveKind, promotion: Role) -> Self {
        let promotion = if matches!(kind, MoveKind::Promotion) { promotion as u16 - 1 } else { 0 };
        let bits = from.index() as u16 | (to.index() as u16) << 6 | promotion << 12 | (kind as u16) << 14;
        match NonZeroU16::new(bits) {
            Some(bits) => Self(bits),
            // a1 to a1: no generator makes it. A value is needed to stand for `None`.
            None => Self(NonZeroU16::MAX),
        }
    }

    #[inline]
    pub(super) const fn normal(from: Square, to: Square) -> Self {
        Self::pack(from, to, MoveKind::Normal, Role::Knight)
    }

    #[inline]
    pub const fn from(self) -> Square {
        Square::new(self.0.get() as usize & 63)
    }

    /// The target square; for castling, the rook's square.
    #[inline]
    pub const fn to(self) -> Square {
        Square::new(self.0.get() as usize >> 6 & 63)
    }

    #[inline]
    pub const fn kind(self) -> MoveKind {
        match self.0.get() >> 14 {
            0 => MoveKind::Normal,
            1 => MoveKind::EnPassant,
            2 => MoveKind::Castling,
            _ => MoveKind::Promotion,
        }
    }

    #[inline]
    pub const fn promotion(self) -> Option<Role> {
        match self.kind() {
            MoveKind::Promotion => Some(Role::ALL[(self.0.get() as usize >> 12 & 3) + 1]),
            _ => None,
        }
    }

    /// The sixteen bits of a move or of none.
    #[inline]
    pub const fn to_bits(mv: Option<Self>) -> u16 {
        match mv {
            Some(mv) => mv.0.get(),
            None => 0,
        }
    }

    /// A move from its sixteen bits; 0 is none. It need not fit any board.
    #[inline]
    pub const fn from_bits(bits: u16) -> Option<Self> {
        match NonZeroU16::new(bits) {
            Some(bits) => Some(Self(bits)),
            None => None,
        }
    }
}

impl fmt::Debug for Move {
    /// King takes rook for castling; otherwise as UCI writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.from(), self.to())?;
        self.promotion().map_or(Ok(()), |role| write!(f, "{}", role.letter()))
    }
}

/// A list of moves that lives on the stack. The most moves any position has is 218; FEN with more men than a game can have
/// are refused, so the generators cannot overflow it.
pub type MoveList = ArrayVec<Move, 256>;
