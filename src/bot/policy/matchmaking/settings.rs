//! Settings of matchmaking.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use crate::journal::GameResult;
use domain::{GameTerms, Player, TimeControl, Variant, values::MinutesAndSeconds};
use util::{
    Fault,
    values::{HoursOfDay, Seconds, WholeNumber, WholeNumberOrNone, as_base},
};

util::settings! {
    /// The `matchmaking` table. The types inherit `opponents`.
    pub struct MatchmakingSettings {
        /// Challenge other bots. Needs at least one type, see below.
        pub enabled: bool = false,
        /// Idle time before the first challenge, in seconds. 0 to 86400.
        #[serde(with = "Seconds::<0, 86400>")]
        pub idle: Duration = Duration::from_mins(8),
        /// Challenge also during games while places are free.
        pub during_games: bool = false,
        /// Time after which an unanswered challenge is withdrawn, in seconds. 5 to 600.
        #[serde(with = "Seconds::<5, 600>")]
        pub timeout: Duration = Duration::from_secs(25),
        /// Least time between two challenges, in seconds. 5 to 86400.
        #[serde(with = "Seconds::<5, 86400>")]
        pub min_gap: Duration = Duration::from_mins(1),
        /// Choice of the type of the next challenge: "weighted" (at random), "cyclic" (one after the
        /// other, in the order of their names) or "sequential" (the first of them for which there is an
        /// opponent).
        pub selection: Selection = Selection::default(),
        /// Likelier opponents: "none" (all alike), "high" or "low" ratings.
        pub rating_preference: RatingPreference = RatingPreference::default(),
        /// Rest of an opponent after the first refusal, in seconds; doubled by every further one. 1 to
        /// 604800.
        #[serde(with = "Seconds::<1, 604800>")]
        pub backoff: Duration = Duration::from_hours(1),
        /// Longest rest of an opponent, in seconds. 1 to 31536000.
        #[serde(with = "Seconds::<1, 31536000>")]
        pub max_backoff: Duration = Duration::from_hours(7 * 24),
        /// Scope of a refusal: "reason" (its subject: the variant, the speed, rated or not) or "all".
        pub refusal: RefusalScope = RefusalScope::default(),
        /// Cool-down per opponent from the start of a game, in expected game lengths; `max_backoff` at
        /// most. 0 to 10000.
        #[serde(with = "WholeNumber::<0, 10_000>")]
        pub rest: u32 = 0,
        /// Hours for challenges, as in `challenge.hours`.
        pub hours: Vec<HoursOfDay> = Vec::new(),
        /// Names of players never challenged.
        pub avoid: Vec<String> = Vec::new(),
        /// Files with more such names, one a line.
        pub avoid_files: Vec<PathBuf> = Vec::new(),
        /// Addresses of such lists on the web, fetched at the start and every hour.
        pub avoid_urls: Vec<String> = Vec::new(),
        /// Challenge no player on `challenge.block` either.
        pub avoid_blocked: bool = true,
        /// Results of a game against a bot after which it is challenged to a rematch with the colours
        /// changed, such as `["lost", "drawn"]` ("won", "lost", "drawn"); as often in a row as
        /// `max_rematches` in `[challenge.bot]` allows.
        pub rematch_after: Vec<GameResult> = Vec::new(),
        /// Weights of chosen players among all, by name, such as `maia1 = 5`: 1 for all others, 0 is
        /// never. 0 to 1000.
        pub weights: BTreeMap<String, u32> = BTreeMap::new(),
        #[serde(rename = "*", deserialize_with = "as_base")]
        pub opponents: MatchOpponents = MatchOpponents::default(),
        /// Types of challenges: a table for each, under a name of your choice.
        pub types: BTreeMap<String, MatchType> = BTreeMap::new(),
    }
}

/// The choice of the type of the next challenge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// Random, in proportion to the weights.
    #[default]
    Weighted,
    /// In turn, in the order of names.
    Cyclic,
    /// The first in the order of names for which there is an opponent.
    Sequential,
}

/// The preference among opponents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RatingPreference {
    /// No preference.
    #[default]
    None,
    High,
    Low,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusalScope {
    /// The subject of its reason.
    #[default]
    Reason,
    /// All challenges.
    All,
}

