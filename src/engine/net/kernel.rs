//! The loops over numbers. Each is written once, in plain Rust that the compiler turns into vector instructions, and compiled
//! three times on x86-64: for every processor, for those with AVX2 and for those with AVX-512. On others, such as ARM with NEON, the
//! plain one already uses the vectors that all of them have. Whole numbers add up to the same in any order, so all give equal results.

use super::{Block, ONE};

/// Calls the kind of a function that suits the processor.
macro_rules! by_processor {
    ($plain:ident, $avx2:ident, $avx512:ident, $($argument:ident),+) => {
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx512bw") {
                // SAFETY: the processor has AVX-512 with words, the function's only requirement.
                return unsafe { $avx512($($argument),+) };
            }
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2, the function's only requirement.
                return unsafe { $avx2($($argument),+) };
            }
        }
        $plain($($argument),+)
    };
}

/// Adds the rows of `added` to `sum` and takes those of `removed` off. `weights` are rows as wide as `sum`.
#[inline]
pub(super) fn update(sum: &mut [Block], weights: &[Block], added: &[u16], removed: &[u16]) {
    by_processor! { update_plain, update_avx2, update_avx512, sum, weights, added, removed }
}

/// The sum over a layer of the numbers, cut to 0 and [`ONE`], squared, times their weights.
#[inline]
pub(super) fn output(layer: &[Block], weights: &[Block]) -> i64 {
    by_processor! { output_plain, output_avx2, output_avx512, layer, weights }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn update_avx2(sum: &mut [Block], weights: &[Block], added: &[u16], removed: &[u16]) {
    update_plain(sum, weights, added, removed);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512bw")]
fn update_avx512(sum: &mut [Block], weights: &[Block], added: &[u16], removed: &[u16]) {
    update_plain(sum, weights, added, removed);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn output_avx2(layer: &[Block], weights: &[Block]) -> i64 {
    output_plain(layer, weights)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512bw")]
fn output_avx512(layer: &[Block], weights: &[Block]) -> i64 {
    output_plain(layer, weights)
}

/// A move takes a man from one square to another, and a position differs from a sibling by two moves, so rows come and go in
/// pairs. One pass over the layer takes two pairs: it waits for four rows at once, which are seldom in the nearest cache.
#[inline(always)]
fn update_plain(sum: &mut [Block], weights: &[Block], mut added: &[u16], mut removed: &[u16]) {
    let blocks = sum.len();
    let row = |input: &u16| weights[usize::from(*input) * blocks..][..blocks].iter();
    while let ([a, b, more_added @ ..], [c, d, more_removed @ ..]) = (added, removed) {
        for (sum, ((a, b), (c, d))) in sum.iter_mut().zip(row(a).zip(row(b)).zip(row(c).zip(row(d)))) {
            for (number, ((a, b), (c, d))) in sum.0.iter_mut().zip(a.0.iter().zip(&b.0).zip(c.0.iter().zip(&d.0))) {
                *number = number.wrapping_add(a.wrapping_sub(*c)).wrapping_add(b.wrapping_sub(*d));
            }
        }
        (added, removed) = (more_added, more_removed);
    }
    while let ([a, more_added @ ..], [b, more_removed @ ..]) = (added, removed) {
        for (sum, (a, b)) in sum.iter_mut().zip(row(a).zip(row(b))) {
            for (number, (a, b)) in sum.0.iter_mut().zip(a.0.iter().zip(&b.0)) {
                *number = number.wrapping_add(a.wrapping_sub(*b));
            }
        }
        (added, removed) = (more_added, more_removed);
    }
    added.iter().for_each(|input| change(sum, row(input), i16::wrapping_add));
    removed.iter().for_each(|input| change(sum, row(input), i16::wrapping_sub));
}

/// Changes every number of a layer by that of a row.
#[inline(always)]
fn change<'a>(sum: &mut [Block], row: impl Iterator<Item = &'a Block>, by: impl Fn(i16, i16) -> i16) {
    for (sum, row) in sum.iter_mut().zip(row) {
        for (number, weight) in sum.0.iter_mut().zip(&row.0) {
            *number = by(*number, *weight);
        }
    }
}

#[inline(always)]
fn output_plain(layer: &[Block], weights: &[Block]) -> i64 {
    let mut total = 0;
    for (layer, weights) in layer.iter().zip(weights) {
        // The sum of a block fits 32 bits.
        let mut sum = 0_i32;
        for (number, weight) in layer.0.iter().zip(&weights.0) {
            let cut = (*number).clamp(0, ONE as i16);
            // A weight times ONE fits 16 bits, and pairs of products of 16 bits are one instruction.
            sum = sum.wrapping_add(i32::from(cut.wrapping_mul(*weight)) * i32::from(cut));
        }
        total += i64::from(sum);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{BLOCK, LARGEST_OUTPUT_WEIGHT};

    /// Three blocks of numbers without a pattern, within ±`most`.
    fn row(seed: u64, most: i64) -> Vec<Block> {
        let mut state = seed;
        let mut number = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as i64 % (2 * most + 1) - most) as i16
        };
        (0..3).map(|_| Block(std::array::from_fn(|_| number()))).collect()
    }

    type Update = fn(&mut [Block], &[Block], &[u16], &[u16]);
    type Output = fn(&[Block], &[Block]) -> i64;

    /// The functions of every kind that this processor can run, and those that are called in play.
    fn kinds() -> Vec<(Update, Output)> {
        let mut kinds: Vec<(Update, Output)> = vec![(update, output), (update_plain, output_plain)];
        #[cfg(target_arch = "x86_64")]
        {
            if std::arch::is_x86_feature_detected!("avx2") {
                // SAFETY: the processor has AVX2.
                kinds.push((|s, w, a, r| unsafe { update_avx2(s, w, a, r) }, |l, w| unsafe { output_avx2(l, w) }));
            }
            if std::arch::is_x86_feature_detected!("avx512bw") {
                // SAFETY: the processor has AVX-512 with words.
                kinds.push((|s, w, a, r| unsafe { update_avx512(s, w, a, r) }, |l, w| unsafe { output_avx512(l, w) }));
            }
        }
        kinds
    }

    #[test]
    fn all_kernels_agree() {
        for seed in 0..50 {
            let (layer, weights) = (row(seed, 1000), row(seed + 200, 127));
            let numbers = |row: &[Block]| row.iter().flat_map(|block| block.0).map(i64::from).collect::<Vec<_>>();
            let products = numbers(&layer).into_iter().zip(numbers(&weights));
            let exact: i64 = products.map(|(number, weight)| number.clamp(0, 255).pow(2) * weight).sum();
            for (_, output) in kinds() {
                assert_eq!(output(&layer, &weights), exact);
            }

            let rows = [layer, weights, row(seed + 300, 127), row(seed + 500, 127)].concat();
            let before = row(seed + 400, 1000);
            for (added, removed) in [(vec![0, 1, 2], vec![3]), (vec![], vec![1, 0]), (vec![2], vec![2])] {
                let rows_of = |signed: &[u16], sign: i64| -> Vec<(usize, i64)> {
                    signed.iter().map(|i| (usize::from(*i) * 3 * BLOCK, sign)).collect()
                };
                let changes = [rows_of(&added, 1), rows_of(&removed, -1)].concat();
                let all = numbers(&rows);
                let exact = numbers(&before).into_iter().enumerate();
                let exact: Vec<i64> = exact
                    .map(|(i, number)| number + changes.iter().map(|(row, sign)| sign * all[row + i]).sum::<i64>())
                    .collect();
                for (update, _) in kinds() {
                    let mut sum = before.clone();
                    update(&mut sum, &rows, &added, &removed);
                    assert_eq!(numbers(&sum), exact);
                }
            }
        }
    }

    #[test]
    fn the_largest_sum_fits() {
        let (full, weights) = ([Block([ONE as i16; BLOCK])], [Block([LARGEST_OUTPUT_WEIGHT; BLOCK])]);
        assert_eq!(output(&full, &weights), BLOCK as i64 * 255 * 255 * i64::from(LARGEST_OUTPUT_WEIGHT));
    }
}
