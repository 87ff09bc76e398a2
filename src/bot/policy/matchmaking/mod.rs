//! Challenges to others while the bot is idle.
//!
//! The session asks in two steps, because it must fetch the list of bots in between:
//! [`Matchmaker::step`] returns the time of the next challenge, [`Matchmaker::choose`] picks an
//! opponent and terms from the players online. One challenge is pending at a time. The bot
//! withdraws an unanswered one before the next, because the server could start its game much later.
//!
//! After a refusal a player rests for a while, longer every time, and only within the scope of the
//! reason: after a refusal of bullet the bot may still offer blitz. After a game an opponent also
//! rests, if the settings say so.

mod settings;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, time::Duration};

use jiff::{Timestamp, Zoned};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

pub use settings::{MatchOpponents, MatchType, MatchmakingSettings, RatingPreference, RefusalScope, Selection};

use super::{
    NameLists,
    challenge::TakenPlace,
    rate_limits::{RateLimits, Spending, later},
};
use domain::{
    Account, ActionError, ChallengeId, ChallengeRequest, Color, DeclineReason, GameTerms, Player, Speed, Variant,
};
use util::values::HoursOfDay;

/// The scope of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Refused {
    Everything,
    Variant(Variant),
    Speed(Speed),
    Rated(bool),
}

impl Refused {
    fn by(reason: DeclineReason, terms: GameTerms, scope: RefusalScope) -> Self {
        match (scope, reason) {
            (RefusalScope::All, _) => Self::Everything,
            (_, DeclineReason::Variant | DeclineReason::Standard) => Self::Variant(terms.variant),
            (_, DeclineReason::TooFast | DeclineReason::TooSlow | DeclineReason::TimeControl) => {
                Self::Speed(terms.time_control.speed())
            }
            (_, DeclineReason::Rated | DeclineReason::Casual) => Self::Rated(terms.rated),
            (_, DeclineReason::Generic | DeclineReason::Later | DeclineReason::NoBot | DeclineReason::OnlyBot) => {
                Self::Everything
            }
        }
    }

