//! Whom to challenge when nothing else is to be done.
//!
//! The session asks in two steps, because the list of bots must be fetched in between: [`Matchmaker::step`] says whether
//! it is time to look for somebody, [`Matchmaker::choose`] picks an opponent and terms from those who are online. One
//! challenge of ours stands at a time; one that nobody answers is cancelled by its name before the next is made, since the
//! server would otherwise keep it and start the game long after we forgot it.
//!
//! Whoever declines is left alone for a while, longer every time, and only for what the reason speaks of: a bot that does
//! not play bullet may still play blitz.

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, time::Duration};

use jiff::{Timestamp, Zoned};
use rand::{Rng, RngExt};
use serde::{Deserialize, Serialize};

use super::{
    Fault, NameLists,
    challenge::Names,
    ledger::{Ledger, Spending, later},
    values::{HoursOfDay, MinutesAndSeconds, seconds, whole, whole_or_none},
};
use crate::{
    chess::{ChallengeId, Speed, TimeControl, Variant},
    server::{Account, ActionError, ChallengeRequest, DeclineReason, GameTerms, Player},
};

/// The `matchmaking` table.
///
/// The keys of [`OpponentWindow`] stand in the table itself in the text of the settings, for all types, and may be
/// overridden in each.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatchmakingSettings {
    /// Whether we challenge at all.
    pub enabled: bool,
    /// How long nothing must have been played before we do, in seconds. 0 to 86400.
    #[serde(deserialize_with = "seconds::<0, 86400, _>")]
    pub idle: Duration,
    /// Whether we also challenge while games run, as long as places are free.
    pub during_games: bool,
    /// How long a challenge of ours may stand unanswered, in seconds. 5 to 600.
    #[serde(deserialize_with = "seconds::<5, 600, _>")]
    pub timeout: Duration,
    /// The least time from one challenge of ours to the next, in seconds. 5 to 86400.
    #[serde(deserialize_with = "seconds::<5, 86400, _>")]
    pub min_gap: Duration,
    /// How the type of the next challenge is picked.
    pub selection: Selection,
    /// Which opponents are more likely.
    pub rating_preference: RatingPreference,
    /// For how long somebody is left alone after the first refusal, in seconds; every further one doubles it. 1 to 604800.
    #[serde(deserialize_with = "seconds::<1, 604800, _>")]
    pub backoff: Duration,
    /// The longest time somebody is left alone, in seconds. 1 to 31536000.
    #[serde(deserialize_with = "seconds::<1, 31536000, _>")]
    pub max_backoff: Duration,
    /// How much a refusal refuses.
    pub refusal: RefusalScope,
    /// When we challenge, in the time zone of the settings; empty is always.
    pub hours: Vec<HoursOfDay>,
    /// Who is never challenged, by name.
    pub avoid: Vec<String>,
    /// Files with more such names, one a line.
    pub avoid_files: Vec<std::path::PathBuf>,
    /// Whether those on `challenge.block` are not challenged either.
    pub avoid_blocked: bool,
    /// What is proposed.
    pub types: BTreeMap<String, MatchType>,
}

impl Default for MatchmakingSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            idle: Duration::from_mins(8),
            during_games: false,
            timeout: Duration::from_secs(25),
            min_gap: Duration::from_mins(1),
            selection: Selection::default(),
            rating_preference: RatingPreference::default(),
            backoff: Duration::from_hours(1),
            max_backoff: Duration::from_hours(7 * 24),
            refusal: RefusalScope::default(),
            hours: Vec::new(),
            avoid: Vec::new(),
            avoid_files: Vec::new(),
            avoid_blocked: true,
            types: BTreeMap::new(),
        }
    }
}

/// How the type of the next challenge is picked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// By lot, in proportion to the weights.
    #[default]
    Weighted,
    /// One after the other, in the order of their names.
    Cyclic,
}

/// Which opponents are more likely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RatingPreference {
    /// All the same.
    #[default]
    None,
    /// Those with higher ratings.
    High,
    /// Those with lower ratings.
    Low,
}

/// How much a refusal refuses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusalScope {
    /// What its reason speaks of.
    #[default]
    Reason,
    /// Everything.
    All,
}

