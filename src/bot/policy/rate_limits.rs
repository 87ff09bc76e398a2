//! The server's limits.
//!
//! [`RateLimits`] counts requests against the known limits of a Lichess server, but the server has
//! the last word: after a refusal the bot waits until the time named by the server. If the server
//! names no time, it waits for a pause, which doubles with every further refusal. The counts are
//! saved as JSON, because a daily limit outlives a restart.
//!
//! The numbers are in the server's source only (lila, `Limiters.scala` and `BotLimit.scala`) and
//! may change there; the bot learns a lower limit from its refusal.

use std::{collections::BTreeMap, time::Duration};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use domain::ActionError;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Spending {
    /// The start of a game against a bot, after a challenge by either side.
    GameAgainstBot,
    ChallengeToBot,
    ChallengeToHuman,
}

struct Limit {
    key: &'static str,
    most: u32,
    within: Duration,
}

const GAMES: Limit = Limit { key: "bot.vsBot.day", most: 100, within: Duration::from_hours(24) };
const CHALLENGES_A_MINUTE: Limit = Limit { key: "challenge.minute", most: 25, within: Duration::from_mins(1) };
const CHALLENGES_A_DAY: Limit = Limit { key: "challenge.day", most: 200, within: Duration::from_hours(24) };

/// The first and the longest pause after a refusal without a time.
const PAUSE: (Duration, Duration) = (Duration::from_mins(1), Duration::from_mins(10));

