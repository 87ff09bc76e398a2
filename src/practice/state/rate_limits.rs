//! Request limits: sliding windows over each account's requests.

use std::{
    collections::{HashMap, VecDeque},
    time::Duration,
};

use crate::{account::AccountId, settings::ServerLimits};

const MINUTE: Duration = Duration::from_secs(60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Gauge {
    GamesAgainstBots,
    ChallengesOfMinute,
    ChallengesOfDay,
    EventStreams,
    AccountRequests,
    TournamentEntries,
}

impl Gauge {
    fn bound(self, limits: &ServerLimits) -> (u32, Duration) {
        match self {
            Self::GamesAgainstBots => (limits.games_against_bots_per_day, DAY),
            Self::ChallengesOfMinute => (limits.challenge_credits_per_minute, MINUTE),
            Self::ChallengesOfDay => (limits.challenge_credits_per_day, DAY),
            Self::EventStreams => (limits.event_streams_per_ten_minutes, MINUTE * 10),
            Self::AccountRequests => (limits.account_requests_per_five_minutes, MINUTE * 5),
            Self::TournamentEntries => (limits.tournament_entries_per_ten_minutes, MINUTE * 10),
        }
    }
}

/// The requests of each account. Without limits everything is allowed.
#[derive(Debug, Default)]
pub(crate) struct RateLimiter {
    limits: Option<ServerLimits>,
    spent: HashMap<(AccountId, Gauge), VecDeque<(Duration, u32)>>,
}

impl RateLimiter {
    pub(crate) fn new(limits: Option<ServerLimits>) -> Self {
        Self { limits, spent: HashMap::new() }
    }

    /// Checks that `cost` could be spent.
    ///
    /// # Errors
    /// The time until more can be spent.
    pub(crate) fn check(
        &mut self,
        account: &AccountId,
        gauge: Gauge,
        cost: u32,
        now: Duration,
    ) -> Result<(), Duration> {
        let Some(limits) = &self.limits else { return Ok(()) };
        let (most, window) = gauge.bound(limits);
        let spent = self.spent.entry((account.clone(), gauge)).or_default();
        while spent.front().is_some_and(|(at, _)| *at + window <= now) {
            spent.pop_front();
        }
        let sum: u32 = spent.iter().map(|(_, cost)| cost).sum();
        if most.saturating_sub(sum) >= cost {
            return Ok(());
        }
        Err(spent.front().map_or(Duration::ZERO, |(at, _)| (*at + window).saturating_sub(now)))
    }

    pub(crate) fn spend(&mut self, account: &AccountId, gauge: Gauge, cost: u32, now: Duration) {
        if self.limits.is_some() {
            self.spent.entry((account.clone(), gauge)).or_default().push_back((now, cost));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_reset_after_their_window() {
        let me = AccountId::of("me");
        let mut rate_limiter =
            RateLimiter::new(Some(ServerLimits { challenge_credits_per_minute: 2, ..ServerLimits::default() }));
        for second in [0, 10] {
            let now = Duration::from_secs(second);
            assert_eq!(rate_limiter.check(&me, Gauge::ChallengesOfMinute, 1, now), Ok(()));
            rate_limiter.spend(&me, Gauge::ChallengesOfMinute, 1, now);
        }
        let wait = rate_limiter.check(&me, Gauge::ChallengesOfMinute, 1, Duration::from_secs(20));
        assert_eq!(wait, Err(Duration::from_secs(40)));
        assert_eq!(rate_limiter.check(&me, Gauge::ChallengesOfMinute, 1, Duration::from_secs(60)), Ok(()));
    }
}
