//! The guesses at the operator's secret, and their limit.
//!
//! A wrong secret delays no other request: it is answered at once, and counted for the address from which it came. Where that has
//! had too many, what it says is not looked at any more until the minute is over. A session that is open is none of this.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use crate::connections::subscriber;

/// Wrong secrets from one address in a minute. A secret of eight random letters withstands them for centuries.
const MOST_WRONG: u32 = 600;
const SPAN: Duration = Duration::from_secs(60);

/// The most addresses that are told apart; the others share one account.
const MOST_ADDRESSES: usize = 10_000;

/// The wrong secrets of the running minute.
#[derive(Default)]
pub(super) struct Guesses(Mutex<RunningMinute>);

#[derive(Default)]
struct RunningMinute {
    began: Option<Instant>,
    wrong: HashMap<Option<IpAddr>, u32>,
}

impl Guesses {
    /// Returns true if another guess from this address is accepted.
    pub(super) fn may_guess(&self, from: Option<IpAddr>, now: Instant) -> bool {
        let minute = self.running(now);
        minute.wrong.get(&minute.account(from)).is_none_or(|wrong| *wrong < MOST_WRONG)
    }

    /// Counts a wrong secret from there.
    pub(super) fn was_wrong(&self, from: Option<IpAddr>, now: Instant) {
        let mut minute = self.running(now);
        let account = minute.account(from);
        *minute.wrong.entry(account).or_default() += 1;
    }

    fn running(&self, now: Instant) -> MutexGuard<'_, RunningMinute> {
        let mut minute = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if minute.began.is_none_or(|began| now.saturating_duration_since(began) >= SPAN) {
            *minute = RunningMinute { began: Some(now), ..RunningMinute::default() };
        }
        minute
    }
}

impl RunningMinute {
    fn account(&self, from: Option<IpAddr>) -> Option<IpAddr> {
        let from = from.map(subscriber);
        from.filter(|_| self.wrong.contains_key(&from) || self.wrong.len() < MOST_ADDRESSES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guesses_are_limited_per_address() {
        let (guesses, begun) = (Guesses::default(), Instant::now());
        let [one, other] = [[192, 0, 2, 1], [192, 0, 2, 2]].map(|address| Some(IpAddr::from(address)));
        for _ in 0..MOST_WRONG {
            assert!(guesses.may_guess(one, begun));
            guesses.was_wrong(one, begun);
        }
        assert!(!guesses.may_guess(one, begun + SPAN / 2) && guesses.may_guess(other, begun));
        assert!(guesses.may_guess(one, begun + SPAN));
    }

    #[test]
    fn guess_memory_is_bounded() {
        let (guesses, begun) = (Guesses::default(), Instant::now());
        for number in 0..20_000_u32 {
            guesses.was_wrong(Some(IpAddr::from(number.to_be_bytes())), begun);
        }
        assert!(guesses.running(begun).wrong.len() <= MOST_ADDRESSES + 1);
    }
}
