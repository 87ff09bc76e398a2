//! How soon an elector that fails is started again.

use std::time::{Duration, Instant};

use super::ElectorFailure;

/// The rest after the second failure in a row; each further one doubles it.
const SHORTEST: Duration = Duration::from_millis(250);
/// No rest is longer.
const LONGEST: Duration = Duration::from_secs(60);

/// Counts failures in a row. After the first one an elector is started again at once, then after ever longer rests, in
/// which its searches fail without delay.
#[derive(Debug, Default)]
pub struct Backoff {
    failures: u32,
    rests_until: Option<Instant>,
}

impl Backoff {
    /// Whether it may be started now.
    ///
    /// # Errors
    /// [`ElectorFailure`] while it rests.
    pub fn check(&self, now: Instant) -> Result<(), ElectorFailure> {
        match self.rests_until {
            Some(until) if now < until => {
                let left = (until - now).as_secs_f64();
                Err(ElectorFailure(format!("failed {} times in a row and rests for {left:.1} s", self.failures)))
            }
            _ => Ok(()),
        }
    }

    /// It failed, to start or in a search.
    pub fn failed(&mut self, now: Instant) {
        self.failures = self.failures.saturating_add(1);
        self.rests_until = (self.failures > 1).then(|| {
            let doublings = (self.failures - 2).min(16);
            now + (SHORTEST * 2_u32.pow(doublings)).min(LONGEST)
        });
    }

    /// A search went well.
    pub fn worked(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_failure_costs_nothing_and_the_next_ones_ever_more() {
        let now = Instant::now();
        let mut backoff = Backoff::default();
        backoff.failed(now);
        assert_eq!(backoff.check(now), Ok(()));
        let mut rest = Duration::ZERO;
        for _ in 0..20 {
            backoff.failed(now);
            rest = (rest * 2).clamp(SHORTEST, LONGEST);
            assert!(backoff.check(now + rest - Duration::from_millis(1)).is_err());
            assert_eq!(backoff.check(now + rest), Ok(()), "{rest:?}");
        }
        backoff.worked();
        backoff.failed(now);
        assert_eq!(backoff.check(now), Ok(()));
    }
}
