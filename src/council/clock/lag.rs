//! The measured delay of the connection to the server.

use std::time::Duration;

/// The time between sending a move and the server's acknowledgement: a moving average and its mean deviation, by the
/// gains of Jacobson and Karels (Congestion Avoidance and Control, 1988; RFC 6298).
///
/// One for each server. The clock of the server runs while its state comes to us and while our move goes back, which
/// together are about one round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lag {
    mean: Duration,
    deviation: Duration,
    measured: bool,
}

impl Lag {
    /// Longer round trips count as this: they are faults of the network, for which no clock can be kept ready.
    pub const LONGEST: Duration = Duration::from_secs(1);

    /// Creates a constant lag, from a chess program's move overhead.
    pub const fn steady(round_trip: Duration) -> Self {
        Self { mean: round_trip, deviation: Duration::ZERO, measured: true }
    }

    pub fn record(&mut self, round_trip: Duration) {
        let sample = round_trip.min(Self::LONGEST);
        if self.measured {
            self.deviation = (self.deviation * 3 + self.mean.abs_diff(sample)) / 4;
            self.mean = (self.mean * 7 + sample) / 8;
        } else {
            *self = Self { mean: sample, deviation: sample / 2, measured: true };
        }
    }

    /// Returns a bound for nearly every move: two deviations over the average.
    pub fn typical(&self) -> Duration {
        self.mean + self.deviation * 2
    }

    /// Returns the time that must be left on the clock when a move is sent: four deviations over
    /// the average.
    pub fn reserve(&self) -> Duration {
        self.mean + self.deviation * 4
    }
}

impl Default for Lag {
    /// Returns the value before any measurement: a server on another continent.
    fn default() -> Self {
        Self { mean: Duration::from_millis(100), deviation: Duration::from_millis(50), measured: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(milliseconds: u64) -> Duration {
        Duration::from_millis(milliseconds)
    }

    #[test]
    fn first_measurement_replaces_the_guess() {
        let mut lag = Lag::default();
        lag.record(ms(20));
        assert_eq!((lag.mean, lag.reserve()), (ms(20), ms(60)));
    }

    #[test]
    fn steady_lag_needs_little_reserve() {
        let mut lag = Lag::default();
        (0..60).for_each(|_| lag.record(ms(40)));
        assert_eq!(lag.mean, ms(40));
        assert!(lag.reserve() < ms(41), "{lag:?}");
    }

    #[test]
    fn one_stalled_answer_is_soon_forgotten() {
        let mut lag = Lag::default();
        (0..60).for_each(|_| lag.record(ms(40)));
        lag.record(Duration::MAX);
        assert!(lag.reserve() < ms(1200), "{lag:?}");
        (0..20).for_each(|_| lag.record(ms(40)));
        assert!(lag.reserve() < ms(120), "{lag:?}");
    }
}
