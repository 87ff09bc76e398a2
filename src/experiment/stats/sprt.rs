//! Wald's sequential probability ratio test, generalised to pairs of games (Van den Bergh, *Comments on normalized Elo*;
//! Fishtest's `LLR_normalized`).
//!
//! The hypotheses name normalised or logistic Elo. For each, the distribution of pair scores that explains the observed ones
//! best is found among those with that Elo; the logarithm of the ratio of the two likelihoods is the test's statistic.

use std::{f64::consts::SQRT_2, fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::elo::{NORMALIZED_UNIT, expected_score};

/// The least count of each possible pair score, so that unseen ones do not count as impossible.
const LEAST_COUNT: f64 = 1e-3;

/// The pair scores of games that are won, drawn or lost.
const PENTANOMIAL: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// The scale of a hypothesis' Elo.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EloScale {
    /// Standard deviations of a game: a difference that takes as many games to see, whatever the
    /// share of draws.
    #[default]
    Normalised,
    /// Expected score. For players whose games are nearly all alike, whose tiny deviation makes any
    /// normalised difference tiny.
    Logistic,
}

impl EloScale {
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A test between two hypotheses about Elo.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sprt {
    pub elo0: f64,
    /// The alternative, Elo; above `elo0`.
    pub elo1: f64,
    #[serde(default, skip_serializing_if = "EloScale::is_default")]
    pub scale: EloScale,
    /// The probability of accepting the alternative where the null hypothesis holds.
    pub alpha: f64,
    /// The probability of accepting the null hypothesis where the alternative holds.
    pub beta: f64,
}

/// Writes `[0, 10] normalised`.
impl fmt::Display for Sprt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = match self.scale {
            EloScale::Normalised => "normalised",
            EloScale::Logistic => "logistic",
        };
        write!(f, "[{}, {}] {scale}", self.elo0, self.elo1)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SprtVerdict {
    H0,
    H1,
    Open,
}

impl Sprt {
    /// A test of normalised Elo with errors of 5 % both ways.
    pub const fn new(elo0: f64, elo1: f64) -> Self {
        Self { elo0, elo1, scale: EloScale::Normalised, alpha: 0.05, beta: 0.05 }
    }

    pub const fn on(self, scale: EloScale) -> Self {
        Self { scale, ..self }
    }

    /// Below the first the null hypothesis is accepted, above the second the alternative.
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The logarithm of the likelihood ratio of the alternative to the null hypothesis, given pair scores (0 to 1).
    pub fn log_likelihood_ratio(&self, pairs: &[f64]) -> f64 {
        if pairs.is_empty() {
            return 0.0;
        }
        let observed = Distribution::of(pairs);
        let [null, alternative] = [self.elo0, self.elo1].map(|elo| match self.scale {
            EloScale::Normalised => observed.most_likely_with(t_value(elo)),
            EloScale::Logistic => {
                let condition: Vec<f64> = observed.atoms.iter().map(|(value, _)| value - expected_score(elo)).collect();
                observed.most_likely_under(&condition)
            }
        });
        let atoms = observed.atoms.iter().zip(null.iter().zip(&alternative));
        observed.count * atoms.map(|((_, part), (null, alternative))| part * (alternative / null).ln()).sum::<f64>()
    }

    pub fn verdict(&self, pairs: &[f64]) -> SprtVerdict {
        let (low, high) = self.bounds();
        match self.log_likelihood_ratio(pairs) {
            ratio if ratio >= high => SprtVerdict::H1,
            ratio if ratio <= low => SprtVerdict::H0,
            _ => SprtVerdict::Open,
        }
    }
}

impl FromStr for Sprt {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite());
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        let (low, high, scale) = match parts[..] {
            [low, high] | [low, high, "normalised"] => (number(low), number(high), EloScale::Normalised),
            [low, high, "logistic"] => (number(low), number(high), EloScale::Logistic),
            _ => (None, None, EloScale::default()),
        };
        let rising = low.zip(high).filter(|(low, high)| low < high);
        rising.map(|(low, high)| Self::new(low, high).on(scale)).ok_or_else(|| {
            format!(
                "{text:?} is no test (accepted: two Elo differences, the smaller first, and how they are measured if not \
                 normalised, such as 0,10 or -5,0,logistic)"
            )
        })
    }
}

