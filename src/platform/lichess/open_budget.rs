//! The rate of openings of the event stream.

use std::time::{Duration, Instant};

/// Keeps the openings of the event stream under the server's limit of thirty in ten minutes: a few may come at once, then
/// one every twenty-five seconds.
#[derive(Debug, Default)]
pub(super) struct OpenBudget {
    /// The time at which the openings so far would be due if each had waited its interval.
    due: Option<Instant>,
}

impl OpenBudget {
    const INTERVAL: Duration = Duration::from_secs(25);
    const BURST: u32 = 5;

    /// Takes one opening, and returns the time to wait for it.
    pub(super) fn take(&mut self, now: Instant) -> Duration {
        let due = self.due.map_or(now, |due| due.max(now));
        self.due = Some(due + Self::INTERVAL);
        due.duration_since(now).saturating_sub(Self::INTERVAL * (Self::BURST - 1))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn thirty_openings_in_ten_minutes(lives in proptest::collection::vec(0_u64..60_000, 100)) {
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
