//! Chats, faults and first moves of games.

use std::collections::HashMap;

use jiff::Timestamp;
use serde::Serialize;

use super::{Archive, GameRecord, time_of_day};
use crate::journal::{JournalError, codes};
use domain::{Line, UciMove};

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChatRecord {
    pub said_at: Timestamp,
    /// `player` or `spectator`.
    pub room: String,
    pub username: String,
    pub text: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultRecord {
    pub met_at: Timestamp,
    pub what: String,
}

impl Archive {
    pub fn chat(&self, game: &GameRecord) -> Result<Vec<ChatRecord>, JournalError> {
        let sql = "SELECT said_at, room, username, text FROM chat WHERE game = ? ORDER BY id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([game.row], |row| {
            Ok(ChatRecord {
                said_at: time_of_day(row.get("said_at")?),
                room: row.get("room")?,
                username: row.get("username")?,
                text: row.get("text")?,
            })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub fn faults(&self, game: &GameRecord) -> Result<Vec<FaultRecord>, JournalError> {
        let sql = "SELECT met_at, what FROM faults WHERE server = ? AND game = ? ORDER BY id";
        let mut statement = self.connection.prepare_cached(sql)?;
        let rows = statement.query_map([game.server.as_str(), game.game.as_str()], |row| {
            Ok(FaultRecord { met_at: time_of_day(row.get("met_at")?), what: row.get("what")? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns up to `plies` first moves of each game, in the order of the games.
    pub fn first_moves(&self, games: &[GameRecord], plies: u32) -> Result<Vec<Vec<UciMove>>, JournalError> {
        let sql = "SELECT game, uci FROM moves WHERE superseded_at IS NULL AND ply < ? ORDER BY game, ply";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut of_game: HashMap<i64, Vec<UciMove>> = HashMap::new();
        let mut rows = statement.query([plies])?;
        while let Some(row) = rows.next()? {
            if let Ok(uci) = row.get::<_, String>("uci")?.parse() {
                of_game.entry(row.get("game")?).or_default().push(uci);
            }
        }
        Ok(games.iter().map(|game| of_game.remove(&game.row).unwrap_or_default()).collect())
    }

    /// Returns the moves of a game shown by the server. From the first illegal move on they are left out, with a warning in the log.
    pub fn line(&self, game: &GameRecord) -> Result<Line, JournalError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT uci FROM moves WHERE game = ? AND superseded_at IS NULL AND confirmed ORDER BY ply",
        )?;
        let rows = statement.query_map([game.row], |row| codes::uci(row, 0))?;
        let moves = rows.collect::<Result<Vec<_>, _>>()?;
        Ok(game.line_of(moves))
    }
}