/// The distance of a pair's expected score from 1/2, in standard deviations of a pair. A pair's deviation is a game's by √2.
fn t_value(normalized_elo: f64) -> f64 {
    SQRT_2 * normalized_elo / NORMALIZED_UNIT
}

struct Distribution {
    count: f64,
    /// Values, rising, and the part of the pairs that had them.
    atoms: Vec<(f64, f64)>,
}

impl Distribution {
    fn of(pairs: &[f64]) -> Self {
        let mut values: Vec<f64> = pairs.iter().chain(&PENTANOMIAL).copied().collect();
        values.sort_by(f64::total_cmp);
        let mut counts: Vec<(f64, f64)> = Vec::new();
        for value in values {
            match counts.last_mut() {
                Some((last, count)) if *last == value => *count += 1.0,
                _ => counts.push((value, 1.0)),
            }
        }
        for (value, count) in &mut counts {
            if PENTANOMIAL.contains(value) {
                *count = (*count - 1.0).max(LEAST_COUNT);
            }
        }
        let count: f64 = counts.iter().map(|(_, count)| count).sum();
        Self { count, atoms: counts.into_iter().map(|(value, times)| (value, times / count)).collect() }
    }

    /// Returns the probabilities of the same values that explain this distribution best, among
    /// those whose mean is `t` standard deviations from 1/2. The condition is linearised around the
    /// last answer until the answer stays.
    fn most_likely_with(&self, t: f64) -> Vec<f64> {
        let mut found = vec![1.0 / self.atoms.len() as f64; self.atoms.len()];
        for _ in 0..50 {
            let with = |f: &dyn Fn(f64) -> f64| -> f64 {
                self.atoms.iter().zip(&found).map(|((value, _), part)| part * f(*value)).sum()
            };
            let mean = with(&|value| value);
            let deviation = with(&|value| (value - mean).powi(2)).sqrt();
            let condition: Vec<f64> = self
                .atoms
                .iter()
                .map(|(value, _)| value - 0.5 - t * deviation * (1.0 + ((mean - value) / deviation).powi(2)) / 2.0)
                .collect();
            let next = self.most_likely_under(&condition);
            let moved = next.iter().zip(&found).map(|(next, found)| (next - found).abs()).fold(0.0, f64::max);
            found = next;
            if moved < 1e-9 {
                break;
            }
        }
        found
    }

    /// Returns the same, among those with a zero mean of this condition, a number for each value.
    fn most_likely_under(&self, condition: &[f64]) -> Vec<f64> {
        let multiplier = self.multiplier(condition);
        self.atoms.iter().zip(condition).map(|((_, part), c)| part / (1.0 + multiplier * c)).collect()
    }

