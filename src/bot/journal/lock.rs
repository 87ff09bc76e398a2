//! One program at a time writes a journal: two daemons with one journal would also share an account, and take its event stream
//! and its games from each other.

use std::{
    fs::{File, TryLockError},
    io::{Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    thread::sleep,
    time::{Duration, Instant},
};

use super::{JournalError, private, schema};

/// Timeout for the lock: a program that is ending, or was just killed, releases it soon.
const PATIENCE: Duration = Duration::from_secs(3);
const AGAIN: Duration = Duration::from_millis(20);

/// Held as long as the journal is written. The system gives it back when the process ends, however it ends.
#[derive(Debug)]
pub(super) struct JournalLock(#[expect(dead_code, reason = "dropping it closes the file, which unlocks it")] File);

impl JournalLock {
    /// Locks the journal at `path`, by a file beside it that names this process.
    pub(super) fn take(path: &Path) -> Result<Self, JournalError> {
        let failed = |reason: std::io::Error| schema::not_opened(path, &reason);
        let mut file = private::open()
            .create(true)
            .truncate(false)
            .read(true)
            .write(true)
            .open(lock_file(path))
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
        let named =
            file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{}", std::process::id()));
        if let Err(error) = named {
            tracing::debug!("journal {}: the lock does not name its process: {error}", path.display());
        }
        Ok(Self(file))
    }
}

fn lock_file(journal: &Path) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(".lock");
    name.into()
}
