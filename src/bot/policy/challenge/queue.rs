//! The order in which waiting challenges are taken.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::NameLists;
use domain::{Challenge, values::Kind};

/// The order of challenges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SortBy {
    /// The opponent's title, then rating, then who came first.
    #[default]
    Best,
    /// The first to come.
    First,
}

/// The kind of opponent that precedes every other order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preference {
    #[default]
    None,
    Human,
    Bot,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Waiting {
    pub challenge: Challenge,
    /// Counts challenges as they came, so that the first is known.
    pub serial: u64,
}

/// Sorts waiting challenges: friends, then the preferred kind, then by `sort_by`.
pub fn order(waiting: &mut [Waiting], sort_by: SortBy, preference: Preference, lists: &NameLists) {
    waiting.sort_by_cached_key(|Waiting { challenge, serial }| {
        let opponent = challenge.opponent.as_ref();
        let friend = opponent.is_some_and(|player| lists.friends.contains(&player.id));
        let kind = opponent.map(Kind::of);
        let preferred = match preference {
            Preference::None => true,
            Preference::Human => kind == Some(Kind::Human),
            Preference::Bot => kind == Some(Kind::Bot),
        };
        let merit = match sort_by {
            SortBy::First => (0, 0),
            SortBy::Best => (
                title_rank(opponent.and_then(|player| player.title.as_deref())),
                opponent.and_then(|player| player.rating).unwrap_or(0),
            ),
        };
        (Reverse(friend), Reverse(preferred), Reverse(merit), *serial)
    });
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
