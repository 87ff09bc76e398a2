//! Waiting before trying again: decorrelated jitter, so that many clients that failed together do not come back together
//! (M. Brooker, "Exponential Backoff and Jitter", 2015).

use std::time::Duration;

use rand::RngExt;

/// The delays between attempts: random between the shortest and three times the last, never above the longest.
#[derive(Clone, Debug)]
pub struct Backoff {
    shortest: Duration,
    longest: Duration,
    first_at_once: bool,
    last: Option<Duration>,
}

impl Backoff {
    /// Delays between these bounds.
    pub const fn new(shortest: Duration, longest: Duration) -> Self {
        Self { shortest, longest, first_at_once: false, last: None }
    }

    /// The same, but with no delay at all before the first attempt.
    #[must_use]
    pub const fn first_at_once(self) -> Self {
        Self { first_at_once: true, ..self }
    }

    /// How long to wait before the next attempt.
    pub fn next_delay(&mut self) -> Duration {
        if self.first_at_once && self.last.is_none() {
            self.last = Some(Duration::ZERO);
            return Duration::ZERO;
        }
        let widest = self.last.unwrap_or_default().max(self.shortest).saturating_mul(3).min(self.longest);
        let delay =
            if widest > self.shortest { rand::rng().random_range(self.shortest..=widest) } else { self.shortest };
        self.last = Some(delay);
        delay
    }

    /// Whether nothing has failed since the start or the last reset.
    pub const fn is_fresh(&self) -> bool {
        self.last.is_none()
    }

    /// An attempt succeeded: the next failure begins anew.
    pub const fn reset(&mut self) {
        self.last = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_stay_within_their_bounds_and_grow() {
        let (shortest, longest) = (Duration::from_millis(100), Duration::from_secs(5));
        let mut backoff = Backoff::new(shortest, longest);
        let delays: Vec<Duration> = (0..200).map(|_| backoff.next_delay()).collect();
        assert!(delays.iter().all(|delay| (shortest..=longest).contains(delay)));
        assert!(delays[0] <= shortest * 3);
        assert!(delays.iter().any(|delay| *delay > Duration::from_secs(1)));
        let mut at_once = backoff.clone().first_at_once();
        at_once.reset();
        assert!(at_once.next_delay().is_zero() && at_once.next_delay() >= shortest);
        backoff.reset();
        assert!(backoff.is_fresh() && backoff.next_delay() <= shortest * 3);
    }
}
