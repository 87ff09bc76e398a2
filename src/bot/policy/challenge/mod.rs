//! Choice and order of challenges.
//!
//! [`judge`] tests three things in turn: is the challenge for the bot, do its terms and its maker
//! suit, and is a place free now. A refusal carries the reason for the server and the words for the
//! journal.

mod filter;
#[cfg(test)]
mod tests;

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BTreeSet, HashMap},
    time::Duration,
};

use jiff::{SignedDuration, Timestamp, Zoned};
use serde::{Deserialize, Serialize};

pub use filter::ChallengeFilter;

use super::rate_limits::{RateLimits, Spending};
use domain::{
    Challenge, ChallengeObstacle, DeclineReason, GameId, Line, Player, Speed, TimeControl, Variant, engine_position,
    values::Kind,
};
use util::{
    Fault,
    values::{HoursOfDay, Seconds, WholeNumber, as_base},
};

util::settings! {
    /// The `challenge` table. The accepted terms may differ by the kind of opponent: `human` and `bot` inherit those of `all`.
    pub struct ChallengeSettings {
        /// Real-time games at a time. 1 to 100.
        #[serde(with = "WholeNumber::<1, 100>")]
        pub concurrency: usize = 1,
        /// Correspondence and unlimited games at a time, beside `concurrency`; their moves are searched
        /// while the cores are idle. 0 to 1000.
        #[serde(with = "WholeNumber::<0, 1000>")]
        pub correspondence_games: usize = 20,
        /// Games of `concurrency` reserved for humans. 0 to 100, at most `concurrency`.
        #[serde(with = "WholeNumber::<0, 100>")]
        pub reserved_for_humans: usize = 0,
        /// Real-time games at a time with one opponent, and as many correspondence games. 1 to 100.
        #[serde(with = "WholeNumber::<1, 100>")]
        pub max_games_per_opponent: usize = 1,
        /// The least time from the start of one game to the next, in seconds. 0 to 86400.
        #[serde(with = "Seconds::<0, 86400>")]
        pub min_gap: Duration = Duration::ZERO,
        /// Challenges that may wait for a free place; further ones are declined with "later". 0 to
        /// 1000.
        #[serde(with = "WholeNumber::<0, 1000>")]
        pub max_waiting: usize = 20,
        /// Order of waiting challenges: `"best"` (title, then rating) or `"first"` come.
        pub sort_by: SortBy = SortBy::default(),
        /// Kind of opponent accepted before all others: `"none"`, `"human"` or `"bot"`.
        pub preference: Preference = Preference::default(),
        /// Hours for accepting challenges, such as `["08:00-12:00", "22:00-02:00"]`; empty is always.
        pub hours: Vec<HoursOfDay> = Vec::new(),
        /// Names of players never played, in capitals or small letters.
        pub block: Vec<String> = Vec::new(),
        /// Files with more such names, one a line; text after a # does not count.
        pub block_files: Vec<std::path::PathBuf> = Vec::new(),
        /// Addresses of such lists on the web, fetched at the start and every hour; all files are read
        /// again then, too.
        pub block_urls: Vec<String> = Vec::new(),
        /// Names of the only players played; empty is everybody.
        pub allow: Vec<String> = Vec::new(),
        /// Files with more such names, one a line.
        pub allow_files: Vec<std::path::PathBuf> = Vec::new(),
        /// Names of players accepted first and on any terms that an engine can play, at any hour. The
        /// block list and the limits on games at a time hold for them too.
        pub friends: Vec<String> = Vec::new(),
        #[serde(rename = "*", deserialize_with = "as_base")]
        pub all: ChallengeFilter = ChallengeFilter::default(),
        /// Terms for humans alone, such as `max_increment = 10`.
        pub human: ChallengeFilter = ChallengeFilter::default(),
        /// Terms for bots alone, such as `modes = ["casual"]`.
        pub bot: ChallengeFilter = ChallengeFilter::default(),
    }
}

impl ChallengeSettings {
    pub const fn filter(&self, kind: Kind) -> &ChallengeFilter {
        match kind {
            Kind::Human => &self.human,
            Kind::Bot => &self.bot,
        }
    }

