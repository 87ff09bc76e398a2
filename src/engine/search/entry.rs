//! An entry of the transposition table: 64 bits.

use super::value::{self, Value};
use crate::board::Move;

/// The relation of a stored value to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Bound {
    /// No value, only a static evaluation.
    None,
    /// The true value is at most this.
    Upper,
    /// The true value is at least this.
    Lower,
    Exact,
}

impl Bound {
    const ALL: [Self; 4] = [Self::None, Self::Upper, Self::Lower, Self::Exact];

    /// Returns true if a value with this bound proves that the true one is at least `beta` or at
    /// most `beta - 1`.
    #[inline]
    pub(super) fn settles(self, value: Value, beta: Value) -> bool {
        match self {
            Self::None => false,
            Self::Exact => true,
            Self::Lower => value >= beta,
            Self::Upper => value < beta,
        }
    }
}

/// What a search found out about one position.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// The best move found, if any.
    pub mv: Option<Move>,
    /// The value, mates counted from the position itself. See [`Entry::value_at`].
    pub stored: i16,
    /// The static evaluation, or [`value::NONE`] (in check).
    pub evaluation: Value,
    /// Plies searched below the position; 0 for quiescence.
    pub depth: i32,
    pub bound: Bound,
    /// True if the position was ever on a principal variation.
    pub principal: bool,
    pub age: u8,
}

impl Entry {
    /// The value seen from `ply` plies below the root: mates are stored as distances from the position.
    #[inline]
    pub(super) fn value_at(&self, ply: usize) -> Value {
        value::from_table(Value::from(self.stored), ply)
    }

    /// Returns the entry with only its best move.
    pub(super) fn move_alone(self) -> Self {
        Self { stored: 0, evaluation: value::NONE, bound: Bound::None, principal: false, ..self }
    }

    // Data, from the lowest bit: move 16, value 16, evaluation 16, depth 8, bound 2, principal 1, age 5.
    #[inline]
    pub(super) fn pack(self) -> u64 {
        u64::from(Move::to_bits(self.mv))
            | u64::from(self.stored as u16) << 16
            | u64::from(self.evaluation as i16 as u16) << 32
            | u64::from(self.depth.clamp(0, 255) as u8) << 48
            | (self.bound as u64) << 56
            | u64::from(self.principal) << 58
            | u64::from(self.age) << 59
    }

    #[inline]
    pub(super) fn unpack(data: u64) -> Self {
        Self {
            mv: Move::from_bits(data as u16),
            stored: (data >> 16) as i16,
            evaluation: Value::from((data >> 32) as i16),
            depth: i32::from((data >> 48) as u8),
            bound: Bound::ALL[(data >> 56 & 3) as usize],
            principal: data >> 58 & 1 != 0,
            age: (data >> 59) as u8,
        }
    }
}
