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

    /// Sorts games, given oldest first, and returns those of the page. Equal ones stay newest first, as
    /// all do by default.
    pub(super) fn page(&self, mut games: Vec<GameRecord>) -> Result<Vec<GameRecord>, HttpProblem> {
        let (key, ascending) = match self.sort.strip_prefix('-') {
            Some(key) => (key, false),
            None => (self.sort.as_str(), !self.sort.is_empty()),
        };
        let name = |game: &GameRecord| game.opponent().name.to_lowercase();
        let order = |one: &GameRecord, other: &GameRecord| match key {
            "opponent" => name(one).cmp(&name(other)),
            "rating" => one.opponent().rating.cmp(&other.opponent().rating),
            "moves" => one.plies.cmp(&other.plies),
            _ => Ordering::Equal,
        };
        if !["", "started_at", "opponent", "rating", "moves"].contains(&key) {
            return Err(HttpProblem::bad("sort: expected started_at, opponent, rating or moves, or - and one of them"));
        }
        if !(ascending && key == "started_at") {
            games.reverse();
        }
        games.sort_by(|one, other| if ascending { order(one, other) } else { order(other, one) });
        Ok(games.into_iter().skip(self.from).take(self.limit.unwrap_or(100).min(LONGEST_PAGE)).collect())
    }
}