    pub fn faults(&self) -> Vec<Fault> {
        let human = self.human.faults().into_iter().map(|fault| fault.below("human"));
        let bot = self.bot.faults().into_iter().map(|fault| fault.below("bot"));
        let reserved = ("reserved_for_humans", self.reserved_for_humans);
        human.chain(bot).chain(Fault::unless_ordered(reserved, ("concurrency", self.concurrency))).collect()
    }
}

/// Names of players, compared without regard to case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names(BTreeSet<String>);

impl Names {
    /// Reads a list: one name a line; blank lines and text after a `#` do not count.
    pub fn parse(text: &str) -> Self {
        text.lines().filter_map(|line| line.split('#').next()).collect()
    }

    pub fn contains(&self, name: &str) -> bool {
        self.0.contains(&name.to_lowercase())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }
}

impl<S: AsRef<str>> FromIterator<S> for Names {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let names = names.into_iter().map(|name| name.as_ref().trim().to_lowercase());
        Self(names.filter(|name| !name.is_empty()).collect())
    }
}

/// Names from the settings, and from their files and addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameLists {
    /// Never played.
    pub block: Names,
    /// If not empty, the only players played.
    pub allow: Names,
    /// Played on any terms, if an engine can play them.
    pub friends: Names,
    /// Never challenged.
    pub avoid: Names,
}

/// A running game, or an accepted challenge whose game is about to start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenPlace {
    /// The opponent's id.
    pub opponent: String,
    pub kind: Kind,
    /// False for correspondence and unlimited games: they have places of their own.
    pub real_time: bool,
}

/// The games with an opponent, and the rematches in a row. Saved as JSON: a restart forgets no game.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct OpponentHistory {
    /// The starts of their games; old ones may be missing.
    pub games: BTreeMap<GameId, Timestamp>,
    /// The number of rematches in a row up to the last game.
    pub rematches: u32,
    /// The last game; a rematch of it may be offered.
    pub last_game: Option<GameId>,
}

impl OpponentHistory {
    /// Records the start of a game, once; `rematch_of` is the game named by its challenge.
    pub fn began(&mut self, game: GameId, rematch_of: Option<&GameId>, now: Timestamp) {
        if self.games.contains_key(&game) {
            return;
        }
        let rematch = rematch_of.is_some() && rematch_of == self.last_game.as_ref();
        self.rematches = if rematch { self.rematches.saturating_add(1) } else { 0 };
        self.last_game = Some(game.clone());
        self.games.insert(game, now);
        self.forget(now);
    }

    /// Drops games too old to count as recent under any settings. Returns true if any are left.
    pub fn forget(&mut self, now: Timestamp) -> bool {
        self.games.retain(|_, start| since(*start, now) < ChallengeFilter::LONGEST_RECENT);
        !self.games.is_empty()
    }
}

#[derive(Clone, Copy, Debug)]
pub struct ChallengeContext<'a> {
    /// The time, in the time zone of the settings.
    pub now: &'a Zoned,
    pub variants: &'a [Variant],
    pub lists: &'a NameLists,
    pub places: &'a [TakenPlace],
    /// The start of the newest game.
    pub last_start: Option<Timestamp>,
    /// Earlier opponents by id.
    pub opponents: &'a HashMap<String, OpponentHistory>,
    pub rate_limits: &'a RateLimits,
    /// The number of other waiting challenges.
    pub waiting: usize,
    /// The reason, if the bot begins no new games.
    pub closed: Option<&'static str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChallengeVerdict {
    /// Accept now.
    Accept,
    /// Judge it again when a game ends, or at the time given; `why` is for the journal.
    Wait { until: Option<Timestamp>, why: String },
    /// The reason is for the server, `why` for the journal.
    Decline { reason: DeclineReason, why: String },
    /// The challenge is not for the bot.
    Ignore,
}

fn decline(reason: DeclineReason, why: impl Into<String>) -> ChallengeVerdict {
    ChallengeVerdict::Decline { reason, why: why.into() }
}

fn refuse<T>(reason: DeclineReason, why: impl Into<String>) -> Result<T, ChallengeVerdict> {
    Err(decline(reason, why))
}

