//! What the settings say about matchmaking.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use chess::{
    Fault, GameTerms, Player, TimeControl, Variant,
    values::{HoursOfDay, MinutesAndSeconds, Seconds, WholeNumber, WholeNumberOrNone},
};

/// The `matchmaking` table.
///
/// The keys [`MatchType::INHERITED`] stand in the table itself in the text of the settings, for all types, and may be
/// overridden in each.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatchmakingSettings {
    /// Whether we challenge at all.
    pub enabled: bool,
    /// How long nothing must have been played before we do, in seconds. 0 to 86400.
    #[serde(with = "Seconds::<0, 86400>")]
    pub idle: Duration,
    /// Whether we also challenge while games run, as long as places are free.
    pub during_games: bool,
    /// How long a challenge of ours may stand unanswered, in seconds. 5 to 600.
    #[serde(with = "Seconds::<5, 600>")]
    pub timeout: Duration,
    /// The least time from one challenge of ours to the next, in seconds. 5 to 86400.
    #[serde(with = "Seconds::<5, 86400>")]
    pub min_gap: Duration,
    /// How the type of the next challenge is picked.
    pub selection: Selection,
    /// Which opponents are more likely.
    pub rating_preference: RatingPreference,
    /// For how long somebody is left alone after the first refusal, in seconds; every further one doubles it. 1 to 604800.
    #[serde(with = "Seconds::<1, 604800>")]
    pub backoff: Duration,
    /// The longest time somebody is left alone, in seconds. 1 to 31536000.
    #[serde(with = "Seconds::<1, 31536000>")]
    pub max_backoff: Duration,
    /// How much a refusal refuses.
    pub refusal: RefusalScope,
    /// For how many times as long as a game usually lasts an opponent is left alone, from the beginning of that game on; as long as
    /// `max_backoff` at most. 0 to 10000.
    #[serde(with = "WholeNumber::<0, 10_000>")]
    pub rest: u32,
    /// When we challenge, in the time zone of the settings; empty is always.
    pub hours: Vec<HoursOfDay>,
    /// Who is never challenged, by name.
    pub avoid: Vec<String>,
    /// Files with more such names, one a line.
    pub avoid_files: Vec<PathBuf>,
    /// Addresses of such lists on the web, fetched at the start and every hour.
    pub avoid_urls: Vec<String>,
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
            rest: 0,
            hours: Vec::new(),
            avoid: Vec::new(),
            avoid_files: Vec::new(),
            avoid_urls: Vec::new(),
            avoid_blocked: true,
            types: BTreeMap::new(),
        }
    }
}

/// How the type of the next challenge is picked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Selection {
    /// By lot, in proportion to the weights.
    #[default]
    Weighted,
    /// One after the other, in the order of their names.
    Cyclic,
    /// The first, in the order of their names, to which there is somebody to challenge.
    Sequential,
}

/// Which opponents are more likely.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefusalScope {
    /// What its reason speaks of.
    #[default]
    Reason,
    /// Everything.
    All,
}

/// One kind of challenge we make.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MatchType {
    /// The clock.
    pub time_control: MinutesAndSeconds,
    /// Whether ratings change.
    pub rated: bool,
    /// The rules.
    pub variant: Variant,
    /// How likely it is, compared to the others; 0 is never. 0 to 1000.
    #[serde(with = "WholeNumber::<0, 1000>")]
    pub weight: u32,
    /// The opponent's least rating; one without a rating passes. 0 to 4000.
    #[serde(with = "WholeNumber::<0, 4000>")]
    pub min_rating: u32,
    /// The opponent's greatest rating. 0 to 4000.
    #[serde(with = "WholeNumber::<0, 4000>")]
    pub max_rating: u32,
    /// How far the opponent's rating must at least be from ours. 0 to 4000.
    #[serde(with = "WholeNumber::<0, 4000>")]
    pub min_rating_difference: u32,
    /// How far it may at most be; `None` is no limit.
    #[serde(with = "WholeNumberOrNone::<0, 4000>")]
    pub max_rating_difference: Option<u32>,
    /// By how much the opponent's rating is best above ours, or below where it is negative: whoever is nearest is challenged. `None`: it does
    /// not matter. -4000 to 4000.
    #[serde(with = "WholeNumberOrNone::<-4000, 4000>")]
    pub target_rating_difference: Option<i32>,
    /// How many games in a row one opponent is challenged to, the colours in turn. 1 to 100.
    #[serde(with = "WholeNumber::<1, 100>")]
    pub games_in_row: u32,
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
            target_rating_difference: None,
            games_in_row: 1,
        }
    }
}

impl MatchType {
    /// The keys that `matchmaking` gives for every type.
    pub const INHERITED: [&str; 6] = [
        "min_rating",
        "max_rating",
        "min_rating_difference",
        "max_rating_difference",
        "target_rating_difference",
        "games_in_row",
    ];

    /// What both sides would agree on.
    pub const fn terms(&self) -> GameTerms {
        GameTerms { variant: self.variant, time_control: self.time_control.0, rated: self.rated }
    }

    pub(super) fn suits(&self, player: &Player, our_rating: Option<u32>) -> bool {
        let Some(rating) = player.rating else { return true };
        let difference = our_rating.map_or(self.min_rating_difference, |ours| ours.abs_diff(rating));
        (self.min_rating..=self.max_rating).contains(&rating)
            && difference >= self.min_rating_difference
            && self.max_rating_difference.is_none_or(|most| difference <= most)
    }
}

impl MatchType {
    /// Those of the players whose rating is nearest to what is wanted; all of them where that is not known.
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
