//! The journal's tables, version by version.

use std::{io, path::Path, time::Duration};

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::{JournalError, private};

/// The steps from an empty database to today's tables; step `n` leads to version `n + 1`. Steps are added, never changed.
const STEPS: [&str; 6] = [
    include_str!("1.sql"),
    include_str!("2.sql"),
    include_str!("3.sql"),
    include_str!("4.sql"),
    include_str!("5.sql"),
    include_str!("6.sql"),
];

const VERSION: u32 = STEPS.len() as u32;

const PATIENCE: Duration = Duration::from_secs(5);

pub(super) fn open_to_write(path: &Path) -> Result<Connection, JournalError> {
    make_directory_of(path)?;
    make_file(path).map_err(|error| not_opened(path, &error))?;
    let connect = || -> rusqlite::Result<Connection> {
        let connection = Connection::open(path)?;
        connection.busy_timeout(PATIENCE)?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        connection.pragma_update(None, "foreign_keys", true)?;
        connection.set_prepared_statement_cache_capacity(64);
        Ok(connection)
    };
    let mut connection = connect().map_err(|error| not_a_journal(path, &error))?;
    migrate(&mut connection, path, VERSION)?;
    Ok(connection)
}

/// Creates an empty file with the permissions of the database; SQLite gives them to the files beside it, too.
///
/// One that is there already must not be opened here: when a process closes a file, it loses all its locks on it, also those of its
/// other connections. The next reader of another process would believe to be alone, and delete the log under the writer.
fn make_file(path: &Path) -> io::Result<()> {
    match private::open().write(true).create_new(true).open(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Moves the whole log into the database and empties it, unless a reader keeps it open for longer than `PATIENCE`.
pub(super) fn empty_log(connection: &Connection) -> Result<(), JournalError> {
    let busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))?;
    if busy {
        return Err(JournalError::Unwritable(
            "another program is reading it; its write-ahead log stays beside it".to_owned(),
        ));
    }
    Ok(())
}

pub(super) fn make_directory_of(path: &Path) -> Result<(), JournalError> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(|error| not_opened(path, &error))
}

pub(super) fn not_opened(path: &Path, error: &io::Error) -> JournalError {
    let remedy = match error.kind() {
        io::ErrorKind::PermissionDenied => {
            "; let this user read and write the file and its folder, or set another journal.path"
        }
        _ => "; set another journal.path, or make room for this one",
    };
    JournalError::Open { path: path.to_owned(), reason: format!("{error}{remedy}") }
}

/// Returns the error for another file than a journal, with the remedy.
fn not_a_journal(path: &Path, error: &rusqlite::Error) -> JournalError {
    let reason = match error.sqlite_error_code() {
        _ if path.is_dir() => "it is a folder; set journal.path to a file".to_owned(),
        Some(ErrorCode::NotADatabase) => {
            "it is no journal but another file; set another journal.path, or move it away".to_owned()
        }
        Some(ErrorCode::DatabaseCorrupt) => {
            format!("it is damaged ({error}); put a backup in its place: concilio journal restore FILE")
        }
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly | ErrorCode::PermissionDenied) => {
            format!("{error}; let this user read and write the file and its folder, or set another journal.path")
        }
        _ => error.to_string(),
    };
    JournalError::Open { path: path.to_owned(), reason }
}

pub(super) fn open_to_read(path: &Path) -> Result<Connection, JournalError> {
    let (connection, version) = open_any_version(path)?;
    may_be_read(path, version)?;
    match version {
        VERSION => Ok(connection),
        older => {
            let reason = format!("its version is {older}, not {VERSION}; `concilio run` brings it up to date");
            Err(JournalError::Open { path: path.to_owned(), reason })
        }
    }
}

pub(super) fn may_be_read(path: &Path, version: u32) -> Result<(), JournalError> {
    if version <= VERSION {
        return Ok(());
    }
    Err(JournalError::Newer { path: path.to_owned(), found: version, known: VERSION })
}

/// Opens a journal of any version; its tables may be old.
pub(super) fn open_any_version(path: &Path) -> Result<(Connection, u32), JournalError> {
    let failed = |reason: String| JournalError::Open { path: path.to_owned(), reason };
    if !path.exists() {
        return Err(failed("there is no such file; it is made when the first game is played".to_owned()));
    }
    let connect = || -> rusqlite::Result<(Connection, u32)> {
        // One thread uses a connection at a time, so SQLite need not lock it at every call.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags)?;
        connection.busy_timeout(PATIENCE)?;
        let version = version(&connection)?;
        Ok((connection, version))
    };
    connect().map_err(|error| not_a_journal(path, &error))
}

fn version(connection: &Connection) -> rusqlite::Result<u32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Takes the missing steps up to version `target`, all or none.
fn migrate(connection: &mut Connection, path: &Path, target: u32) -> Result<(), JournalError> {
    // The write lock comes first: two programs with a common start migrate one after the other.
    let failed = |error: rusqlite::Error| not_a_journal(path, &error);
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let found = version(&transaction).map_err(failed)?;
    if found > target {
        return Err(JournalError::Newer { path: path.to_owned(), found, known: target });
    }
    let steps = || -> rusqlite::Result<()> {
        for (step, leads_to) in STEPS.iter().zip(1..=target) {
            if leads_to > found {
                transaction.execute_batch(step)?;
            }
        }
        transaction.pragma_update(None, "user_version", target)
    };
    steps().and_then(|()| transaction.commit()).map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schema(connection: &Connection) -> Vec<String> {
        let mut statement =
            connection.prepare("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name").expect("a schema");
        let rows = statement.query_map([], |row| row.get(0)).expect("rows");
        rows.collect::<Result<_, _>>().expect("texts")
    }

    #[test]
    fn older_journals_are_migrated() {
        let directory = tempfile::tempdir().expect("a directory");
        let fresh = open_to_write(&directory.path().join("fresh.db")).expect("a new journal");
        for old in 0..=VERSION {
            let path = directory.path().join(format!("{old}.db"));
            let mut connection = Connection::open(&path).expect("a database");
            migrate(&mut connection, &path, old).expect("the old tables");
            drop(connection);
            let migrated = open_to_write(&path).expect("today's tables");
            assert_eq!(schema(&migrated), schema(&fresh), "from version {old}");
            assert_eq!(version(&migrated), Ok(VERSION));
        }
    }

    #[test]
    fn newer_journal_is_one_clear_error() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal.db");
        let connection = open_to_write(&path).expect("a new journal");
        connection.pragma_update(None, "user_version", 99).expect("a version of the future");
        for error in [open_to_write(&path).err(), open_to_read(&path).err()] {
            let error = error.expect("refused").to_string();
            assert!(
                error.contains("version 99") && error.contains("newer concilio") && error.lines().count() == 1,
                "{error}"
            );
        }
    }

    #[test]
    fn reading_does_not_make_a_journal() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("journal.db");
        let error = open_to_read(&path).expect_err("nothing there").to_string();
        assert!(error.contains("no such file"), "{error}");
        assert!(!path.exists());
    }
}