pub fn judge(challenge: &Challenge, settings: &ChallengeSettings, context: &ChallengeContext<'_>) -> ChallengeVerdict {
    if !challenge.incoming {
        return ChallengeVerdict::Ignore;
    }
    match suits(challenge, settings, context) {
        Err(verdict) => verdict,
        Ok(opponent) => room_for(opponent, challenge.terms.time_control, settings, context),
    }
}

/// Checks whether the bot would play this at all.
fn suits<'a>(
    challenge: &'a Challenge,
    settings: &ChallengeSettings,
    context: &ChallengeContext<'_>,
) -> Result<&'a Player, ChallengeVerdict> {
    can_be_played(challenge, context)?;
    let Some(opponent) = &challenge.opponent else {
        return refuse(DeclineReason::Generic, "no opponent is named");
    };
    let lists = context.lists;
    if lists.block.contains(&opponent.id) {
        return refuse(DeclineReason::Generic, format!("{} is on the block list", opponent.name));
    }
    if let Some(why) = context.closed {
        return refuse(DeclineReason::Later, why);
    }
    if lists.friends.contains(&opponent.id) {
        return Ok(opponent);
    }
    if !lists.allow.is_empty() && !lists.allow.contains(&opponent.id) {
        return refuse(DeclineReason::Generic, format!("{} is not on the allow list", opponent.name));
    }
    if !HoursOfDay::any_contains(&settings.hours, context.now.time()) {
        return refuse(DeclineReason::Later, "outside the hours of challenge.hours");
    }
    let filter = settings.filter(Kind::of(opponent));
    filter.check(challenge, opponent)?;
    if let Some(history) = context.opponents.get(&opponent.id) {
        not_too_often(challenge, filter, history, context.now.timestamp())?;
    }
    Ok(opponent)
}

fn can_be_played(challenge: &Challenge, context: &ChallengeContext<'_>) -> Result<(), ChallengeVerdict> {
    let variant = challenge.terms.variant;
    match &challenge.obstacle {
        None => {}
        Some(ChallengeObstacle::UnknownVariant(name)) => {
            return refuse(DeclineReason::Variant, format!("no engine knows the rules of {name}"));
        }
        Some(ChallengeObstacle::TimeOdds) => {
            return refuse(DeclineReason::TimeControl, "time odds: both sides get the same clock here");
        }
        Some(ChallengeObstacle::NotForBots) => {
            let too_fast = challenge.terms.time_control.speed() == Speed::UltraBullet;
            let reason = if too_fast { DeclineReason::TooFast } else { DeclineReason::Generic };
            return refuse(reason, "the server does not let a bot play it");
        }
    }
    if challenge.rules.iter().any(|rule| rule == "noAbort") {
        return refuse(DeclineReason::Generic, "the rule noAbort would make a game without a first move endless");
    }
    if !context.variants.contains(&variant) {
        let others = variant.is_standard_rules() || context.variants.len() > 1;
        let reason = if others { DeclineReason::Variant } else { DeclineReason::Standard };
        return refuse(reason, format!("no engine plays {variant}"));
    }
    let Some(fen) = challenge.initial_fen.as_deref() else { return Ok(()) };
    let understood = match Line::from_fen(variant, fen) {
        // A position with more men than an army has, for example, passes the server and is not
        // understood by the engine.
        Ok(line) if variant.is_standard_rules() => engine_position(&line).map(drop).map_err(|error| error.to_string()),
        line => line.map(drop).map_err(|error| error.to_string()),
    };
    understood.or_else(|error| refuse(DeclineReason::Variant, error))
}

fn not_too_often(
    challenge: &Challenge,
    filter: &ChallengeFilter,
    history: &OpponentHistory,
    now: Timestamp,
) -> Result<(), ChallengeVerdict> {
    if let Some(max) = filter.max_recent_games {
        let recent = history.games.values().filter(|start| since(**start, now) < filter.recent).count();
        if recent >= max {
            let seconds = filter.recent.as_secs();
            return refuse(DeclineReason::Later, format!("{recent} games with them in the last {seconds} s"));
        }
    }
    let rematch = challenge.rematch_of.is_some() && challenge.rematch_of == history.last_game;
    match filter.max_rematches {
        Some(max) if rematch && history.rematches >= max => {
            refuse(DeclineReason::Later, format!("{} rematches in a row", history.rematches))
        }
        _ => Ok(()),
    }
}

