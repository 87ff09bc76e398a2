//! Middlegame and endgame values in one integer.

use std::ops::{Add, AddAssign, Mul, Sub};

/// The phase of a full board; 0 is bare kings and pawns.
pub const FULL_PHASE: i32 = 24;

/// A middlegame and an endgame value, packed so that one addition adds both. Each fits sixteen bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Packed(i32);

impl Packed {
    pub const ZERO: Self = Self(0);

    #[inline]
    pub const fn new(middlegame: i32, endgame: i32) -> Self {
        Self((endgame << 16).wrapping_add(middlegame))
    }

    #[inline]
    pub const fn middlegame(self) -> i32 {
        self.0 as i16 as i32
    }

    /// The upper half, with what the sign of the lower half borrowed given back.
    #[inline]
    pub const fn endgame(self) -> i32 {
        (self.0.wrapping_add(0x8000) >> 16) as i16 as i32
    }

    /// The value between the two at a phase of the game: 24 middlegame, 0 endgame.
    #[inline]
    pub fn taper(self, phase: i32) -> i32 {
        let phase = phase.clamp(0, FULL_PHASE);
        (self.middlegame() * phase + self.endgame() * (FULL_PHASE - phase)) / FULL_PHASE
    }

    #[inline]
    #[must_use]
    pub const fn percent(self, percent: i32) -> Self {
        Self::new(self.middlegame() * percent / 100, self.endgame() * percent / 100)
    }
}

impl Add for Packed {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }
}

impl AddAssign for Packed {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Packed {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }
}

impl Mul<i32> for Packed {
    type Output = Self;
    #[inline]
    fn mul(self, factor: i32) -> Self {
        Self(self.0.wrapping_mul(factor))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_halves_are_independent() {
        for (mg, eg) in [(0, 0), (-1, 1), (1, -1), (-300, -20), (1200, -7), (-1, 0), (0, -1)] {
            let packed = Packed::new(mg, eg);
            assert_eq!((packed.middlegame(), packed.endgame()), (mg, eg));
            let once = packed * 3 - packed - packed;
            assert_eq!((once.middlegame(), once.endgame()), (mg, eg));
        }
        assert_eq!(Packed::new(24, 0).taper(12), 12);
    }
}