/// One kind of challenge we make.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatchType {
    /// The clock.
    pub time_control: MinutesAndSeconds,
    /// Whether ratings change.
    pub rated: bool,
    /// The rules.
    pub variant: Variant,
    /// How likely it is, compared to the others; 0 is never. 0 to 1000.
    #[serde(deserialize_with = "whole::<0, 1000, _, _>")]
    pub weight: u32,
    /// The opponent's least rating; one without a rating passes. 0 to 4000.
    #[serde(deserialize_with = "whole::<0, 4000, _, _>")]
    pub min_rating: u32,
    /// The opponent's greatest rating. 0 to 4000.
    #[serde(deserialize_with = "whole::<0, 4000, _, _>")]
    pub max_rating: u32,
    /// How far the opponent's rating must at least be from ours. 0 to 4000.
    #[serde(deserialize_with = "whole::<0, 4000, _, _>")]
    pub min_rating_difference: u32,
    /// How far it may at most be; `None` is no limit.
    #[serde(deserialize_with = "whole_or_none::<0, 4000, _, _>")]
    pub max_rating_difference: Option<u32>,
}

impl Default for MatchType {
    fn default() -> Self {
        let blitz = TimeControl::real_time(Duration::from_mins(3), Duration::from_secs(2));
        Self {
            time_control: MinutesAndSeconds(blitz),
            rated: true,
            variant: Variant::Standard,
            weight: 1,
            min_rating: 600,
            max_rating: 4000,
            min_rating_difference: 0,
            max_rating_difference: Some(300),
        }
    }
}

impl MatchType {
    /// The keys that `matchmaking` gives for every type.
    pub const INHERITED: [&str; 4] = ["min_rating", "max_rating", "min_rating_difference", "max_rating_difference"];

    /// What both sides would agree on.
    pub const fn terms(&self) -> GameTerms {
        GameTerms { variant: self.variant, time_control: self.time_control.0, rated: self.rated }
    }

    fn suits(&self, player: &Player, our_rating: Option<u32>) -> bool {
        let Some(rating) = player.rating else { return true };
        let difference = our_rating.map_or(self.min_rating_difference, |ours| ours.abs_diff(rating));
        (self.min_rating..=self.max_rating).contains(&rating)
            && difference >= self.min_rating_difference
            && self.max_rating_difference.is_none_or(|most| difference <= most)
    }
}

impl MatchmakingSettings {
    /// What is wrong between keys.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.enabled && self.types.values().all(|kind| kind.weight == 0) {
            let accepted = r#"false, or a type with a weight, such as [matchmaking.types.blitz] time_control = "3+2""#;
            faults.push(Fault::value("enabled", accepted));
        }
        faults.extend(Fault::unless_ordered(("backoff", self.backoff), ("max_backoff", self.max_backoff)));
        for (name, kind) in &self.types {
            let most = kind.max_rating_difference.unwrap_or(u32::MAX);
            let ordered = [
                Fault::unless_ordered(("min_rating", kind.min_rating), ("max_rating", kind.max_rating)),
                Fault::unless_ordered(
                    ("min_rating_difference", kind.min_rating_difference),
                    ("max_rating_difference", most),
                ),
            ];
            faults.extend(ordered.into_iter().flatten().map(|fault| fault.below(name).below("types")));
        }
        faults
    }
}

/// What a refusal refuses.
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
struct Refusal {
    refused: Refused,
    times: u32,
    until: Timestamp,
}

/// Our challenge that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Standing {
    id: ChallengeId,
    opponent: String,
    terms: GameTerms,
    since: Timestamp,
    /// When we last asked for it to be withdrawn, and how often.
    cancelled: Option<(Timestamp, u32)>,
}

/// What is remembered from challenge to challenge. Saved as JSON, a restart forgets no refusal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Matchmaker {
    /// By the id of the player.
    refusals: BTreeMap<String, Vec<Refusal>>,
    /// Counts the challenges of a cyclic selection.
    turn: usize,
    last_challenge: Option<Timestamp>,
    #[serde(skip)]
    standing: Option<Standing>,
}

/// What is to be done about matchmaking now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Nothing, until something happens or the time comes, if one is given.
    Wait(Option<Timestamp>),
    /// Withdraw our challenge, which nobody answers.
    Cancel(ChallengeId),
    /// Fetch the bots that are online, and [`Matchmaker::choose`].
    Look,
}

/// The state of affairs for [`Matchmaker::step`].
#[derive(Clone, Copy, Debug)]
pub struct Situation<'a> {
    /// The time, in the time zone of the settings.
    pub now: &'a Zoned,
    /// Since when nothing has been played: the end of the last game, or our start.
    pub idle_since: Timestamp,
    /// Games that run or are about to.
    pub games: usize,
    /// Whether a game against a bot would find a place ([`super::challenge::has_place`]).
    pub place_free: bool,
    /// Whether challenges of others wait for one; they come first.
    pub others_wait: bool,
    /// Whether we are about to stop.
    pub closing: bool,
    /// The server's limits.
    pub ledger: &'a Ledger,
}

