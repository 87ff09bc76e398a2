//! How long to wait before the next attempt.

use std::time::{Duration, Instant};

/// Decorrelated jitter: at once the first time, then a random time between `base` and three times the last one, up to `cap`,
/// so that many clients that lost the same server do not come back together (M. Brooker, "Exponential Backoff And Jitter", 2015).
#[derive(Debug)]
pub struct Backoff {
    base: Duration,
    cap: Duration,
    last: Option<Duration>,
}

impl Backoff {
    /// A connection that held for so long was a good one: its loss is a new misfortune, not the last one again.
    const GOOD: Duration = Duration::from_secs(1);

    /// Waits between `base` and `cap` after the first attempt.
    pub const fn new(base: Duration, cap: Duration) -> Self {
        Self { base, cap, last: None }
    }

    /// The next wait, after an attempt whose connection held for `held`; zero if there was none.
    pub fn next_after(&mut self, held: Duration) -> Duration {
        if held >= Self::GOOD {
            self.last = None;
        }
        let wait = match self.last {
            None => Duration::ZERO,
            Some(last) => {
                let longest = last.saturating_mul(3).clamp(self.base, self.cap);
                rand::random_range(self.base..=longest.max(self.base * 3).min(self.cap))
            }
        };
        self.last = Some(wait);
        wait
    }
}

/// Keeps the openings of the event stream under the server's limit of thirty in ten minutes: a few may come at once, then
/// one every twenty-five seconds.
#[derive(Debug, Default)]
pub struct OpenBudget {
    /// When the openings so far would be due if each had waited its interval.
    due: Option<Instant>,
}

impl OpenBudget {
    const INTERVAL: Duration = Duration::from_secs(25);
    const BURST: u32 = 5;

    /// Takes one opening, and says how long to wait for it.
    pub fn take(&mut self, now: Instant) -> Duration {
        let due = self.due.map_or(now, |due| due.max(now));
        self.due = Some(due + Self::INTERVAL);
        due.duration_since(now).saturating_sub(Self::INTERVAL * (Self::BURST - 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_first_attempt_is_immediate_and_the_others_stay_in_bounds() {
        let (base, cap) = (Duration::from_secs(1), Duration::from_secs(30));
        let mut backoff = Backoff::new(base, cap);
        for _ in 0..10 {
            assert_eq!(backoff.next_after(Duration::from_secs(60)), Duration::ZERO);
            let waits: Vec<Duration> = (0..50).map(|_| backoff.next_after(Duration::from_millis(10))).collect();
            assert!(waits.iter().all(|wait| (base..=cap).contains(wait)), "{waits:?}");
        }
    }

    proptest! {
        #[test]
        fn never_more_than_thirty_openings_in_ten_minutes(lives in proptest::collection::vec(0_u64..60_000, 100)) {
            let start = Instant::now();
            let mut budget = OpenBudget::default();
            let mut now = start;
            let mut opened = Vec::new();
            for (index, life) in lives.into_iter().enumerate() {
                let wait = budget.take(now);
                prop_assert!(index >= 5 || wait.is_zero(), "a burst is free");
                now += wait;
                opened.push(now);
                now += Duration::from_millis(life);
            }
            for (index, first) in opened.iter().enumerate() {
                let within = opened.iter().skip(index).filter(|at| **at - *first < Duration::from_secs(600)).count();
                prop_assert!(within <= 30, "{within} openings in ten minutes");
            }
        }
    }
}
