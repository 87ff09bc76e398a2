//! Statistics: pure functions from scores to figures with their errors.
//!
//! Games are played in pairs, an opening with both colours, and the pair is the unit of every
//! figure: its score, the mean of its two games from 0 to 1, removes the opening's advantage.
//! Intervals are 95 %.

mod bootstrap;
mod elo;
mod sprt;

pub use bootstrap::bootstrap;
pub use elo::{elo, normalized_elo, score};
pub use sprt::{EloScale, Sprt, SprtVerdict};

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A figure with the ends of its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl Estimate {
    /// Returns half the width of the interval, the figure behind ±.
    pub fn error(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Maps the estimate through a function that never falls.
    #[must_use]
    pub fn map(self, rising: impl Fn(f64) -> f64) -> Self {
        Self { value: rising(self.value), low: rising(self.low), high: rising(self.high) }
    }

    /// A share in per cent with half its interval: `58.6 % ± 3.8`.
    pub fn percent_with_error(self) -> String {
        format!("{:.1} % ± {:.1}", 100.0 * self.value, 100.0 * self.error())
    }

    /// A difference of Elo with its interval: `+60 [+34, +88]`.
    pub fn signed(self) -> String {
        format!("{:+.0} [{:+.0}, {:+.0}]", self.value, self.low, self.high)
    }

    /// A share in per cent with its interval, without the sign: `12.30 [11.00, 13.60]`.
    pub fn percent(self) -> String {
        let Self { value, low, high } = self.map(|share| 100.0 * share);
        format!("{value:.2} [{low:.2}, {high:.2}]")
    }
}

/// The time below which this part of some sorted times lies, 0 to 1.
pub fn quantile(sorted: &[Duration], part: f64) -> Duration {
    let index = (sorted.len().saturating_sub(1) as f64 * part.clamp(0.0, 1.0)).round() as usize;
    sorted.get(index).copied().unwrap_or_default()
}

/// The standard normal quantile of 97.5 %.
pub const TWO_SIDED_95: f64 = 1.959_963_984_540_054;

/// Mean and variance (divided by the number, not one less).
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    (mean, values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count)
}
