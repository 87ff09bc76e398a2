//! A whole copy of the journal, made while a daemon may be writing it, and a copy put in the place of the journal.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use jiff::Zoned;
use rusqlite::Connection;

use super::{JournalError, lock, private, schema};

/// Copies a journal of any version to a new file; the copy gets its name once it is complete. A
/// writer of the journal is not delayed. Returns the size of the copy in bytes.
///
/// # Errors
/// [`JournalError::Open`] if there is no such journal, [`JournalError::Backup`] if the file exists already or cannot be written.
pub fn back_up(journal: &Path, to: &Path) -> Result<u64, JournalError> {
    let failed = |reason: String| JournalError::Backup { path: to.to_owned(), reason };
    let (connection, _) = schema::open_any_version(journal)?;
    if to.exists() {
        return Err(failed("it exists already; a backup overwrites nothing".to_owned()));
    }
    let draft = draft_of(to);
    let copied = copy(&connection, &draft).and_then(|size| {
        name(&draft, to).map_err(|error| error.to_string())?;
        Ok(size)
    });
    let _ = fs::remove_file(&draft);
    copied.map_err(failed)
}

/// Copies a whole database to `draft`. Returns its size in bytes.
fn copy(journal: &Connection, draft: &Path) -> Result<u64, String> {
    let words = |error: io::Error| error.to_string();
    let made = private::open().write(true).create(true).truncate(true).open(draft).map_err(words)?;
    drop(made);
    let name = draft.to_str().ok_or("its name is not valid UTF-8")?;
    journal.execute("VACUUM INTO ?", [name]).map_err(|error| error.to_string())?;
    let file = File::open(draft).map_err(words)?;
    file.sync_all().map_err(words)?;
    file.metadata().map(|data| data.len()).map_err(words)
}

/// Gives the complete copy its name: a hard link overwrites no file. On disks without them an empty file takes it first.
fn name(draft: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(draft, to) {
        Err(error) if has_no_links(&error) => {
            private::open().write(true).create_new(true).open(to)?;
            fs::rename(draft, to)
        }
        linked => linked,
    }
}

fn has_no_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported)
}

fn draft_of(to: &Path) -> PathBuf {
    private::with(to, &format!(".{}.part", std::process::id()))
}

/// The endings of SQLite's files beside a database.
const BESIDE: [&str; 2] = ["-wal", "-shm"];

/// Puts a copy of `backup` in the place of the journal at `path`. Returns its size and the new path of the old journal, if there was
/// one: it stays beside the new one, with the time in its name, and opens as before. After a kill at any moment, one of the two is in
/// place and complete.
///
/// # Errors
/// [`JournalError::Restore`] if the file is no backup, or damaged, or the copy cannot be written; [`JournalError::InUse`] while a
/// program writes the journal; [`JournalError::Newer`] for a backup by a newer program.
pub fn restore(backup: &Path, path: &Path) -> Result<(u64, Option<PathBuf>), JournalError> {
    let failed = |reason: String| JournalError::Restore { path: backup.to_owned(), reason };
    if !backup.exists() {
        return Err(failed("there is no such file".to_owned()));
    }
    let source = schema::open_any_version(backup).map_err(|error| match error {
        JournalError::Open { reason, .. } => failed(reason),
        other => other,
    });
    let (source, version) = source?;
    schema::may_be_read(backup, version)?;
    check(&source).map_err(failed)?;
    if is_same_file(backup, path) {
        return Err(failed("it is the journal itself".to_owned()));
    }
    schema::make_directory_of(path)?;
    let _lock = lock::take(path)?;
    let draft = draft_of(path);
    let restored = copy(&source, &draft).and_then(|size| {
        let copied = Connection::open(&draft).map_err(|error| error.to_string())?;
        check(&copied)?;
        drop(copied);
        let kept = put_aside(path).map_err(|error| format!("the old journal cannot be put aside: {error}"))?;
        fs::rename(&draft, path).map_err(|error| error.to_string())?;
        sync_folder_of(path);
        Ok((size, kept))
    });
    let _ = fs::remove_file(&draft);
    restored.map_err(failed)
}

fn check(database: &Connection) -> Result<(), String> {
    let words = |error: rusqlite::Error| error.to_string();
    let games = database.table_exists(None, "games").map_err(words)?;
    if !games {
        return Err("it is a database, but no journal".to_owned());
    }
    let found: String = database.pragma_query_value(None, "integrity_check", |row| row.get(0)).map_err(words)?;
    if found == "ok" { Ok(()) } else { Err(format!("it is damaged: {}", found.lines().next().unwrap_or_default())) }
}

/// Gives the old journal a second name, and moves its log there, after its entries went into the database if possible: a kill in between
/// loses nothing.
fn put_aside(path: &Path) -> io::Result<Option<PathBuf>> {
    if !path.exists() {
        // The log of a missing journal is of no use to another one.
        let kept = free_name(path);
        for ending in BESIDE {
            rename_if_there(&private::with(path, ending), &private::with(&kept, ending))?;
        }
        return Ok(None);
    }
    // What is damaged stays as it is.
    let is_whole = schema::open_any_version(path).is_ok_and(|(old, _)| check(&old).is_ok());
    if is_whole && let Ok(old) = Connection::open(path) {
        let _ = schema::empty_log(&old);
    }
    let kept = free_name(path);
    // A remaining log is moved first: it would destroy the new journal.
    for ending in BESIDE {
        rename_if_there(&private::with(path, ending), &private::with(&kept, ending))?;
    }
    match fs::hard_link(path, &kept) {
        // Some disks know no second names.
        Err(error) if has_no_links(&error) => fs::rename(path, &kept)?,
        linked => linked?,
    }
    Ok(Some(kept))
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        renamed => renamed,
    }
}

/// Returns an unused name for the old journal, such as `journal.db.2026-11-26-101530`.
fn free_name(path: &Path) -> PathBuf {
    let dated = private::with(path, &Zoned::now().strftime(".%Y-%m-%d-%H%M%S").to_string());
    let taken = |name: &PathBuf| BESIDE.iter().copied().chain([""]).any(|ending| private::with(name, ending).exists());
    let numbered = (2..).map(|number| private::with(&dated, &format!("-{number}")));
    std::iter::once(dated.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(dated)
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

/// Synchronises a folder, if the system allows it: new names survive a loss of power.
fn sync_folder_of(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let _ = fs::File::open(folder).and_then(|folder| folder.sync_all());
}
