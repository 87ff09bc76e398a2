//! State of a long experiment, in a file from which a stopped one continues.
//!
//! JSON, a line an item: first the experiment itself, then the results of its parts in order of
//! completion. A line that was being written when the power failed, or the disk was full, is
//! dropped. The finished experiment is always computed from all items in their order, so that a
//! continued experiment gives the same result as one never stopped. One process at a time works on
//! a file.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Read, Write},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread,
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::Value;

/// The parts that are done, and the file that keeps them.
#[derive(Debug)]
pub struct ExperimentState<T> {
    path: PathBuf,
    file: Option<LockedFile>,
    done: BTreeMap<usize, T>,
}

#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The file cannot be read or written.
    #[error("state {path}: {error}")]
    File { path: PathBuf, error: io::Error },
    /// It belongs to something else.
    #[error("state {0}: of another experiment or another build; name another file, or begin anew with --fresh")]
    Other(PathBuf),
    /// The same command runs already: what both did would stand there twice.
    #[error("state {0}: another process is at work on it; wait until that has ended")]
    InUse(PathBuf),
}

/// A file of states that no other process works on. A file system without locks is used without one.
#[derive(Debug)]
struct LockedFile(File);

impl LockedFile {
    fn take(file: File, path: &Path) -> Result<Self, StateError> {
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => Err(StateError::InUse(path.to_owned())),
            Ok(()) | Err(TryLockError::Error(_)) => Ok(Self(file)),
        }
    }
}

impl Drop for LockedFile {
    /// Unlocks the file. Closing is not enough: a program that this process is just starting may
    /// have it open for a moment longer.
    fn drop(&mut self) {
        let _ = self.0.unlock();
    }
}

/// Writes a file beside its place and moves it there, so that it is never half written.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    fs::write(&part, text)?;
    fs::rename(&part, path)
}

#[derive(Serialize, Deserialize)]
struct Item<T> {
    part: usize,
    #[serde(flatten)]
    outcome: T,
}

