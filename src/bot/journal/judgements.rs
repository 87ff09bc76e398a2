//! Judges' verdicts on positions, stored beside the games and by position: no position is judged
//! twice.
//!
//! A study writes here through a connection of its own, in short transactions, also while the
//! daemon writes the rest of the journal: the two wait for each other at SQLite's lock.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::{JournalError, codes, schema};
use domain::{Score, UciMove};

#[derive(Clone, Debug, PartialEq)]
pub struct JudgementRecord {
    /// The Zobrist key of the position.
    pub position: u64,
    /// The value for the player to move.
    pub score: Score,
    pub depth: u32,
    pub nodes: u64,
    /// The best line, the best move first; empty without a legal move.
    pub pv: Vec<UciMove>,
}

pub struct Judgements {
    connection: Connection,
}

impl Judgements {
    /// Opens the judgements of a journal, and brings an older journal to today's version.
    ///
    /// # Errors
    /// [`JournalError::Open`] if there is no such journal or it cannot be written, [`JournalError::Newer`] if a newer program
    /// wrote it.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        if !path.exists() {
            // Only a player creates a journal; this reports a missing one.
            schema::open_to_read(path)?;
        }
        Ok(Self { connection: schema::open_to_write(path)? })
    }

    /// Opens the judgements of a journal for reading, perhaps beside writing programs; see [`Archive::open`](super::Archive::open).
    pub fn open_to_read(path: &Path) -> Result<Self, JournalError> {
        Ok(Self { connection: schema::open_to_read(path)? })
    }

    /// Returns the numbers and names of all judges, the newest first.
    pub fn judges(&self) -> Result<Vec<(i64, String)>, JournalError> {
        let mut statement = self.connection.prepare_cached("SELECT id, name FROM judges ORDER BY id DESC")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Returns the number of the judge of this name; the name identifies the engine and its limits.
    pub fn judge(&self, name: &str) -> Result<i64, JournalError> {
        self.connection.execute("INSERT OR IGNORE INTO judges (name) VALUES (?)", [name])?;
        Ok(self.connection.query_row("SELECT id FROM judges WHERE name = ?", [name], |row| row.get(0))?)
    }

    pub fn known(&self, judge: i64, position: u64) -> Result<Option<JudgementRecord>, JournalError> {
        let mut statement = self.connection.prepare_cached(
            "SELECT score_cp, score_mate, depth, nodes, pv FROM judgements WHERE judge = ? AND position = ?",
        )?;
        let read = statement.query_row((judge, position.cast_signed()), |row| {
            let pv: String = row.get(4)?;
            Ok(JudgementRecord {
                position,
                score: codes::read_score(row.get(0)?, row.get(1)?).unwrap_or(Score::Cp(0)),
                depth: row.get(2)?,
                nodes: row.get::<_, i64>(3)?.cast_unsigned(),
                pv: pv.split_ascii_whitespace().map_while(|text| text.parse().ok()).collect(),
            })
        });
        Ok(read.optional()?)
    }

    /// Keeps judgements, all or none.
    ///
    /// # Errors
    /// Where the journal cannot be written; [`JournalError::Unwritable`] if another program has been writing for too long.
    pub fn keep(&self, judge: i64, judgements: &[JudgementRecord]) -> Result<(), JournalError> {
        // No other transaction can be open on this connection: this one ends before its method
        // does.
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        {
            let mut statement = transaction.prepare_cached(
                "INSERT OR REPLACE INTO judgements (judge, position, score_cp, score_mate, depth, nodes, pv)
                 VALUES (?, ?, ?, ?, ?, ?, ?)",
            )?;
            for judgement in judgements {
                let (cp, mate) = codes::score(Some(judgement.score));
                let pv = domain::moves_text(&judgement.pv);
                let nodes = codes::whole(judgement.nodes);
                statement.execute((judge, judgement.position.cast_signed(), cp, mate, judgement.depth, nodes, pv))?;
            }
        }
        Ok(transaction.commit()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Journal, JournalSettings};

    #[tokio::test]
    async fn judgements_are_written_concurrently() {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = JournalSettings { path: directory.path().join("journal.db"), ..JournalSettings::default() };
        assert!(Judgements::open(&settings.path).is_err(), "a report makes no journal");
        let daemon = Journal::open(&settings).expect("a journal");

        let judgements = Judgements::open(&settings.path).expect("the same journal");
        let judge = judgements.judge("concilio 1000 nodes").expect("a judge");
        let kept = JudgementRecord {
            position: u64::MAX - 7,
            score: Score::Mate(-3),
            depth: 9,
            nodes: 1000,
            pv: vec!["e2e4".parse().expect("a move")],
        };
        judgements.keep(judge, std::slice::from_ref(&kept)).expect("kept");
        daemon.set_state("a key", "still written".to_owned()).await.expect("written");

        let again = Judgements::open(&settings.path).expect("the same journal");
        let judge = again.judge("concilio 1000 nodes").expect("the same judge");
        assert_eq!(again.known(judge, kept.position).expect("readable"), Some(kept));
        let reader = Judgements::open_to_read(&settings.path).expect("the same journal");
        assert_eq!(reader.judges().expect("readable"), [(judge, "concilio 1000 nodes".to_owned())]);
        let other = again.judge("concilio 2000 nodes").expect("another judge");
        assert_eq!(again.known(other, u64::MAX - 7).expect("readable"), None);
    }
}
