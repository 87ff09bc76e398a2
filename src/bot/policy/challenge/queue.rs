//! The order of waiting challenges.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::{ChallengeSettings, NameLists};
use domain::{Challenge, values::Kind};

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