impl<T: Serialize + DeserializeOwned> ExperimentState<T> {
    /// Opens the file of an experiment, or begins it. `experiment` is everything that its outcome depends on.
    ///
    /// # Errors
    /// [`StateError`] if the file cannot be used, is used by another process, or is of another experiment.
    pub fn open(path: &Path, experiment: &Value) -> Result<Self, StateError> {
        let failure = |error| StateError::File { path: path.to_owned(), error };
        let other = || StateError::Other(path.to_owned());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failure)?;
        }
        let opened = OpenOptions::new().create(true).read(true).append(true).open(path);
        let mut locked = LockedFile::take(opened.map_err(failure)?, path)?;
        let file = &mut locked.0;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(failure)?;
        let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut lines = str::from_utf8(&bytes[..whole]).map_err(|_| other())?.lines();
        let head = format!("{experiment}\n");
        match lines.next() {
            Some(line) if serde_json::from_str::<Value>(line).ok().as_ref() != Some(experiment) => return Err(other()),
            // Something else may be a single line without an end.
            None if !head.as_bytes().starts_with(&bytes) => return Err(other()),
            _ => {}
        }
        let item = |line: &str| -> Result<(usize, T), StateError> {
            let Item { part, outcome } = serde_json::from_str(line).map_err(|_| other())?;
            Ok((part, outcome))
        };
        let done = lines.map(item).collect::<Result<BTreeMap<_, _>, _>>()?;
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(failure)?;
        }
        if whole == 0 {
            file.write_all(head.as_bytes()).map_err(failure)?;
        }
        Ok(Self { path: path.to_owned(), file: Some(locked), done })
    }

    /// A state that no file keeps.
    pub fn in_memory() -> Self {
        Self { path: PathBuf::new(), file: None, done: BTreeMap::new() }
    }

    pub fn done(&self) -> &BTreeMap<usize, T> {
        &self.done
    }

    /// Keeps what a part gave.
    pub fn record(&mut self, part: usize, outcome: T) -> Result<(), StateError> {
        let item = Item { part, outcome };
        if let Some(LockedFile(file)) = &mut self.file {
            let written = serde_json::to_string(&item)
                .map_err(io::Error::from)
                .and_then(|line| file.write_all(format!("{line}\n").as_bytes()));
            written.map_err(|error| StateError::File { path: self.path.clone(), error })?;
        }
        self.done.insert(part, item.outcome);
        Ok(())
    }

    /// Does the parts below `all` that are not done, several at once, each worker with what `begin` makes for it. `false` if `stop`
    /// was set before the end.
    ///
    /// # Errors
    /// The first that a part gives, or [`StateError`] if one cannot be kept; nothing more is begun after it.
    pub fn complete<W, E: From<StateError> + Send>(
        &mut self,
        all: usize,
        workers: NonZeroUsize,
        stop: &AtomicBool,
        mut progress: impl FnMut(usize, usize),
        begin: impl Fn() -> W + Sync,
        one: impl Fn(&mut W, usize) -> Result<T, E> + Sync,
    ) -> Result<bool, E>
    where
        T: Send,
    {
        let undone: Vec<usize> = (0..all).filter(|part| !self.done.contains_key(part)).collect();
        progress(self.done.len(), all);
        let (next, broken) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            let (sender, outcomes) = mpsc::channel();
            for _ in 0..workers.get().min(undone.len()) {
                let (sender, undone, next, broken, begin, one) =
                    (sender.clone(), &undone, &next, &broken, &begin, &one);
                scope.spawn(move || {
                    let mut worker = begin();
                    let halted = || stop.load(Ordering::Relaxed) || broken.load(Ordering::Relaxed);
                    while let Some(part) = undone.get(next.fetch_add(1, Ordering::Relaxed)).filter(|_| !halted()) {
                        if sender.send((*part, one(&mut worker, *part))).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            for (part, outcome) in outcomes {
                let kept = outcome.and_then(|outcome| Ok(self.record(part, outcome)?));
                if kept.is_err() {
                    broken.store(true, Ordering::Relaxed);
                    return kept;
                }
                progress(self.done.len(), all);
            }
            Ok(())
        })?;
        Ok((0..all).all(|part| self.done.contains_key(&part)))
    }
}

/// The experiment that a file of states belongs to, if there is one.
pub fn experiment_of(path: &Path) -> Option<Value> {
    let mut line = String::new();
    BufReader::new(File::open(path).ok()?).read_line(&mut line).ok()?;
    serde_json::from_str(&line).ok()
}

/// Forgets what a file of states has, if there is one.
///
/// # Errors
/// [`StateError`] if it cannot be removed, or another process is at work on it.
pub fn forget(path: &Path) -> Result<(), StateError> {
    let failure = |error| StateError::File { path: path.to_owned(), error };
    match OpenOptions::new().append(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        opened => {
            let _locked = LockedFile::take(opened.map_err(failure)?, path)?;
            fs::remove_file(path).map_err(failure)
        }
    }
}

/// A short name for an experiment, for its state file: FNV-1a over its text.
pub fn short_name(experiment: &Value) -> String {
    format!("{:016x}", fnv1a(experiment.to_string().as_bytes()))
}

/// A hash for names and seeds, equal on every machine and in every build.
pub use engine::checksum as fnv1a;

/// Returns a checksum of a file, or `None` if it cannot be read.
pub fn file_checksum(file: &Path) -> Option<String> {
    let bytes = fs::read(file).ok()?;
    Some(format!("{:016x}", fnv1a(&bytes)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
    struct Outcome {
        score: f64,
    }

    #[test]
    fn state_survives_a_torn_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep/state.jsonl");
        let experiment = json!({"games": 10});
        let mut state = ExperimentState::open(&path, &experiment).expect("a new state");
        state.record(3, Outcome { score: 0.1 + 0.2 }).expect("it is kept");
        state.record(0, Outcome { score: 1.0 }).expect("it is kept");
        drop(state);
        let mut torn = OpenOptions::new().append(true).open(&path).expect("the file");
        // In the middle of a letter.
        torn.write_all(b"{\"part\":7,\"sco\xc3").expect("half a line");

        let again = ExperimentState::<Outcome>::open(&path, &experiment).expect("the same experiment");
        assert_eq!(again.done().keys().copied().collect::<Vec<_>>(), [0, 3]);
        assert_eq!(again.done().get(&3), Some(&Outcome { score: 0.1 + 0.2 }), "to the last bit");
        assert!(fs::read_to_string(&path).expect("text").ends_with("}\n"), "the torn line is gone");
    }

    #[test]
    fn foreign_state_is_not_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.jsonl");
        drop(ExperimentState::<Outcome>::open(&path, &json!({"seed": 1})).expect("a new state"));
        let other = ExperimentState::<Outcome>::open(&path, &json!({"seed": 2}));
        assert!(matches!(other, Err(StateError::Other(_))), "{other:?}");
        for something in ["{\"a list\": []}", "one line", "Gr\u{fc}nfeld\n"] {
            fs::write(&path, something).expect("writable");
            let other = ExperimentState::<Outcome>::open(&path, &json!({"seed": 1}));
            assert!(matches!(other, Err(StateError::Other(_))), "{other:?}");
            assert_eq!(fs::read_to_string(&path).expect("text"), something);
        }
    }

    #[test]
    fn torn_header_starts_a_new_state() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.jsonl");
        fs::write(&path, "{\"seed\"").expect("writable");
        drop(ExperimentState::<Outcome>::open(&path, &json!({"seed": 1})).expect("nothing was done yet"));
        assert_eq!(experiment_of(&path), Some(json!({"seed": 1})));
    }

    #[test]
    fn locked_state_is_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.jsonl");
        let experiment = json!({"seed": 1});
        let mut first = ExperimentState::open(&path, &experiment).expect("a new state");
        // Who opens the file once more is as good as another process.
        let second = ExperimentState::<Outcome>::open(&path, &experiment);
        assert!(matches!(second, Err(StateError::InUse(_))), "{second:?}");
        assert!(matches!(forget(&path), Err(StateError::InUse(_))), "the state belongs to another process");
        first.record(0, Outcome { score: 1.0 }).expect("it is kept");
        // As it is while a program is being started.
        let inherited = first.file.as_ref().expect("a file").0.try_clone().expect("the file once more");
        drop(first);
        let second = ExperimentState::<Outcome>::open(&path, &experiment).expect("the same experiment");
        assert_eq!(second.done().len(), 1);
        drop((second, inherited));
        assert!(forget(&path).is_ok() && !path.exists() && forget(&path).is_ok(), "what is not there is forgotten");
    }
}
