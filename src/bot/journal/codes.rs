//! The encoding of values in the tables.

use std::time::Duration;

use rusqlite::{Row, types::Type};
use serde::{Deserialize, Serialize};

use domain::{Bound, Color, GameStatus, Score, UciMove};

pub(super) const fn bound(bound: Bound) -> &'static str {
    match bound {
        Bound::Exact => "exact",
        Bound::Lower => "lower",
        Bound::Upper => "upper",
    }
}

/// Centipawns or moves to mate, each in a column of its own.
pub(super) const fn score(score: Option<Score>) -> (Option<i32>, Option<i32>) {
    match score {
        Some(Score::Cp(centipawns)) => (Some(centipawns), None),
        Some(Score::Mate(moves)) => (None, Some(moves)),
        None => (None, None),
    }
}

pub(super) fn read_score(cp: Option<i32>, mate: Option<i32>) -> Option<Score> {
    mate.map(Score::Mate).or(cp.map(Score::Cp))
}

pub(super) fn milliseconds(time: Duration) -> i64 {
    whole(time.as_millis())
}

pub(super) fn microseconds(time: Duration) -> i64 {
    whole(time.as_micros())
}

pub(super) fn whole(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

pub(super) fn uci(row: &Row<'_>, column: usize) -> rusqlite::Result<UciMove> {
    row.get::<_, String>(column)?
        .parse()
        .map_err(|error| rusqlite::Error::FromSqlConversionFailure(column, Type::Text, Box::new(error)))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GameResult {
    Won,
    Lost,
    Drawn,
}

util::words!(GameResult::word { Won = "won", Lost = "lost", Drawn = "drawn" });

impl GameResult {
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|result| result.word() == word)
    }

    /// Returns the result of a game for `ours`; `None` without a result.
    pub(crate) fn of(ours: Color, status: &GameStatus, winner: Option<Color>) -> Option<Self> {
        match winner {
            Some(winner) if winner == ours => Some(Self::Won),
            Some(_) => Some(Self::Lost),
            None => status.is_drawn().then_some(Self::Drawn),
        }
    }
}