/// How long we wait for a withdrawn challenge to be gone before we ask again.
const CANCEL_AGAIN: Duration = Duration::from_secs(10);
/// How often we ask. Whoever does not know the challenge by then never will, and it must not keep us from the next.
const CANCEL_TIMES: u32 = 3;

impl Matchmaker {
    /// Says what is to be done now. To be asked whenever something happens and at the time it names.
    pub fn step(&mut self, settings: &MatchmakingSettings, situation: &Situation<'_>) -> Step {
        let now = situation.now.timestamp();
        let patience = if situation.closing { Duration::ZERO } else { settings.timeout };
        match self.standing.as_mut().and_then(|standing| standing.step(patience, now)) {
            Some(step) => return step,
            None => {
                if let Some(lost) = self.standing.take() {
                    self.refuse(lost.opponent, Refused::Everything, settings, now);
                }
            }
        }
        let busy = situation.games > 0 && !settings.during_games;
        if !settings.enabled || busy || !situation.place_free || situation.others_wait || situation.closing {
            return Step::Wait(None);
        }
        if !HoursOfDay::any_contains(&settings.hours, situation.now.time()) {
            return Step::Wait(Some(later(now, Duration::from_mins(1))));
        }
        let idle = if situation.games == 0 { later(situation.idle_since, settings.idle) } else { now };
        let gap = self.last_challenge.map_or(now, |last| later(last, settings.min_gap));
        let limit = situation.ledger.may(Spending::ChallengeToBot, now).map_or_else(|limit| limit.until, |()| now);
        match idle.max(gap).max(limit) {
            time if time > now => Step::Wait(Some(time)),
            _ => Step::Look,
        }
    }

    /// Picks whom to challenge with what, or nobody if nobody suits. Chance comes from `random` alone.
    ///
    /// `ratings` are our own, by the server's names of speeds and variants; `variants` is what our engines play.
    pub fn choose(
        &mut self,
        settings: &MatchmakingSettings,
        lists: &MatchmakingLists<'_>,
        ratings: &[(String, u32)],
        bots: &[Account],
        now: Timestamp,
        random: &mut impl Rng,
    ) -> Option<ChallengeRequest> {
        self.last_challenge = Some(now);
        self.forget(now);
        let mut types: Vec<&MatchType> = settings.types.values().filter(|kind| kind.weight > 0).collect();
        types.retain(|kind| lists.variants.contains(&kind.variant));
        while !types.is_empty() {
            let picked = match settings.selection {
                Selection::Weighted => pick(types.iter().map(|kind| kind.weight), random)?,
                Selection::Cyclic => self.turn % types.len(),
            };
            let kind = types.remove(picked);
            let ours = rating_for(ratings, kind.terms());
            let candidates: Vec<Player> = bots
                .iter()
                .map(|bot| Player { rating: rating_for(&bot.ratings, kind.terms()), ..bot.player.clone() })
                .filter(|bot| {
                    !lists.avoids(&bot.id) && kind.suits(bot, ours) && !self.is_refused(&bot.id, kind.terms(), now)
                })
                .collect();
            if let Some(bot) = settings.rating_preference.pick(&candidates, random) {
                self.turn = self.turn.wrapping_add(1);
                let (opponent, terms) = (bot.id.clone(), kind.terms());
                return Some(ChallengeRequest { opponent, terms, our_color: None, initial_fen: None });
            }
        }
        None
    }

    /// Our challenge stands. Also to be told of one that was left over from before a restart.
    pub fn made(&mut self, id: ChallengeId, opponent: &str, terms: GameTerms, now: Timestamp) {
        if self.standing.as_ref().is_some_and(|standing| standing.id == id) {
            return;
        }
        self.last_challenge = Some(now);
        let opponent = opponent.to_lowercase();
        self.standing = Some(Standing { id, opponent, terms, since: now, cancelled: None });
    }

    /// Whom our challenge that stands was made to, by id.
    pub fn challenged(&self) -> Option<&str> {
        self.standing.as_ref().map(|standing| standing.opponent.as_str())
    }

    /// Our challenge became a game: its opponent has a clean slate.
    pub fn accepted(&mut self, id: &ChallengeId) {
        if let Some(standing) = self.take(id) {
            self.refusals.remove(&standing.opponent);
        }
    }

    /// Our challenge was declined.
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

    /// Our challenge is gone without an answer: it was withdrawn, or went out of date.
    pub fn unanswered(&mut self, id: &ChallengeId, settings: &MatchmakingSettings, now: Timestamp) {
        if let Some(standing) = self.take(id) {
            self.refuse(standing.opponent, Refused::Everything, settings, now);
        }
    }

