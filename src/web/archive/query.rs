//! A browser's filter of games, in the words of `concilio games`.

use std::cmp::Ordering;

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde::Deserialize;

use crate::problem::HttpProblem;
use bot::journal::{Filter, GameRecord, GameResult};
use domain::{ServerName, Speed};

const LONGEST_PAGE: usize = 500;

/// The query of an address. An empty word counts as absent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct GamesQuery {
    opponent: String,
    result: String,
    speed: String,
    server: String,
    /// A day, as `2026-11-01`.
    since: String,
    until: String,
    /// `started_at`, `opponent`, `rating` or `moves`, with `-` before it for the other way round.
    sort: String,
    from: usize,
    limit: Option<usize>,
}

impl GamesQuery {
    pub(super) fn filter(&self) -> Result<Filter, HttpProblem> {
        let named = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
        let result = named(&self.result).map(|word| {
            GameResult::from_word(&word).ok_or_else(|| HttpProblem::bad("result: expected won, lost or drawn"))
        });
        let speed = named(&self.speed).map(|word| {
            let known = Speed::ALL.into_iter().find(|speed| speed.key().eq_ignore_ascii_case(&word));
            known.ok_or_else(|| {
                HttpProblem::bad(format!("speed: expected one of {}", Speed::ALL.map(Speed::key).join(", ")))
            })
        });
        let day = |text: &str| -> Result<Option<Timestamp>, HttpProblem> {
            let Some(text) = named(text) else { return Ok(None) };
            let midnight = text.parse::<Date>().and_then(|day| day.to_zoned(TimeZone::system()));
            let midnight =
                midnight.map_err(|_| HttpProblem::bad(format!("{text:?}: expected a day such as 2026-11-01")))?;
            Ok(Some(midnight.timestamp()))
        };
        Ok(Filter {
            opponent: named(&self.opponent),
            result: result.transpose()?,
            speed: speed.transpose()?,
            server: named(&self.server).map(ServerName::from),
            since: day(&self.since)?,
            until: day(&self.until)?,
            limit: None,
        })
    }

    pub(super) fn page(&self) -> Result<Page, HttpProblem> {
        let (key, ascending) = match self.sort.strip_prefix('-') {
            Some(key) => (key, false),
            None => (self.sort.as_str(), true),
        };
        let key = match key {
            "opponent" => SortKey::Opponent,
            "rating" => SortKey::Rating,
            "moves" => SortKey::Moves,
            "started_at" | "" => SortKey::StartedAt,
            _ => {
                return Err(HttpProblem::bad(
                    "sort: expected started_at, opponent, rating or moves, or - and one of them",
                ));
            }
        };
        // By default the newest come first.
        let ascending = ascending && !self.sort.is_empty();
        Ok(Page { key, ascending, from: self.from, limit: self.limit.unwrap_or(100).min(LONGEST_PAGE) })
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    key: SortKey,
    ascending: bool,
    from: usize,
    limit: usize,
}

#[derive(Clone, Copy, Debug)]
enum SortKey {
    StartedAt,
    Opponent,
    Rating,
    Moves,
}

impl Page {
    /// Orders games that come oldest first; those that are equal stay newest first.
    pub(super) fn sort(self, games: &mut [GameRecord]) {
        if !(matches!(self.key, SortKey::StartedAt) && self.ascending) {
            games.reverse();
        }
        let order = |one: &GameRecord, other: &GameRecord| match self.key {
            SortKey::StartedAt => Ordering::Equal,
            SortKey::Opponent => one.opponent().name.to_lowercase().cmp(&other.opponent().name.to_lowercase()),
            SortKey::Rating => one.opponent().rating.cmp(&other.opponent().rating),
            SortKey::Moves => one.plies.cmp(&other.plies),
        };
        games.sort_by(|one, other| if self.ascending { order(one, other) } else { order(other, one) });
    }

    pub(super) fn cut(self, games: Vec<GameRecord>) -> Vec<GameRecord> {
        games.into_iter().skip(self.from).take(self.limit).collect()
    }
}
