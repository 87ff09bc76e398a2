//! Waiting before trying again, with decorrelated jitter: it spreads out the clients of a server after a common failure
//! (M. Brooker, "Exponential Backoff and Jitter", 2015).

use std::time::{Duration, Instant};

use rand::RngExt;

/// Growing delays between attempts: random between the shortest and three times the last, never
/// above the longest.
///
/// A caller that waits for its next attempt uses [`Self::next_delay`]. A caller that must refuse
/// requests meanwhile records each failure with [`Self::fail`] and checks [`Self::rest`].
#[derive(Clone, Debug)]
pub struct Backoff {
    shortest: Duration,
    longest: Duration,
    first_at_once: bool,
    last: Option<Duration>,
    rests_until: Option<Instant>,
}

impl Backoff {
    pub const fn new(shortest: Duration, longest: Duration) -> Self {
        Self { shortest, longest, first_at_once: false, last: None, rests_until: None }
    }

    #[must_use]
    pub const fn first_at_once(self) -> Self {
        Self { first_at_once: true, ..self }
    }

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

    /// Records a failed attempt, and the delay before the next one.
    pub fn fail(&mut self, now: Instant) {
        self.rests_until = Some(now + self.next_delay());
    }

    /// Returns the time left until the next attempt; `None` if it may be made now.
    pub fn rest(&self, now: Instant) -> Option<Duration> {
        self.rests_until?.checked_duration_since(now).filter(|rest| !rest.is_zero())
    }

    /// Returns true if nothing has failed since the start or the last reset.
    pub const fn is_fresh(&self) -> bool {
        self.last.is_none()
    }

    /// Records a success: the next failure begins with the shortest delay.
    pub const fn reset(&mut self) {
        self.last = None;
        self.rests_until = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_within_bounds() {
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

    #[test]
    fn only_repeated_failures_pause() {
        let (shortest, longest) = (Duration::from_millis(250), Duration::from_secs(60));
        let mut backoff = Backoff::new(shortest, longest).first_at_once();
        let now = Instant::now();
        assert_eq!(backoff.rest(now), None);
        backoff.fail(now);
        assert_eq!(backoff.rest(now), None);
        for _ in 0..50 {
            backoff.fail(now);
            let rest = backoff.rest(now).expect("a rest");
            assert!((shortest..=longest).contains(&rest), "{rest:?}");
            assert_eq!(backoff.rest(now + rest), None);
        }
        backoff.reset();
        assert_eq!(backoff.rest(now), None);
    }
}