    /// The server did not let us challenge `opponent`. Our own limits belong into the ledger, not here.
    pub fn failed(&mut self, opponent: &str, error: &ActionError, settings: &MatchmakingSettings, now: Timestamp) {
        match error {
            ActionError::Limited { opponent: true, retry_after, .. } => {
                let until = later(now, retry_after.unwrap_or(settings.backoff));
                let refusal = Refusal { refused: Refused::Everything, times: 0, until };
                self.refusals.entry(opponent.to_lowercase()).or_default().push(refusal);
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

    fn take(&mut self, id: &ChallengeId) -> Option<Standing> {
        self.standing.take_if(|standing| standing.id == *id)
    }

    fn refuse(&mut self, opponent: String, refused: Refused, settings: &MatchmakingSettings, now: Timestamp) {
        let refusals = self.refusals.entry(opponent).or_default();
        let times = match refusals.iter().position(|refusal| refusal.refused == refused) {
            Some(index) => refusals.swap_remove(index).times,
            None => 0,
        };
        let pause = settings.backoff.saturating_mul(1 << times.min(20)).min(settings.max_backoff);
        refusals.push(Refusal { refused, times: times.saturating_add(1), until: later(now, pause) });
    }

    fn is_refused(&self, opponent: &str, terms: GameTerms, now: Timestamp) -> bool {
        let mut refusals = self.refusals.get(opponent).into_iter().flatten();
        refusals.any(|refusal| refusal.until > now && refusal.refused.covers(terms))
    }

    /// Refusals that have passed are remembered for their count; drops those that passed so long ago that the next one may count as the first again.
    fn forget(&mut self, now: Timestamp) {
        const REMEMBERED: Duration = Duration::from_hours(30 * 24);
        self.refusals.retain(|_, refusals| {
            refusals.retain(|refusal| later(refusal.until, REMEMBERED) > now);
            !refusals.is_empty()
        });
    }
}

impl Standing {
    /// What is to be done about it; `None` if it is to be forgotten.
    fn step(&mut self, timeout: Duration, now: Timestamp) -> Option<Step> {
        let (due, times) = match self.cancelled {
            None => (later(self.since, timeout), 0),
            Some((asked, times)) => (later(asked, CANCEL_AGAIN), times),
        };
        if due > now {
            return Some(Step::Wait(Some(due)));
        }
        self.cancelled = Some((now, times + 1));
        (times < CANCEL_TIMES).then(|| Step::Cancel(self.id.clone()))
    }
}

/// Who and what is left out of a choice.
#[derive(Clone, Copy, Debug)]
pub struct MatchmakingLists<'a> {
    /// Ourselves, by id.
    pub us: &'a str,
    /// Those on `matchmaking.avoid` and its files.
    pub avoid: &'a Names,
    /// Those of the challenge lists, where they are avoided as well.
    pub challenge: Option<&'a NameLists>,
    /// What our engines play.
    pub variants: &'a [Variant],
}

impl MatchmakingLists<'_> {
    fn avoids(&self, id: &str) -> bool {
        id == self.us || self.avoid.contains(id) || self.challenge.is_some_and(|lists| lists.block.contains(id))
    }
}

impl RatingPreference {
    fn pick<'a>(self, candidates: &'a [Player], random: &mut impl Rng) -> Option<&'a Player> {
        let rating = |player: &Player| player.rating.unwrap_or(1500);
        let lowest = candidates.iter().map(rating).min()?;
        let highest = candidates.iter().map(rating).max()?;
        let weights = candidates.iter().map(|player| match self {
            Self::None => 1,
            Self::High => rating(player) - lowest + 1,
            Self::Low => highest - rating(player) + 1,
        });
        candidates.get(pick(weights, random)?)
    }
}

/// The index of one of the weights, drawn in proportion; `None` if all are 0.
fn pick(weights: impl Iterator<Item = u32> + Clone, random: &mut impl Rng) -> Option<usize> {
    let total: u64 = weights.clone().map(u64::from).sum();
    if total == 0 {
        return None;
    }
    let mut drawn = random.random_range(0..total);
    weights.map(u64::from).position(|weight| match drawn.checked_sub(weight) {
        Some(rest) => {
            drawn = rest;
            false
        }
        None => true,
    })
}

/// The rating in the category of these terms, from ratings by the server's names.
pub fn rating_for(ratings: &[(String, u32)], terms: GameTerms) -> Option<u32> {
    let category = match terms.variant {
        Variant::Standard | Variant::FromPosition => terms.time_control.speed().key(),
        variant => variant.key(),
    };
    ratings.iter().find(|(name, _)| name == category).map(|&(_, rating)| rating)
}
