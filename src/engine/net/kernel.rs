//! The loops over numbers. Each is written once, in plain Rust that the compiler turns into vector instructions, and compiled
//! twice on x86-64: for every processor and for those with AVX2. On others, such as ARM with NEON, the plain one already uses
//! the vectors that all of them have. Whole numbers add up to the same in any order, so all give equal results.

use super::{ONE, Row};

/// Adds the rows of `added` to `sum` and takes those of `removed` off.
#[inline]
pub(super) fn update(sum: &mut Row, weights: &[Row], added: &[u16], removed: &[u16]) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, which is all the function asks for.
        return unsafe { update_avx2(sum, weights, added, removed) };
    }
    update_plain(sum, weights, added, removed);
}

/// The sum over both layers of the numbers, cut to 0 and [`ONE`], squared, times their weights.
#[inline]
pub(super) fn output(layers: [&Row; 2], weights: &[Row; 2]) -> i32 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, which is all the function asks for.
        return unsafe { output_avx2(layers, weights) };
    }
    output_plain(layers, weights)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn update_avx2(sum: &mut Row, weights: &[Row], added: &[u16], removed: &[u16]) {
    update_plain(sum, weights, added, removed);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn output_avx2(layers: [&Row; 2], weights: &[Row; 2]) -> i32 {
    output_plain(layers, weights)
}

#[inline(always)]
fn update_plain(sum: &mut Row, weights: &[Row], added: &[u16], removed: &[u16]) {
    for row in added.iter().filter_map(|i| weights.get(usize::from(*i))) {
        for (number, weight) in sum.iter_mut().zip(row) {
            *number = number.wrapping_add(*weight);
        }
    }
    for row in removed.iter().filter_map(|i| weights.get(usize::from(*i))) {
        for (number, weight) in sum.iter_mut().zip(row) {
            *number = number.wrapping_sub(*weight);
        }
    }
}

#[inline(always)]
fn output_plain(layers: [&Row; 2], weights: &[Row; 2]) -> i32 {
    let mut sum = 0_i32;
    for (layer, weights) in layers.into_iter().zip(weights) {
        for (number, weight) in layer.iter().zip(weights) {
            let cut = (*number).clamp(0, ONE as i16);
            // A weight times ONE fits 16 bits, and pairs of products of 16 bits are one instruction.
            sum = sum.wrapping_add(i32::from(cut.wrapping_mul(*weight)) * i32::from(cut));
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{LARGEST_OUTPUT_WEIGHT, WIDTH};

    /// Numbers without a pattern, within ±`most`.
    fn row(seed: u64, most: i64) -> Row {
        let mut state = seed;
        std::array::from_fn(|_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((state >> 33) as i64 % (2 * most + 1) - most) as i16
        })
    }

    #[test]
    fn every_kind_of_processor_counts_the_same() {
        for seed in 0..50 {
            let layers = [row(seed, 1000), row(seed + 100, 1000)];
            let weights = [row(seed + 200, 127), row(seed + 300, 127)];
            let exact: i64 = (0..2)
                .flat_map(|side| (0..WIDTH).map(move |i| (side, i)))
                .map(|(side, i)| i64::from(layers[side][i].clamp(0, 255)).pow(2) * i64::from(weights[side][i]))
                .sum();
            assert_eq!(i64::from(output([&layers[0], &layers[1]], &weights)), exact);
            assert_eq!(i64::from(output_plain([&layers[0], &layers[1]], &weights)), exact);
            let rows = [layers, weights].concat();
            let (mut one, mut other) = (row(seed + 400, 1000), row(seed + 400, 1000));
            update(&mut one, &rows, &[0, 1, 2], &[3]);
            update_plain(&mut other, &rows, &[0, 1, 2], &[3]);
            assert_eq!(one, other);
        }
    }

    #[test]
    fn the_largest_sum_fits() {
        let full = [ONE as i16; WIDTH];
        let weights = [[LARGEST_OUTPUT_WEIGHT; WIDTH]; 2];
        let exact = 2 * WIDTH as i64 * 255 * 255 * i64::from(LARGEST_OUTPUT_WEIGHT);
        assert_eq!(i64::from(output([&full, &full], &weights)), exact);
    }
}
