//! The current line of a game as the database has it, kept between entries.

use std::{
    any::Any,
    fmt::{Display, Write as _},
};

use rusqlite::{Connection, params};

use super::{column, execute};
use crate::journal::{GameKey, JournalError};

/// The current line of a running game, as in the database; a copy saves the read at every move.
pub(in crate::journal) struct KnownLine {
    pub(super) game: i64,
    pub(super) moves: Vec<KnownMove>,
    /// The moves of the last entry, a `Vec` of the game's own type: so a move is compared as text only once.
    last_seen: Box<dyn Any + Send>,
    /// The number of moves with which both `last_seen` and `moves` begin, at least.
    pub(super) agreed: usize,
    /// Superseded moves of the bot with their plies: a late state may have removed them, and the next one shows them again.
    pub(super) set_aside: Vec<(usize, KnownMove)>,
    /// The clock of the player to move, ms, and the number of moves before it.
    pub(super) clock_to_move: Option<(usize, i64)>,
}

pub(super) struct KnownMove {
    pub(super) row: i64,
    /// The move in its game's notation.
    pub(super) text: String,
    pub(super) confirmed: bool,
    pub(super) decided: bool,
}

impl KnownLine {
    /// Returns the number of moves with which both the line and `shown` begin, and remembers `shown`.
    pub(super) fn agreement<M: Display + Copy + PartialEq + Send + 'static>(&mut self, shown: &[M]) -> usize {
        if !self.last_seen.is::<Vec<M>>() {
            self.last_seen = Box::new(Vec::<M>::new());
        }
        let Some(last_seen) = self.last_seen.downcast_mut::<Vec<M>>() else { return 0 };
        let same = last_seen.iter().zip(shown).take_while(|(before, mv)| before == mv).count();
        last_seen.truncate(same);
        last_seen.extend_from_slice(&shown[same..]);
        let same = same.min(self.agreed);
        let mut text = String::new();
        let mut is_known = |known: &KnownMove, mv: &M| {
            text.clear();
            write!(text, "{mv}").is_ok() && known.text == text
        };
        let rest = self.moves[same..].iter().zip(&shown[same..]);
        same + rest.take_while(|(known, mv)| is_known(known, mv)).count()
    }
}

pub(super) fn read_line(connection: &Connection, key: &GameKey) -> Result<KnownLine, JournalError> {
    let game: Option<i64> = column(connection, "id", key)?;
    let game = game.ok_or_else(|| JournalError::UnknownGame(key.clone()))?;
    let mut moves = connection.prepare_cached(
        "SELECT id, uci, confirmed, source IS NOT NULL FROM moves WHERE game = ? AND superseded_at IS NULL ORDER BY ply",
    )?;
    let moves = moves.query_map([game], |row| {
        Ok(KnownMove { row: row.get(0)?, text: row.get(1)?, confirmed: row.get(2)?, decided: row.get(3)? })
    })?;
    let moves = moves.collect::<Result<_, _>>()?;
    Ok(KnownLine { game, moves, last_seen: Box::new(()), agreed: 0, set_aside: Vec::new(), clock_to_move: None })
}

/// Takes the moves from `ply` on out of the line; they stay in the table.
pub(super) fn supersede(connection: &Connection, line: &mut KnownLine, ply: usize, now: i64) -> rusqlite::Result<()> {
    if ply < line.moves.len() {
        line.clock_to_move = None;
    }
    let ply = ply.min(line.moves.len());
    line.agreed = line.agreed.min(ply);
    for (at, known) in (ply..).zip(line.moves.drain(ply..)) {
        execute(connection, "UPDATE moves SET superseded_at = ? WHERE id = ?", params![now, known.row])?;
        if known.decided {
            line.set_aside.push((at, known));
        }
    }
    Ok(())
}
