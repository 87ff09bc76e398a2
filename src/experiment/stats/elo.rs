//! Score, Elo and normalised Elo from pair scores.

use std::f64::consts::{LN_10, SQRT_2};

use super::{Estimate, TWO_SIDED_95, moments};

/// One unit of normalised Elo: `(score - 1/2) / standard deviation of a game` times this (Van den
/// Bergh, *Normalized Elo*).
pub(super) const NORMALIZED_UNIT: f64 = 800.0 / LN_10;

/// The Elo difference at which `score` (0 to 1) is expected. Infinite at both ends.
pub fn elo(score: f64) -> f64 {
    -400.0 * (1.0 / score.clamp(0.0, 1.0) - 1.0).log10()
}

/// The score (0 to 1) that is expected at this Elo difference.
pub(super) fn expected_score(elo: f64) -> f64 {
    1.0 / (1.0 + 10.0_f64.powf(-elo / 400.0))
}

/// The mean of the pair scores. `None` for fewer than two pairs.
pub fn score(pairs: &[f64]) -> Option<Estimate> {
    let (mean, deviation) = mean_and_deviation(pairs)?;
    let error = TWO_SIDED_95 * deviation / (pairs.len() as f64).sqrt();
    Some(Estimate { value: mean, low: (mean - error).max(0.0), high: (mean + error).min(1.0) })
}

/// Returns normalised Elo of the pair scores: the advantage in standard deviations of a game, which
/// unlike Elo shows the number of games needed to see it. `None` for fewer than two pairs.
pub fn normalized_elo(pairs: &[f64]) -> Option<Estimate> {
    let (mean, deviation) = mean_and_deviation(pairs)?;
    let deviation_of_a_game = SQRT_2 * deviation;
    let value = (mean - 0.5) / deviation_of_a_game * NORMALIZED_UNIT;
    let error = TWO_SIDED_95 / (2.0 * pairs.len() as f64).sqrt() * NORMALIZED_UNIT;
    Some(Estimate { value, low: value - error, high: value + error })
}

/// Mean and sample deviation. Where all pairs scored the same, as if one more had gone the other way: so few games prove
/// nothing without exception.
fn mean_and_deviation(pairs: &[f64]) -> Option<(f64, f64)> {
    if pairs.len() < 2 {
        return None;
    }
    let (mean, variance) = moments(pairs);
    let variance = if variance > 0.0 {
        variance
    } else {
        let other = if mean > 0.5 { 0.0 } else { 1.0 };
        moments(&[pairs, &[other]].concat()).1
    };
    Some((mean, (variance * pairs.len() as f64 / (pairs.len() as f64 - 1.0)).sqrt()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn elo_and_score_are_inverse() {
        assert!((elo(0.75) - 190.848).abs() < 0.001);
        assert_eq!((elo(0.5), elo(0.0), elo(1.0)), (0.0, f64::NEG_INFINITY, f64::INFINITY));
        assert!((expected_score(elo(0.3)) - 0.3).abs() < 1e-12);
    }

    #[test]
    fn score_error_comes_from_pairs() {
        // Deviation 1/4 (divided by one less), so 1.96 · 0.25 / √4 about a mean of 0.625.
        let estimate = score(&[0.5, 0.5, 0.5, 1.0]).expect("four pairs");
        assert!((estimate.value - 0.625).abs() < 1e-12 && (estimate.error() - 0.245).abs() < 1e-3, "{estimate:?}");
    }

    #[test]
    fn perfect_score_keeps_an_error_bar() {
        let estimate = score(&[1.0; 10]).expect("ten pairs");
        assert!(estimate.high == 1.0 && (0.7..0.9).contains(&estimate.low), "{estimate:?}");
        assert_eq!(score(&[1.0]), None);
    }

    #[test]
    fn normalised_elo_of_a_pentanomial() {
        // Fishtest's formula by hand: pairs LL 1, LD 2, DD 4, WD 4, WW 1.
        let pairs = [0.0, 0.25, 0.25, 0.5, 0.5, 0.5, 0.5, 0.75, 0.75, 0.75, 0.75, 1.0];
        let estimate = normalized_elo(&pairs).expect("twelve pairs");
        let by_hand = (13.0 / 24.0 - 0.5) / (2.0_f64 * 0.077_651_515).sqrt() * 347.435_6;
        assert!((estimate.value - by_hand).abs() < 0.01, "{estimate:?} {by_hand}");
    }

    proptest! {
        #[test]
        fn an_interval_holds_its_figure(pairs in prop::collection::vec(0.0..=1.0_f64, 2..50)) {
            let score = score(&pairs).expect("two pairs at least");
            prop_assert!(score.low <= score.value && score.value <= score.high);
            let mirrored: Vec<f64> = pairs.iter().map(|pair| 1.0 - pair).collect();
            let other = super::score(&mirrored).expect("as many");
            prop_assert!((score.value + other.value - 1.0).abs() < 1e-9);
        }
    }
}