/// Checks whether it can be accepted now.
fn room_for(
    opponent: &Player,
    time_control: TimeControl,
    settings: &ChallengeSettings,
    context: &ChallengeContext<'_>,
) -> ChallengeVerdict {
    let now = context.now.timestamp();
    let (kind, real_time) = (Kind::of(opponent), time_control.is_real_time());
    let wait = |until, why: String| match context.waiting < settings.max_waiting {
        true => ChallengeVerdict::Wait { until, why },
        false => decline(DeclineReason::Later, format!("{why}, and the queue is full")),
    };
    if kind == Kind::Bot
        && let Err(limit) = context.rate_limits.may(Spending::GameAgainstBot, now)
    {
        return decline(DeclineReason::Later, limit.to_string());
    }
    let alike = context.places.iter().filter(|place| place.real_time == real_time);
    let with_them = alike.clone().filter(|place| place.opponent == opponent.id).count();
    if with_them >= settings.max_games_per_opponent {
        return wait(None, format!("{with_them} games with {} already run", opponent.name));
    }
    let free = match real_time {
        true => has_place(kind, settings, context.places),
        false => has_correspondence_place(settings, context.places),
    };
    if !free {
        let kind = if real_time { "real-time" } else { "correspondence" };
        return wait(None, format!("{} {kind} games run", alike.count()));
    }
    match context.last_start.and_then(|start| start.checked_add(settings.min_gap).ok()) {
        Some(next) if next > now => wait(Some(next), "the last game has just begun".to_owned()),
        _ => ChallengeVerdict::Accept,
    }
}

/// Returns true if a real-time game against this kind can start. Humans' games fill the reserved places first.
pub fn has_place(kind: Kind, settings: &ChallengeSettings, places: &[TakenPlace]) -> bool {
    let places = places.iter().filter(|place| place.real_time);
    let humans = places.clone().filter(|place| place.kind == Kind::Human).count();
    let still_reserved = match kind {
        Kind::Human => 0,
        Kind::Bot => settings.reserved_for_humans.saturating_sub(humans),
    };
    places.count() + still_reserved < settings.concurrency
}

pub fn has_correspondence_place(settings: &ChallengeSettings, places: &[TakenPlace]) -> bool {
    places.iter().filter(|place| !place.real_time).count() < settings.correspondence_games
}

/// Returns the time since `then`; zero if it is in the future.
fn since(then: Timestamp, now: Timestamp) -> Duration {
    let elapsed: SignedDuration = now.duration_since(then);
    elapsed.try_into().unwrap_or_default()
}

/// The order of challenges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SortBy {
    /// The opponent's title, then rating, then the time of arrival.
    #[default]
    Best,
    /// The time of arrival.
    First,
}

/// The kind of opponent accepted before all others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preference {
    #[default]
    None,
    Human,
    Bot,
}

/// Returns the place of a waiting challenge: friends come first, then the preferred kind of opponent, then the order of `sort_by`.
pub fn precedence(challenge: &Challenge, settings: &ChallengeSettings, lists: &NameLists) -> impl Ord + use<> {
    let opponent = challenge.opponent.as_ref();
    let friend = opponent.is_some_and(|player| lists.friends.contains(&player.id));
    let kind = opponent.map(Kind::of);
    let preferred = match settings.preference {
        Preference::None => true,
        Preference::Human => kind == Some(Kind::Human),
        Preference::Bot => kind == Some(Kind::Bot),
    };
    let merit = match settings.sort_by {
        SortBy::First => (0, 0),
        SortBy::Best => (
            title_rank(opponent.and_then(|player| player.title.as_deref())),
            opponent.and_then(|player| player.rating).unwrap_or(0),
        ),
    };
    Reverse((friend, preferred, merit))
}

/// Titles from grandmaster down to none; bots come last.
fn title_rank(title: Option<&str>) -> u8 {
    match title {
        Some("GM") => 9,
        Some("WGM" | "IM" | "LM") => 8,
        Some("WIM" | "FM") => 7,
        Some("WFM" | "NM" | "CM") => 6,
        Some("WNM" | "WCM") => 5,
        Some("BOT" | "C") => 0,
        Some(_) => 2,
        None => 1,
    }
}
