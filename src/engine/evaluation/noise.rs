//! Random noise on the evaluation: how copies of one engine are made to differ (Sugiyama, Obata, Hoki, Ito, CG 2010).
//!
//! The noise of a position depends on its key and the seed alone, so that a table stays consistent and a run repeatable.

use crate::board::Board;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noise {
    /// The largest change of a position's value, in centipawns; 0 is none.
    pub amplitude: u16,
    /// The seed, different for each copy.
    pub seed: u64,
}

impl Noise {
    pub const NONE: Self = Self { amplitude: 0, seed: 0 };

    /// Returns the change of a position's value: evenly spread between minus and plus the
    /// amplitude.
    #[inline]
    pub(super) fn at(self, board: &Board) -> i32 {
        if self.amplitude == 0 {
            return 0;
        }
        let amplitude = i32::from(self.amplitude);
        let mixed = mix(board.keys().position ^ self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        (mixed % (2 * amplitude as u64 + 1)) as i32 - amplitude
    }
}

/// The finishing step of the SplitMix64 generator (Steele, Lea, Flood, OOPSLA 2014).
#[inline]
const fn mix(key: u64) -> u64 {
    let key = (key ^ key >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let key = (key ^ key >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    key ^ key >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        board::Position,
        evaluation::{Recipe, evaluate},
    };

    #[test]
    fn noise_is_bounded_and_repeatable() {
        let board = |fen: &str| Position::from_line(fen, false, []).expect("a position").board().clone();
        let fens = [Position::START, "8/8/1K6/1P6/8/4k3/8/8 w - - 0 1", "8/8/1K6/1P6/8/4k3/8/8 b - - 0 1"];
        let mut different = false;
        for fen in fens {
            let board = board(fen);
            let plain = evaluate(&board, &Recipe::COMPLETE);
            for seed in 0..50 {
                let noisy = Recipe::COMPLETE.with_noise(Noise { amplitude: 20, seed });
                let value = evaluate(&board, &noisy);
                assert!((value - plain).abs() <= 20);
                assert_eq!(value, evaluate(&board, &noisy));
                different |= value != plain;
            }
        }
        assert!(different);
    }
}
