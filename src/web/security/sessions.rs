//! Sessions opened with the operator's secret. They survive a restart of the daemon.
//!
//! The file beside the journal holds neither the secret nor a session: each line has the end of a session and a digest of the
//! secret and the session together. Another secret therefore ends all sessions.

use std::{
    collections::VecDeque,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rand::RngExt;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tempfile::NamedTempFile;

use util::{Secret, values::named};

/// Maximum number of sessions; the oldest is dropped first.
pub(super) const MOST_SESSIONS: usize = 64;

const LIFETIME: Duration = Duration::from_hours(30 * 24);

/// Maximum size of the file, in bytes.
const LONGEST_FILE: u64 = 16 << 10;

pub(super) struct Sessions {
    file: Option<PathBuf>,
    /// The end of each session, in seconds since 1970, and its digest.
    open: Mutex<VecDeque<(u64, String)>>,
    /// Held while the file is written, so that no older state replaces a newer one.
    writing: Mutex<()>,
}

impl Sessions {
    /// Reads the open sessions. Without a file, sessions end with the program.
    pub(super) fn read(file: Option<PathBuf>) -> Self {
        let text = file.as_deref().map(text_of).transpose().unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot read the page's sessions; browsers must log in again");
            None
        });
        let parse = |line: &str| {
            let (ends, digest) = line.split_once(' ')?;
            Some((ends.parse().ok()?, digest.to_owned()))
        };
        let mut open: VecDeque<(u64, String)> =
            text.iter().flat_map(|text| text.lines()).filter_map(parse).take(MOST_SESSIONS).collect();
        open.retain(|(ends, _)| *ends > seconds());
        Self { file, open: Mutex::new(open), writing: Mutex::default() }
    }

    pub(super) fn is_open(&self, secret: &Secret, session: &str) -> bool {
        let (digest, now) = (digest(secret, session), seconds());
        let matches =
            |(ends, known): &(u64, String)| *ends > now && bool::from(known.as_bytes().ct_eq(digest.as_bytes()));
        locked(&self.open).iter().fold(false, |found, known| found | matches(known))
    }

    /// Opens a session and returns its name. Waits for the disk.
    pub(super) fn open(&self, secret: &Secret) -> String {
        let session = hex(&rand::rng().random::<[u8; 32]>());
        let opened = (seconds() + LIFETIME.as_secs(), digest(secret, &session));
        self.change(|open| {
            open.push_back(opened);
            if open.len() > MOST_SESSIONS {
                open.pop_front();
            }
        });
        session
    }

    /// Closes a session. Waits for the disk.
    pub(super) fn close(&self, secret: &Secret, session: &str) {
        let digest = digest(secret, session);
        self.change(|open| open.retain(|(_, known)| *known != digest));
    }

    fn change(&self, change: impl FnOnce(&mut VecDeque<(u64, String)>)) {
        let _one_writer = locked(&self.writing);
        let text = {
            let mut open = locked(&self.open);
            change(&mut open);
            open.iter().map(|(ends, digest)| format!("{ends} {digest}\n")).collect::<String>()
        };
        if let Some(file) = &self.file
            && let Err(error) = write(file, &text)
        {
            let file = file.display();
            tracing::warn!(%error, "cannot write the page's sessions to {file}; after a restart the last ones hold");
        }
    }
}

fn text_of(file: &Path) -> io::Result<String> {
    let mut text = String::new();
    match File::open(file) {
        Ok(file) => file.take(LONGEST_FILE).read_to_string(&mut text).map(|_| text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(text),
        Err(error) => Err(error),
    }
}

/// Replaces the file as a whole. Only its owner may read it.
fn write(file: &Path, text: &str) -> io::Result<()> {
    let folder = file.parent().and_then(named).unwrap_or(Path::new("."));
    if text.is_empty() {
        return fs::remove_file(file).or_else(|error| match error.kind() {
            io::ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        });
    }
    let mut new = NamedTempFile::new_in(folder)?;
    new.write_all(text.as_bytes())?;
    new.as_file().sync_all()?;
    new.persist(file)?;
    Ok(())
}

fn digest(secret: &Secret, session: &str) -> String {
    let secret = secret.reveal().as_bytes();
    let hashed = Sha256::new().chain_update(secret.len().to_be_bytes()).chain_update(secret).chain_update(session);
    hex(&hashed.finalize())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn seconds() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oldest_sessions_are_dropped() {
        let (sessions, secret) = (Sessions::read(None), Secret::new("sesame"));
        let first = sessions.open(&secret);
        (0..MOST_SESSIONS).for_each(|_| drop(sessions.open(&secret)));
        assert!(!sessions.is_open(&secret, &first));
        assert_eq!(locked(&sessions.open).len(), MOST_SESSIONS);
    }

    #[test]
    fn file_keeps_open_sessions_alone() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("sessions");
        let (secret, read) = (Secret::new("sesame"), || Sessions::read(Some(file.clone())));
        let sessions = read();
        let [kept, closed] = [(); 2].map(|()| sessions.open(&secret));
        sessions.close(&secret, &closed);
        let text = fs::read_to_string(&file).expect("a file");
        assert!(!text.contains(&kept) && !text.contains("sesame"), "{text}");

        assert!(read().is_open(&secret, &kept) && !read().is_open(&secret, &closed));
        assert!(!read().is_open(&Secret::new("changed"), &kept), "another secret ends all sessions");
        read().close(&secret, &kept);
        assert!(!file.exists() && !read().is_open(&secret, &kept));
    }

    #[test]
    fn sessions_end_after_a_month() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("sessions");
        let secret = Secret::new("sesame");
        for (ends, is_open) in [(seconds() - 1, false), (seconds() + 3600, true)] {
            fs::write(&file, format!("{ends} {}\nnonsense\n", digest(&secret, "one"))).expect("written");
            assert_eq!(Sessions::read(Some(file.clone())).is_open(&secret, "one"), is_open);
        }
    }
}
