//! One program at a time writes a journal: two daemons with one journal would also share an account, and take its event stream
//! and its games from each other.

use std::{
    fs::{File, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    path::Path,
    thread::sleep,
    time::{Duration, Instant},
};

use super::{JournalError, private, schema};

/// Timeout for the lock: an ending or killed program releases it soon.
const PATIENCE: Duration = Duration::from_secs(3);
const AGAIN: Duration = Duration::from_millis(20);

/// Locks the journal at `path` until the file is dropped or the process ends, by a file beside it with the number of this process.
pub(super) fn take(path: &Path) -> Result<File, JournalError> {
    let failed = |reason: std::io::Error| schema::not_opened(path, &reason);
    let mut file = private::open()
        .create(true)
        .truncate(false)
        .read(true)
        .write(true)
        .open(private::with(path, ".lock"))
        .map_err(failed)?;
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => break,
            Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => sleep(AGAIN),
            Err(TryLockError::WouldBlock) => {
                let mut text = String::new();
                let _ = file.read_to_string(&mut text);
                return Err(JournalError::InUse { path: path.to_owned(), process: text.trim().parse().ok() });
            }
            // A file system without locks: better to play without one.
            Err(TryLockError::Error(error)) => {
                tracing::warn!("journal {}: cannot lock it: {error}", path.display());
                break;
            }
        }
    }
    // The process id is only for the error message of the next program.
    let named = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
    if let Err(error) = named {
        tracing::debug!("journal {}: the lock does not name its process: {error}", path.display());
    }
    Ok(file)
}
