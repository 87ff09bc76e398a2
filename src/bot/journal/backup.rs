//! A whole copy of the journal, made while a daemon may be writing it.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use rusqlite::Connection;

use super::{JournalError, private, schema};

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
pub(super) fn copy(journal: &Connection, draft: &Path) -> Result<u64, String> {
    let words = |error: io::Error| error.to_string();
    let made = private::open().write(true).create(true).truncate(true).open(draft).map_err(words)?;
    drop(made);
    let name = draft.to_str().ok_or("its name is not valid UTF-8")?;
    journal.execute("VACUUM INTO ?", [name]).map_err(|error| error.to_string())?;
    let file = File::open(draft).map_err(words)?;
    file.sync_all().map_err(words)?;
    file.metadata().map(|data| data.len()).map_err(words)
}

/// Gives the complete copy its name. Unlike a rename, a hard link overwrites no file of another program. On disks without hard links
/// (FAT, some networks) an empty file takes the name first.
fn name(draft: &Path, to: &Path) -> io::Result<()> {
    match fs::hard_link(draft, to) {
        Err(error) if matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::Unsupported) => {
            private::open().write(true).create_new(true).open(to)?;
            fs::rename(draft, to)
        }
        linked => linked,
    }
}

pub(super) fn draft_of(to: &Path) -> PathBuf {
    private::with(to, &format!(".{}.part", std::process::id()))
}