util::settings! {
    /// A type of challenge.
    pub struct MatchType {
        /// Minutes+seconds such as "3+2", days such as "3d", or "unlimited".
        pub time_control: MinutesAndSeconds =
            MinutesAndSeconds(TimeControl::real_time(Duration::from_mins(3), Duration::from_secs(2))),
        /// True for rated games.
        pub rated: bool = true,
        /// Variant, as in `challenge.variants`.
        pub variant: Variant = Variant::Standard,
        /// Weight among the types; 0 is never. 0 to 1000.
        #[serde(with = "WholeNumber::<0, 1000>")]
        pub weight: u32 = 1,
        #[serde(rename = "*")]
        pub opponents: MatchOpponents = MatchOpponents::default(),
    }
}

util::settings! {
    /// The keys from here to `games_in_row` hold for every type of challenge, and may stand in a type
    /// to hold there alone.
    pub struct MatchOpponents {
        /// The opponent's least rating; an opponent without a rating passes this and the next three
        /// keys. 0 to 4000.
        #[serde(with = "WholeNumber::<0, 4000>")]
        pub min_rating: u32 = 600,
        /// The opponent's greatest rating. 0 to 4000.
        #[serde(with = "WholeNumber::<0, 4000>")]
        pub max_rating: u32 = 4000,
        /// The least difference between the opponent's rating and the bot's at that speed. 0 to 4000.
        #[serde(with = "WholeNumber::<0, 4000>")]
        pub min_rating_difference: u32 = 0,
        /// The largest such difference. 0 to 4000, or "none".
        #[serde(with = "WholeNumberOrNone::<0, 4000>")]
        pub max_rating_difference: Option<u32> = Some(300),
        /// Preferred difference of the opponent's rating to the bot's, negative for weaker opponents;
        /// the nearest player is challenged. -4000 to 4000, or "none".
        #[serde(with = "WholeNumberOrNone::<-4000, 4000>")]
        pub target_rating_difference: Option<i32> = None,
        /// Games in a row with one opponent, the colours in turn. 1 to 100.
        #[serde(with = "WholeNumber::<1, 100>")]
        pub games_in_row: u32 = 1,
    }
}

impl MatchType {
    pub const fn terms(&self) -> GameTerms {
        GameTerms { variant: self.variant, time_control: self.time_control.0, rated: self.rated }
    }
}

impl MatchOpponents {
    pub(super) fn suits(&self, player: &Player, our_rating: Option<u32>) -> bool {
        let Some(rating) = player.rating else { return true };
        let difference = our_rating.map_or(self.min_rating_difference, |ours| ours.abs_diff(rating));
        (self.min_rating..=self.max_rating).contains(&rating)
            && difference >= self.min_rating_difference
            && self.max_rating_difference.is_none_or(|most| difference <= most)
    }

    /// Returns the players with the rating nearest to the target; all if it is unknown.
    pub(super) fn nearest_to_target(&self, mut players: Vec<Player>, our_rating: Option<u32>) -> Vec<Player> {
        let (Some(target), Some(ours)) = (self.target_rating_difference, our_rating) else { return players };
        let distance = |player: &Player| {
            let rating = player.rating.unwrap_or(ours);
            (i64::from(rating) - i64::from(ours) - i64::from(target)).abs()
        };
        let nearest = players.iter().map(distance).min();
        players.retain(|player| Some(distance(player)) == nearest);
        players
    }
}

impl MatchmakingSettings {
    pub(super) fn weight_of(&self, id: &str) -> u32 {
        self.weights.iter().find(|(name, _)| name.eq_ignore_ascii_case(id)).map_or(1, |(_, weight)| *weight)
    }

    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (name, _) in self.weights.iter().filter(|(_, weight)| **weight > 1000) {
            faults.push(Fault::value(name, "a weight from 0 to 1000").below("weights"));
        }
        if self.enabled && self.types.values().all(|kind| kind.weight == 0) {
            let accepted = r#"false, or a type with a weight, such as [matchmaking.types.blitz] time_control = "3+2""#;
            faults.push(Fault::value("enabled", accepted));
        }
        faults.extend(Fault::unless_ordered(("backoff", self.backoff), ("max_backoff", self.max_backoff)));
        for (name, MatchType { opponents, .. }) in &self.types {
            let most = opponents.max_rating_difference.unwrap_or(u32::MAX);
            let least = ("min_rating_difference", opponents.min_rating_difference);
            let ordered = [
                Fault::unless_ordered(("min_rating", opponents.min_rating), ("max_rating", opponents.max_rating)),
                Fault::unless_ordered(least, ("max_rating_difference", most)),
            ];
            faults.extend(ordered.into_iter().flatten().map(|fault| fault.below(name).below("types")));
        }
        faults
    }
}