    fn covers(self, terms: GameTerms) -> bool {
        match self {
            Self::Everything => true,
            Self::Variant(variant) => variant == terms.variant,
            Self::Speed(speed) => speed == terms.time_control.speed(),
            Self::Rated(rated) => rated == terms.rated,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PastRefusal {
    refused: Refused,
    times: u32,
    until: Timestamp,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct StandingChallenge {
    id: ChallengeId,
    opponent: String,
    terms: GameTerms,
    since: Timestamp,
    /// The time and the number of withdrawals requested.
    cancelled: Option<(Timestamp, u32)>,
}

/// State kept from challenge to challenge. Saved as JSON: a restart forgets no refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Matchmaker {
    /// Keyed by the player's id.
    refusals: BTreeMap<String, Vec<PastRefusal>>,
    /// The number of types tried by a cyclic selection.
    turn: usize,
    last_challenge: Option<Timestamp>,
    #[serde(skip)]
    standing: Option<StandingChallenge>,
    /// The next challenge of a series with the last opponent, the colours in turn, and the number of games still to begin.
    #[serde(skip)]
    series: Option<(ChallengeRequest, u32)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MatchmakingStep {
    /// Wait for an event or for this time.
    Wait(Option<Timestamp>),
    /// Withdraw the unanswered challenge, and call [`Matchmaker::cancelling`].
    Cancel(ChallengeId),
    /// Fetch the bots online, and call [`Matchmaker::choose`].
    FetchBots,
}

/// The facts for [`Matchmaker::step`] and [`Matchmaker::choose`].
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// In the time zone of the settings.
    pub now: &'a Zoned,
    /// The start of the idle time: the end of the last game, or the program's start.
    pub idle_since: Timestamp,
    /// Running, or about to start.
    pub games: usize,
    /// True if a place for a game against a bot is free ([`super::challenge::has_place`]).
    pub place_free: bool,
    /// True if challenges by others wait for a place; they come first.
    pub others_wait: bool,
    pub draining: bool,
    pub rate_limits: &'a RateLimits,
    /// The bot's account; `None` before the connection.
    pub us: Option<&'a Account>,
    pub places: &'a [TakenPlace],
    pub names: &'a NameLists,
    pub variants: &'a [Variant],
}

impl Situation<'_> {
    fn avoids(&self, id: &str, settings: &MatchmakingSettings) -> bool {
        self.us.is_some_and(|us| us.player.id == id)
            || self.places.iter().any(|place| place.opponent == id)
            || self.names.avoid.contains(id)
            || settings.avoid_blocked && self.names.block.contains(id)
    }
}

/// The time before a withdrawal is repeated.
const CANCEL_AGAIN: Duration = Duration::from_secs(10);
/// The number of withdrawals: a server without the challenge by then will never know it.
const CANCEL_TIMES: u32 = 3;

impl Matchmaker {
    /// Returns the next step. Call this after every event and at the returned time.
    pub fn step(&mut self, settings: &MatchmakingSettings, situation: &Situation<'_>) -> MatchmakingStep {
        let now = situation.now.timestamp();
        let patience = if situation.draining { Duration::ZERO } else { settings.timeout };
        if let Some(step) = self.standing.as_ref().and_then(|standing| standing.step(patience, now)) {
            return step;
        }
        if let Some(lost) = self.standing.take() {
            self.refuse(lost.opponent, Refused::Everything, settings, now);
        }
        // The games of a series follow one another.
        let busy = situation.games > 0 && (!settings.during_games || self.series.is_some());
        if !settings.enabled || busy || !situation.place_free || situation.others_wait || situation.draining {
            return MatchmakingStep::Wait(None);
        }
        if !HoursOfDay::any_contains(&settings.hours, situation.now.time()) {
            return MatchmakingStep::Wait(Some(later(now, Duration::from_mins(1))));
        }
        let at_once = situation.games > 0 || self.series.is_some();
        let idle = if at_once { now } else { later(situation.idle_since, settings.idle) };
        let gap = self.last_challenge.map_or(now, |last| later(last, settings.min_gap));
        let limit = situation.rate_limits.may(Spending::ChallengeToBot, now).map_or_else(|limit| limit.until, |()| now);
        match idle.max(gap).max(limit) {
            time if time > now => MatchmakingStep::Wait(Some(time)),
            _ => MatchmakingStep::FetchBots,
        }
    }

    pub fn cancelling(&mut self, now: Timestamp) {
        if let Some(standing) = &mut self.standing {
            let times = standing.cancelled.map_or(0, |(_, times)| times);
            standing.cancelled = Some((now, times + 1));
        }
    }

    /// Picks an opponent and terms; `None` if no player suits. Chance comes from `random` alone.
    pub fn choose(
        &mut self,
        settings: &MatchmakingSettings,
        situation: &Situation<'_>,
        bots: &[Account],
        random: &mut impl Rng,
    ) -> Option<ChallengeRequest> {
        let now = situation.now.timestamp();
        self.last_challenge = Some(now);
        self.forget(now);
        if let Some(next) = self.next_of_series(settings, situation, bots, now) {
            return Some(next);
        }
        let mut types: Vec<&MatchType> = settings.types.values().filter(|kind| kind.weight > 0).collect();
        types.retain(|kind| situation.variants.contains(&kind.variant));
        let (all, ratings) = (types.len(), situation.us.map_or(&[][..], |us| &us.ratings));
        if settings.selection == Selection::Cyclic && all > 0 {
            types.rotate_left(self.turn % all);
        }
        while !types.is_empty() {
            let picked = match settings.selection {
                Selection::Weighted => pick(types.iter().map(|kind| kind.weight), random)?,
                Selection::Cyclic | Selection::Sequential => 0,
            };
            let kind = types.remove(picked);
            let ours = rating_for(ratings, kind.terms());
            let candidates: Vec<Player> = bots
                .iter()
                .map(|bot| Player { rating: rating_for(&bot.ratings, kind.terms()), ..bot.player.clone() })
                .filter(|bot| kind.opponents.suits(bot, ours) && settings.weight_of(&bot.id) > 0)
                .filter(|bot| !situation.avoids(&bot.id, settings) && !self.is_refused(&bot.id, kind.terms(), now))
                .collect();
            let candidates = kind.opponents.nearest_to_target(candidates, ours);
            if let Some(bot) = settings.pick(&candidates, random) {
                self.turn = self.turn.wrapping_add(all - types.len());
                let (opponent, terms, is_series) = (bot.id.clone(), kind.terms(), kind.opponents.games_in_row > 1);
                // The first colour is random; for a single game the server chooses the colours.
                let our_color = is_series.then(|| Color::from_white(random.random()));
                let first = ChallengeRequest { opponent, terms, our_color, initial_fen: None };
                self.series = is_series.then(|| (first.clone(), kind.opponents.games_in_row));
                return Some(first);
            }
        }
        None
    }

    fn next_of_series(
        &mut self,
        settings: &MatchmakingSettings,
        situation: &Situation<'_>,
        bots: &[Account],
        now: Timestamp,
    ) -> Option<ChallengeRequest> {
        let ChallengeRequest { opponent, terms, .. } = &self.series.as_ref()?.0;
        // An empty list could not be fetched, and says nothing about the opponent.
        if bots.is_empty() {
            return None;
        }
        let is_online = bots.iter().any(|bot| bot.player.id == *opponent);
        if is_online && !situation.avoids(opponent, settings) && !self.is_refused(opponent, *terms, now) {
            return self.series.as_ref().map(|(next, _)| next.clone());
        }
        // The series ends early.
        let (next, _) = self.series.take()?;
        self.rest(next.opponent, next.terms, settings, now);
        None
    }

    /// Returns true if games of a series with this player, by id, are left.
    pub fn is_in_series(&self, opponent: &str) -> bool {
        self.series.as_ref().is_some_and(|(next, _)| next.opponent == opponent)
    }

    /// Returns the ids of players after a refusal, each with the end of the rest and the number of refusals.
    pub fn decliners(&self) -> impl Iterator<Item = (&str, Timestamp, u32)> {
        self.refusals.iter().filter_map(|(player, refusals)| {
            let declined = refusals.iter().filter(|refusal| refusal.times > 0);
            let until = declined.clone().map(|refusal| refusal.until).max()?;
            Some((player.as_str(), until, declined.map(|refusal| refusal.times).sum()))
        })
    }

    /// Records the bot's pending challenge, perhaps from before a restart.
    pub fn made(&mut self, id: ChallengeId, opponent: &str, terms: GameTerms, now: Timestamp) {
        if self.standing.as_ref().is_some_and(|standing| standing.id == id) {
            return;
        }
        self.last_challenge = Some(now);
        let opponent = opponent.to_lowercase();
        self.standing = Some(StandingChallenge { id, opponent, terms, since: now, cancelled: None });
    }

    /// Returns the pending challenge and its opponent's id.
    pub fn standing(&self) -> Option<(&ChallengeId, &str)> {
        self.standing.as_ref().map(|standing| (&standing.id, standing.opponent.as_str()))
    }

    /// Records the start of a challenge's game: refusals are forgotten, and after the last game of a series a rest begins.
    pub fn accepted(&mut self, id: &ChallengeId, settings: &MatchmakingSettings, now: Timestamp) {
        if let Some(StandingChallenge { opponent, terms, .. }) = self.take(id) {
            self.refusals.remove(&opponent);
            if let Some((next, left)) = self.series.as_mut().filter(|(next, _)| next.opponent == opponent) {
                next.our_color = next.our_color.map(|color| !color);
                *left = left.saturating_sub(1);
            }
            self.series.take_if(|(_, left)| *left == 0);
            if !self.is_in_series(&opponent) {
                self.rest(opponent, terms, settings, now);
            }
        }
    }

    /// Rests an opponent from the start of a game for as long as the settings say.
    fn rest(&mut self, opponent: String, terms: GameTerms, settings: &MatchmakingSettings, now: Timestamp) {
        let length = terms.time_control.estimate().unwrap_or_default().saturating_mul(2);
        let rest = length.saturating_mul(settings.rest).min(settings.max_backoff);
        if !rest.is_zero() {
            self.leave_alone(opponent, later(now, rest));
        }
    }

    pub fn declined(
        &mut self,
        id: &ChallengeId,
        reason: DeclineReason,
        settings: &MatchmakingSettings,
        now: Timestamp,
    ) {
        if let Some(standing) = self.take(id) {
            let refused = Refused::by(reason, standing.terms, settings.refusal);
            self.refuse(standing.opponent, refused, settings, now);
        }
    }

    /// Records the end of a challenge without an answer: the bot withdrew it, or it expired.
    pub fn unanswered(&mut self, id: &ChallengeId, settings: &MatchmakingSettings, now: Timestamp) {
        if let Some(standing) = self.take(id) {
            self.refuse(standing.opponent, Refused::Everything, settings, now);
        }
    }

    /// Records the server's refusal of a challenge to `opponent`. Limits of the bot belong into [`RateLimits`].
    pub fn failed(&mut self, opponent: &str, error: &ActionError, settings: &MatchmakingSettings, now: Timestamp) {
        match error {
            ActionError::Limited { opponent: true, retry_after, .. } => {
                let until = later(now, retry_after.unwrap_or(settings.backoff));
                self.leave_alone(opponent.to_lowercase(), until);
            }
            ActionError::Refused(_) | ActionError::NotFound(_) => {
                self.refuse(opponent.to_lowercase(), Refused::Everything, settings, now);
            }
            ActionError::Limited { .. }
            | ActionError::Unavailable(_)
            | ActionError::Unauthorised(_)
            | ActionError::Unsupported(_) => {}
        }
    }

    /// Adapts to a system clock set back to `now`: no opponent rests longer than the settings say, and no
    /// request is of later.
    pub fn clock_set_back(&mut self, settings: &MatchmakingSettings, now: Timestamp) {
        let longest = later(now, settings.max_backoff);
        for refusal in self.refusals.values_mut().flatten() {
            refusal.until = refusal.until.min(longest);
        }
        let standing = self.standing.as_mut();
        let asked = standing.map(|standing| (&mut standing.since, standing.cancelled.as_mut().map(|(asked, _)| asked)));
        let (since, cancelled) = asked.unzip();
        for time in self.last_challenge.as_mut().into_iter().chain(since).chain(cancelled.flatten()) {
            *time = (*time).min(now);
        }
    }

    fn take(&mut self, id: &ChallengeId) -> Option<StandingChallenge> {
        self.standing.take_if(|standing| standing.id == *id)
    }

    /// Rests an opponent until then, without counting a refusal.
    fn leave_alone(&mut self, opponent: String, until: Timestamp) {
        let refusals = self.refusals.entry(opponent).or_default();
        let resting = refusals.extract_if(.., |refusal| refusal.times == 0).map(|refusal| refusal.until).max();
        let until = resting.map_or(until, |known| known.max(until));
        refusals.push(PastRefusal { refused: Refused::Everything, times: 0, until });
    }

    fn refuse(&mut self, opponent: String, refused: Refused, settings: &MatchmakingSettings, now: Timestamp) {
        self.series.take_if(|(next, _)| next.opponent == opponent);
        let refusals = self.refusals.entry(opponent).or_default();
        let known = refusals.iter().position(|refusal| refusal.refused == refused);
        let times = known.map_or(0, |index| refusals.swap_remove(index).times);
        let pause = settings.backoff.saturating_mul(1 << times.min(20)).min(settings.max_backoff);
        refusals.push(PastRefusal { refused, times: times.saturating_add(1), until: later(now, pause) });
    }

    fn is_refused(&self, opponent: &str, terms: GameTerms, now: Timestamp) -> bool {
        let mut refusals = self.refusals.get(opponent).into_iter().flatten();
        refusals.any(|refusal| refusal.until > now && refusal.refused.covers(terms))
    }

    /// Drops old refusals: the next one counts as the first again.
    fn forget(&mut self, now: Timestamp) {
        const REMEMBERED: Duration = Duration::from_hours(30 * 24);
        self.refusals.retain(|_, refusals| {
            refusals.retain(|refusal| later(refusal.until, REMEMBERED) > now);
            !refusals.is_empty()
        });
    }
}

impl StandingChallenge {
    /// Returns the next step for a pending challenge; `None` if it is to be forgotten.
    fn step(&self, timeout: Duration, now: Timestamp) -> Option<MatchmakingStep> {
        let (due, times) = match self.cancelled {
            None => (later(self.since, timeout), 0),
            Some((asked, times)) => (later(asked, CANCEL_AGAIN), times),
        };
        if due > now {
            return Some(MatchmakingStep::Wait(Some(due)));
        }
        (times < CANCEL_TIMES).then(|| MatchmakingStep::Cancel(self.id.clone()))
    }
}

impl MatchmakingSettings {
    fn pick<'a>(&self, candidates: &'a [Player], random: &mut impl Rng) -> Option<&'a Player> {
        let rating = |player: &Player| player.rating.unwrap_or(1500);
        let lowest = candidates.iter().map(rating).min()?;
        let highest = candidates.iter().map(rating).max()?;
        let weights = candidates.iter().map(|player| {
            let preferred = match self.rating_preference {
                RatingPreference::None => 1,
                RatingPreference::High => rating(player) - lowest + 1,
                RatingPreference::Low => highest - rating(player) + 1,
            };
            preferred.saturating_mul(self.weight_of(&player.id))
        });
        candidates.get(pick(weights, random)?)
    }
}

/// Draws one of the weights in proportion, and returns its index; `None` if all are 0.
fn pick(weights: impl Iterator<Item = u32> + Clone, random: &mut impl Rng) -> Option<usize> {
    let total: u64 = weights.clone().map(u64::from).sum();
    if total == 0 {
        return None;
    }
    let mut drawn = random.random_range(0..total);
    weights.map(u64::from).position(|weight| {
        let is_drawn = drawn < weight;
        drawn = drawn.saturating_sub(weight);
        is_drawn
    })
}

/// Returns the rating in the category of these terms, from ratings by the server's names.
pub fn rating_for(ratings: &[(String, u32)], terms: GameTerms) -> Option<u32> {
    let category = match terms.variant {
        Variant::Standard | Variant::FromPosition => terms.time_control.speed().key(),
        variant => variant.key(),
    };
    ratings.iter().find(|(name, _)| name == category).map(|&(_, rating)| rating)
}