impl Spending {
    const fn costs(self) -> &'static [(&'static Limit, u32)] {
        match self {
            Self::GameAgainstBot => &[(&GAMES, 1)],
            Self::ChallengeToBot => &[(&CHALLENGES_A_MINUTE, 1), (&CHALLENGES_A_DAY, 1)],
            Self::ChallengeToHuman => &[(&CHALLENGES_A_MINUTE, 5), (&CHALLENGES_A_DAY, 5)],
        }
    }

    /// Returns the key for a refusal without a named limit.
    const fn key(self) -> &'static str {
        match self {
            Self::GameAgainstBot => GAMES.key,
            Self::ChallengeToBot | Self::ChallengeToHuman => "challenge",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the server's limit {key} is reached until {until}")]
pub struct NotUntil {
    pub until: Timestamp,
    /// The limit, by the server's name if it gave one.
    pub key: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RateLimits {
    /// By limit: times and amounts, oldest first.
    spent: BTreeMap<String, Vec<(Timestamp, u32)>>,
    /// By limit: the server's refusal.
    refused: BTreeMap<String, Refused>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Refused {
    until: Timestamp,
    /// The pause up to `until`: after the clock was set back, the rest is no longer than this.
    #[serde(default = "any_pause")]
    pause: Duration,
    /// The number of refusals in a row without a time.
    times: u32,
}

/// State saved by an earlier version lacks the length of the pause.
const fn any_pause() -> Duration {
    Duration::MAX
}

impl RateLimits {
    pub fn may(&self, spending: Spending, now: Timestamp) -> Result<(), NotUntil> {
        if let Some(refused) = self.refused.get(spending.key())
            && refused.until > now
        {
            return Err(NotUntil { until: refused.until, key: spending.key().to_owned() });
        }
        for &(limit, cost) in spending.costs() {
            if let Some(until) = self.room_at(limit, cost, now) {
                return Err(NotUntil { until, key: limit.key.to_owned() });
            }
        }
        match spending {
            // A challenge to a bot is useless if no game against a bot may begin.
            Spending::ChallengeToBot => self.may(Spending::GameAgainstBot, now),
            Spending::ChallengeToHuman | Spending::GameAgainstBot => Ok(()),
        }
    }

    pub fn spend(&mut self, spending: Spending, now: Timestamp) {
        for &(limit, cost) in spending.costs() {
            let entries = self.spent.entry(limit.key.to_owned()).or_default();
            entries.retain(|&(at, _)| later(at, limit.within) > now);
            entries.push((now, cost));
        }
        if let Some(refused) = self.refused.get(spending.key())
            && refused.until <= now
        {
            self.refused.remove(spending.key());
        }
    }

    /// Records the server's error; only a limit of the bot's own account counts.
    pub fn answered(&mut self, spending: Spending, error: &ActionError, now: Timestamp) {
        if let ActionError::Limited { retry_after, key, opponent: false, .. } = error {
            // The limit on games also forbids challenges to bots; the server then names that limit.
            let key = match key.as_deref() {
                Some(named) if named == GAMES.key => GAMES.key,
                _ => spending.key(),
            };
            let known = self.refused.get(key);
            let times = known.map_or(0, |refused| refused.times);
            let (pause, times) = match retry_after {
                Some(pause) => (*pause, times),
                None => (PAUSE.0.saturating_mul(1 << times.min(10)).min(PAUSE.1), times.saturating_add(1)),
            };
            let until = later(now, pause);
            // A later refusal shortens no pause.
            let (until, pause) = match known {
                Some(known) if known.until > until => (known.until, known.pause),
                _ => (until, pause),
            };
            self.refused.insert(key.to_owned(), Refused { until, pause, times });
        }
    }

    /// Adapts to a system clock set back to `now`: nothing was spent or refused later than that.
    pub fn clock_set_back(&mut self, now: Timestamp) {
        for (at, _) in self.spent.values_mut().flatten() {
            *at = (*at).min(now);
        }
        for refused in self.refused.values_mut() {
            refused.until = refused.until.min(later(now, refused.pause));
        }
    }

    fn within(&self, limit: &Limit, now: Timestamp) -> impl Iterator<Item = (Timestamp, u32)> {
        let entries = self.spent.get(limit.key).into_iter().flatten().copied();
        entries.filter(move |&(at, _)| later(at, limit.within) > now)
    }

    /// Returns the time at which `cost` fits, unless it fits now.
    fn room_at(&self, limit: &Limit, cost: u32, now: Timestamp) -> Option<Timestamp> {
        let spent: u32 = self.within(limit, now).map(|(_, cost)| cost).fold(0, u32::saturating_add);
        let mut over = spent.saturating_add(cost).saturating_sub(limit.most);
        let mut until = None;
        for (at, freed) in self.within(limit, now) {
            if over == 0 {
                break;
            }
            over = over.saturating_sub(freed);
            until = Some(later(at, limit.within));
        }
        until
    }
}

/// Returns the time `pause` after `then`; the latest possible time if that is beyond all calendars.
pub(crate) fn later(then: Timestamp, pause: Duration) -> Timestamp {
    let pause = SignedDuration::try_from(pause).unwrap_or(SignedDuration::MAX);
    then.checked_add(pause).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::constant(1_700_000_000 + seconds, 0)
    }

    fn limited(key: Option<&str>, retry_after: Option<u64>, opponent: bool) -> ActionError {
        ActionError::Limited {
            retry_after: retry_after.map(Duration::from_secs),
            key: key.map(str::to_owned),
            opponent,
            detail: String::new(),
        }
    }

    #[test]
    fn daily_limit_of_bot_games_is_kept() {
        let mut rate_limits = RateLimits::default();
        for game in 0..100 {
            assert_eq!(rate_limits.may(Spending::GameAgainstBot, at(game)), Ok(()));
            rate_limits.spend(Spending::GameAgainstBot, at(game));
        }
        let refusal = rate_limits.may(Spending::GameAgainstBot, at(100)).expect_err("a hundred games");
        assert_eq!(refusal.until, at(86_400));
        assert!(rate_limits.may(Spending::ChallengeToBot, at(100)).is_err(), "a challenge would be in vain");
        assert_eq!(rate_limits.may(Spending::GameAgainstBot, at(86_400)), Ok(()));
    }

    #[test]
    fn server_limits_survive_a_restart() {
        let mut rate_limits = RateLimits::default();
        rate_limits.answered(Spending::ChallengeToBot, &limited(Some("bot.vsBot.day"), Some(5000), false), at(0));
        let saved = serde_json::to_string(&rate_limits).expect("a plain value");
        let rate_limits: RateLimits = serde_json::from_str(&saved).expect("what was saved");
        assert_eq!(rate_limits.may(Spending::GameAgainstBot, at(4999)).map_err(|limit| limit.until), Err(at(5000)));
        assert!(rate_limits.may(Spending::ChallengeToBot, at(4999)).is_err());
        assert_eq!(rate_limits.may(Spending::ChallengeToHuman, at(0)), Ok(()));
        assert_eq!(rate_limits.may(Spending::GameAgainstBot, at(5000)), Ok(()));
    }

    #[test]
    fn bare_refusals_double_the_pause() {
        let mut rate_limits = RateLimits::default();
        let mut now = at(0);
        for minutes in [1, 2, 4, 8, 10, 10] {
            rate_limits.answered(Spending::ChallengeToHuman, &limited(None, None, false), now);
            let until = rate_limits.may(Spending::ChallengeToHuman, now).expect_err("refused").until;
            assert_eq!(until, later(now, Duration::from_mins(minutes)));
            rate_limits.answered(Spending::ChallengeToHuman, &limited(None, Some(1), false), now);
            let still = rate_limits.may(Spending::ChallengeToHuman, now).expect_err("refused").until;
            assert_eq!(still, until, "what was not sent at all changes nothing");
            now = until;
        }
        rate_limits.spend(Spending::ChallengeToHuman, now);
        rate_limits.answered(Spending::ChallengeToHuman, &limited(None, None, false), now);
        let until = rate_limits.may(Spending::ChallengeToHuman, now).expect_err("refused").until;
        assert_eq!(until, later(now, Duration::from_mins(1)), "a challenge that went through starts the count anew");
    }

    #[test]
    fn the_opponents_limit_is_not_ours() {
        let mut rate_limits = RateLimits::default();
        rate_limits.answered(Spending::ChallengeToBot, &limited(Some("bot.vsBot.day"), Some(5000), true), at(0));
        assert_eq!(rate_limits, RateLimits::default());
    }

    #[test]
    fn clock_set_back_keeps_counts_in_the_past() {
        let mut rate_limits = RateLimits::default();
        for _ in 0..5 {
            rate_limits.spend(Spending::ChallengeToHuman, at(86_400));
        }
        rate_limits.clock_set_back(at(0));
        let refusal = rate_limits.may(Spending::ChallengeToHuman, at(1)).expect_err("no credits left");
        assert_eq!((refusal.key.as_str(), refusal.until), ("challenge.minute", at(60)));
    }

    #[test]
    fn clock_set_back_lengthens_no_pause() {
        const WEEK: i64 = 7 * 86_400;
        let mut rate_limits = RateLimits::default();
        rate_limits.answered(Spending::ChallengeToHuman, &limited(None, None, false), at(86_400));
        rate_limits.answered(Spending::GameAgainstBot, &limited(None, Some(7 * 86_400), false), at(86_400));
        let until = |limits: &RateLimits, spending| limits.may(spending, at(0)).map_err(|limit| limit.until);
        let saved = serde_json::to_string(&rate_limits).expect("a plain value");
        let mut rate_limits: RateLimits = serde_json::from_str(&saved).expect("what was saved");
        // Every start does this, since the clock may have been ahead before it; a clock that was
        // not loses nothing by it.
        rate_limits.clock_set_back(at(86_430));
        assert_eq!(until(&rate_limits, Spending::ChallengeToHuman), Err(at(86_460)));
        assert_eq!(until(&rate_limits, Spending::GameAgainstBot), Err(at(86_400 + WEEK)), "the server named a week");
        rate_limits.clock_set_back(at(0));
        assert_eq!(until(&rate_limits, Spending::ChallengeToHuman), Err(at(60)));
        assert_eq!(until(&rate_limits, Spending::GameAgainstBot), Err(at(WEEK)));
    }

    #[test]
    fn saved_refusals_of_old_versions_hold() {
        let saved = r#"{"refused":{"challenge":{"until":"2023-11-14T22:14:20Z","times":1}}}"#;
        let mut rate_limits: RateLimits = serde_json::from_str(saved).expect("a refusal");
        rate_limits.clock_set_back(at(1));
        let until = rate_limits.may(Spending::ChallengeToHuman, at(1)).expect_err("refused").until;
        assert_eq!(until, at(60));
    }

    #[test]
    fn challenges_to_humans_cost_five_credits() {
        let mut rate_limits = RateLimits::default();
        for _ in 0..5 {
            assert_eq!(rate_limits.may(Spending::ChallengeToHuman, at(0)), Ok(()));
            rate_limits.spend(Spending::ChallengeToHuman, at(0));
        }
        let refusal = rate_limits.may(Spending::ChallengeToBot, at(1)).expect_err("no credits left");
        assert_eq!((refusal.key.as_str(), refusal.until), ("challenge.minute", at(60)));
    }
}
