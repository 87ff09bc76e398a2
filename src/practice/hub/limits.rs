//! How much the server bears: sliding windows over what each account has asked for.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use crate::account::AccountId;

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The limits the server keeps; [`Limits::default`] are Lichess's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Games a bot may start against other bots in 24 hours.
    pub games_against_bots_per_day: u32,
    /// Challenge credits a minute; challenging a bot costs one, a human five.
    pub challenge_credits_per_minute: u32,
    /// Challenge credits a day.
    pub challenge_credits_per_day: u32,
    /// Openings of the event stream in ten minutes.
    pub event_streams_per_ten_minutes: u32,
    /// Questions for one's own account in five minutes.
    pub account_requests_per_five_minutes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            games_against_bots_per_day: 100,
            challenge_credits_per_minute: 25,
            challenge_credits_per_day: 200,
            event_streams_per_ten_minutes: 30,
            account_requests_per_five_minutes: 30,
        }
    }
}

/// Something that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gauge {
    /// Games against bots.
    GamesAgainstBots,
    /// Challenge credits within a minute.
    ChallengesOfMinute,
    /// Challenge credits within a day.
    ChallengesOfDay,
    /// Openings of the event stream.
    EventStreams,
    /// Questions for one's own account.
    AccountRequests,
}

impl Gauge {
    fn bound(self, limits: &Limits) -> (u32, Duration) {
        match self {
            Self::GamesAgainstBots => (limits.games_against_bots_per_day, DAY),
            Self::ChallengesOfMinute => (limits.challenge_credits_per_minute, MINUTE),
            Self::ChallengesOfDay => (limits.challenge_credits_per_day, DAY),
            Self::EventStreams => (limits.event_streams_per_ten_minutes, MINUTE * 10),
            Self::AccountRequests => (limits.account_requests_per_five_minutes, MINUTE * 5),
        }
    }
}

/// What was spent, and when. Without limits everything is free.
#[derive(Debug, Default)]
pub struct Ledger {
    limits: Option<Limits>,
    spent: HashMap<(AccountId, Gauge), VecDeque<(Duration, u32)>>,
}

impl Ledger {
    /// An empty ledger.
    pub fn new(limits: Option<Limits>) -> Self {
        Self { limits, spent: HashMap::new() }
    }

    /// How many more may be had now, and how long to wait for the next.
    fn left(&mut self, account: &AccountId, gauge: Gauge, now: Duration) -> Option<(u32, Duration)> {
        let (most, window) = gauge.bound(self.limits.as_ref()?);
        let spent = self.spent.entry((account.clone(), gauge)).or_default();
        while spent.front().is_some_and(|(at, _)| *at + window <= now) {
            spent.pop_front();
        }
        let sum: u32 = spent.iter().map(|(_, cost)| cost).sum();
        let wait = spent.front().map_or(Duration::ZERO, |(at, _)| (*at + window).saturating_sub(now));
        Some((most.saturating_sub(sum), wait))
    }

    /// Whether `cost` could be spent.
    ///
    /// # Errors
    /// How long to wait.
    pub fn check(&mut self, account: &AccountId, gauge: Gauge, cost: u32, now: Duration) -> Result<(), Duration> {
        match self.left(account, gauge, now) {
            Some((left, wait)) if left < cost => Err(wait),
            _ => Ok(()),
        }
    }

    /// Spends `cost`.
    pub fn spend(&mut self, account: &AccountId, gauge: Gauge, cost: u32, now: Duration) {
        if self.limits.is_some() {
            self.spent.entry((account.clone(), gauge)).or_default().push_back((now, cost));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_spent_comes_back_when_its_window_has_passed() {
        let me = AccountId::of("me");
        let mut ledger = Ledger::new(Some(Limits { challenge_credits_per_minute: 2, ..Limits::default() }));
        for second in [0, 10] {
            let now = Duration::from_secs(second);
            assert_eq!(ledger.check(&me, Gauge::ChallengesOfMinute, 1, now), Ok(()));
            ledger.spend(&me, Gauge::ChallengesOfMinute, 1, now);
        }
        let wait = ledger.check(&me, Gauge::ChallengesOfMinute, 1, Duration::from_secs(20));
        assert_eq!(wait, Err(Duration::from_secs(40)));
        assert_eq!(ledger.check(&me, Gauge::ChallengesOfMinute, 1, Duration::from_secs(60)), Ok(()));
    }
}
