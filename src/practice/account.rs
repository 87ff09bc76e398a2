use std::{collections::BTreeMap, fmt, sync::Arc, time::Duration};

use crate::rating::PlayerRating;
use domain::{GameTerms, Speed, TimeControl, Variant};

/// An account's name in lower case: by this it is found and compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AccountId(Arc<str>);

impl AccountId {
    pub fn of(name: &str) -> Self {
        Self(Arc::from(name.to_lowercase()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// The category in which a game is rated: its speed for the usual rules, otherwise its variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Category {
    Speed(Speed),
    Variant(Variant),
}

impl Category {
    pub fn of(terms: &GameTerms) -> Self {
        match terms.variant {
            Variant::Standard | Variant::FromPosition => Self::Speed(terms.time_control.speed()),
            variant => Self::Variant(variant),
        }
    }

    /// Iterates over every category, the speeds first.
    pub fn all() -> impl Iterator<Item = Self> {
        let variants = Variant::ALL.into_iter().filter(|v| !matches!(v, Variant::Standard | Variant::FromPosition));
        Speed::ALL.into_iter().map(Self::Speed).chain(variants.map(Self::Variant))
    }

    /// Lichess's key, such as `blitz` or `kingOfTheHill`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Speed(speed) => speed.key(),
            Self::Variant(variant) => variant.key(),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GameCounts {
    /// Rated games among all.
    pub rated: u32,
    pub won: u32,
    pub drawn: u32,
    pub lost: u32,
}

impl GameCounts {
    pub const fn all(&self) -> u32 {
        self.won + self.drawn + self.lost
    }
}

/// An account of the practice server, with its ratings and counts.
#[derive(Clone, Debug)]
pub struct PracticeAccount {
    pub id: AccountId,
    pub name: String,
    pub bot: bool,
    /// The level of the server's own engine, which belongs to no account and is seen by its
    /// opponents only.
    pub ai_level: Option<u8>,
    /// The time of its creation since the server's start.
    pub created: Duration,
    /// Ratings that differ from the initial one.
    pub ratings: BTreeMap<Category, PlayerRating>,
    pub counts: GameCounts,
}

impl PracticeAccount {
    pub fn new(name: &str, bot: bool, created: Duration) -> Self {
        Self {
            id: AccountId::of(name),
            name: name.to_owned(),
            bot,
            ai_level: None,
            created,
            ratings: BTreeMap::new(),
            counts: GameCounts::default(),
        }
    }

    pub fn rating(&self, category: Category) -> PlayerRating {
        self.ratings.get(&category).copied().unwrap_or_default()
    }
}

/// Returns true if Lichess lets bots play this control: nothing faster than bullet.
pub(crate) fn open_to_bots(time_control: TimeControl) -> bool {
    time_control.speed() != Speed::UltraBullet
}
