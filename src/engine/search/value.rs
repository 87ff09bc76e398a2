//! Values inside the search, for the player to move.
//!
//! Centipawns, and above [`MATE_BOUND`] mates: `MATE - plies` gives mate in `plies` plies, so a
//! nearer mate is worth more and the losing side prolongs. Tablebase wins lie between the two.

pub(super) type Value = i32;

/// The longest path.
pub(super) const MAX_PLY: usize = 192;
pub(super) const INFINITE: Value = 32_001;
pub(super) const MATE: Value = 32_000;
/// The least value of a forced mate.
pub(super) const MATE_BOUND: Value = MATE - MAX_PLY as Value;
/// A tablebase win on the board.
pub(super) const TABLEBASE_WIN: Value = MATE_BOUND - 1;
/// The least value of a forced win, by mate or by tablebase.
pub(super) const WIN_BOUND: Value = TABLEBASE_WIN - MAX_PLY as Value;
/// No static evaluation (in check).
pub(super) const NONE: Value = -32_768;

/// The value of being mated `ply` plies from the root.
#[inline]
pub(super) const fn mated_in(ply: usize) -> Value {
    ply as Value - MATE
}

/// Returns true if a side wins by force.
#[inline]
pub(super) const fn is_decisive(value: Value) -> bool {
    value >= WIN_BOUND || value <= -WIN_BOUND
}

/// Counts forced wins from the position itself rather than from the root.
#[inline]
pub(super) const fn to_table(value: Value, ply: usize) -> Value {
    if value >= WIN_BOUND {
        value + ply as Value
    } else if value <= -WIN_BOUND {
        value - ply as Value
    } else {
        value
    }
}

/// The inverse of [`to_table`].
#[inline]
pub(super) const fn from_table(value: Value, ply: usize) -> Value {
    if value >= WIN_BOUND {
        value - ply as Value
    } else if value <= -WIN_BOUND {
        value + ply as Value
    } else {
        value
    }
}