    /// Lagrange's multiplier `x` of the condition that its mean be zero: `Σ pᵢcᵢ / (1 + x cᵢ) = 0`, which falls in `x`.
    fn multiplier(&self, condition: &[f64]) -> f64 {
        let least = condition.iter().copied().fold(f64::INFINITY, f64::min);
        let greatest = condition.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if least >= 0.0 || greatest <= 0.0 {
            return 0.0;
        }
        let (mut low, mut high) = (-1.0 / greatest, -1.0 / least);
        for _ in 0..200 {
            let middle = f64::midpoint(low, high);
            let sum: f64 = self.atoms.iter().zip(condition).map(|((_, part), c)| part * c / (1.0 + middle * c)).sum();
            if sum > 0.0 { low = middle } else { high = middle }
        }
        f64::midpoint(low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pairs by how they went: LL, LD, level (WL or DD), WD, WW.
    fn pairs(counts: [usize; 5]) -> Vec<f64> {
        PENTANOMIAL.iter().zip(counts).flat_map(|(value, count)| vec![*value; count]).collect()
    }

    #[test]
    fn llr_matches_other_match_runners() {
        // The values of fastchess for the same pentanomials.
        for (elo0, elo1, counts, expected) in [
            (0.0, 2.0, [365, 16618, 36229, 16974, 390], 2.25),
            (-1.75, 0.25, [127, 4883, 10712, 5150, 104], 3.01),
            (0.0, 5.0, [0, 0, 0, 0, 5550], 111.82),
        ] {
            let ratio = Sprt::new(elo0, elo1).log_likelihood_ratio(&pairs(counts));
            assert!((ratio - expected).abs() < 0.01 * expected, "{ratio} for {counts:?}");
        }
        let two_pairs = Sprt::new(0.0, 5.0).log_likelihood_ratio(&[0.75, 0.25]);
        assert!((two_pairs + 4.147_466_2e-4).abs() < 1e-6, "{two_pairs}");
    }

    #[test]
    fn sprt_ends_at_walds_bounds() {
        let sprt = Sprt::new(0.0, 50.0);
        assert!((sprt.bounds().1 - 2.944).abs() < 0.001 && (sprt.bounds().0 + 2.944).abs() < 0.001);
        assert_eq!(sprt.verdict(&pairs([1, 2, 5, 2, 1])), SprtVerdict::Open);
        assert_eq!(sprt.verdict(&pairs([10, 20, 60, 80, 40])), SprtVerdict::H1);
        assert_eq!(sprt.verdict(&pairs([40, 80, 60, 20, 10])), SprtVerdict::H0);
        assert_eq!(sprt.verdict(&[]), SprtVerdict::Open);
    }

    #[test]
    fn fractional_scores_are_accepted() {
        let higher: Vec<f64> =
            (0..200).map(|i| 0.55 + 0.3 * f64::from(i % 7) / 7.0 - 0.05 * f64::from(i % 3)).collect();
        assert_eq!(Sprt::new(0.0, 20.0).verdict(&higher), SprtVerdict::H1);
    }

    #[test]
    fn logistic_test_matches_normal_law() {
        let observed = pairs([127, 4883, 10712, 5150, 104]);
        let (mean, variance) = crate::stats::moments(&observed);
        let (null, alternative) = (expected_score(-2.0), expected_score(3.0));
        let expected =
            observed.len() as f64 * (alternative - null) * (2.0 * mean - null - alternative) / (2.0 * variance);
        let ratio = Sprt::new(-2.0, 3.0).on(EloScale::Logistic).log_likelihood_ratio(&observed);
        assert!((ratio - expected).abs() < 0.01 * expected.abs(), "{ratio}, {expected}");
    }

    #[test]
    fn logistic_elo_separates_drawish_players() {
        let alike = pairs([0, 1, 400, 1, 0]);
        let normalised = Sprt::new(-5.0, 0.0);
        assert_eq!(normalised.verdict(&alike), SprtVerdict::Open);
        assert_eq!(normalised.on(EloScale::Logistic).verdict(&alike), SprtVerdict::H1);
    }

    #[test]
    fn sprt_text_round_trips() {
        assert_eq!("0,10".parse(), Ok(Sprt::new(0.0, 10.0)));
        assert_eq!("-5, 0.5".parse(), Ok(Sprt::new(-5.0, 0.5)));
        assert_eq!("-5,0,logistic".parse(), Ok(Sprt::new(-5.0, 0.0).on(EloScale::Logistic)));
        assert_eq!("0,5,normalised".parse(), Ok(Sprt::new(0.0, 5.0)));
        for text in ["", "0", "10,0", "0,nan", "a,b", "0,5,bayes", "0,5,logistic,"] {
            assert!(text.parse::<Sprt>().is_err(), "{text:?}");
        }
    }
}
