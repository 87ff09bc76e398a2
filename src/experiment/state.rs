//! State of a long experiment, in a file from which a stopped one continues.
//!
//! JSON, a line an item: first the experiment itself, then the number and result of each part in
//! order of completion. A line that was being written when the power failed, or the disk was full, is
//! dropped. The finished experiment is always computed from all items in their order, so that a
//! continued experiment gives the same result as one never stopped. One process at a time works on
//! a file.

use std::{
    collections::BTreeMap,
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, BufRead, BufReader, Read, Write},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;

use crate::parallel::in_parallel;

#[derive(Debug)]
pub struct ExperimentState<T> {
    path: PathBuf,
    file: Option<File>,
    done: BTreeMap<usize, T>,
}

#[derive(Debug, thiserror::Error)]
pub enum StateError {
    #[error("state {path}: {error}")]
    File { path: PathBuf, error: io::Error },
    #[error("state {0}: of another experiment or another build; name another file, or begin anew with --fresh")]
    Other(PathBuf),
    /// The same command runs already: what both did would stand there twice.
    #[error("state {0}: another process is at work on it; wait until that has ended")]
    InUse(PathBuf),
}

impl<T> Drop for ExperimentState<T> {
    /// Unlocks the file. Closing is not enough: a program that this process is just starting may
    /// have it open for a moment longer.
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = file.unlock();
        }
    }
}

/// Keeps other processes from a file of states. A file system without locks is used without one.
fn lock(file: &File, path: &Path) -> Result<(), StateError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(StateError::InUse(path.to_owned())),
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

impl<T: Serialize + DeserializeOwned> ExperimentState<T> {
    /// Opens the file of an experiment, or begins it. `experiment` is everything that its outcome depends on.
    pub fn open(path: &Path, experiment: &Value) -> Result<Self, StateError> {
        let failure = |error| StateError::File { path: path.to_owned(), error };
        let other = || StateError::Other(path.to_owned());
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failure)?;
        }
        let opened = OpenOptions::new().create(true).read(true).append(true).open(path).map_err(failure)?;
        lock(&opened, path)?;
        let mut state = Self { path: path.to_owned(), file: None, done: BTreeMap::new() };
        let file = state.file.insert(opened);
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
        let part = |line: &str| serde_json::from_str::<(usize, T)>(line).map_err(|_| other());
        state.done = lines.map(part).collect::<Result<_, _>>()?;
        if whole < bytes.len() {
            file.set_len(whole as u64).map_err(failure)?;
        }
        if whole == 0 {
            file.write_all(head.as_bytes()).map_err(failure)?;
        }
        Ok(state)
    }

    pub fn in_memory() -> Self {
        Self { path: PathBuf::new(), file: None, done: BTreeMap::new() }
    }

    pub fn done(&self) -> &BTreeMap<usize, T> {
        &self.done
    }

    pub fn record(&mut self, part: usize, outcome: T) -> Result<(), StateError> {
        if let Some(file) = &mut self.file {
            let written = serde_json::to_string(&(part, &outcome))
                .map_err(io::Error::from)
                .and_then(|line| file.write_all(format!("{line}\n").as_bytes()));
            written.map_err(|error| StateError::File { path: self.path.clone(), error })?;
        }
        self.done.insert(part, outcome);
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
        let (halted, one) = (|| stop.load(Ordering::Relaxed), |worker: &mut W, part: &usize| one(worker, *part));
        in_parallel(&undone, workers, halted, begin, one, |part, outcome| {
            self.record(*part, outcome)?;
            progress(self.done.len(), all);
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

/// Removes a file of states, if there is one. [`StateError::InUse`] if another process is at work on it.
pub fn forget(path: &Path) -> Result<(), StateError> {
    let failure = |error| StateError::File { path: path.to_owned(), error };
    match OpenOptions::new().append(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        opened => {
            let file = opened.map_err(failure)?;
            lock(&file, path)?;
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

    #[test]
    fn state_survives_a_torn_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("deep/state.jsonl");
        let experiment = json!({"games": 10});
        let mut state = ExperimentState::open(&path, &experiment).expect("a new state");
        state.record(3, 0.1 + 0.2).expect("it is kept");
        state.record(0, 1.0).expect("it is kept");
        drop(state);
        let mut torn = OpenOptions::new().append(true).open(&path).expect("the file");
        // In the middle of a letter.
        torn.write_all(b"[7,\"sco\xc3").expect("half a line");

        let again = ExperimentState::<f64>::open(&path, &experiment).expect("the same experiment");
        assert_eq!(again.done().keys().copied().collect::<Vec<_>>(), [0, 3]);
        assert_eq!(again.done().get(&3), Some(&(0.1 + 0.2)), "to the last bit");
        assert!(fs::read_to_string(&path).expect("text").ends_with("]\n"), "the torn line is gone");
    }

    #[test]
    fn foreign_state_is_not_changed() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.jsonl");
        drop(ExperimentState::<f64>::open(&path, &json!({"seed": 1})).expect("a new state"));
        let other = ExperimentState::<f64>::open(&path, &json!({"seed": 2}));
        assert!(matches!(other, Err(StateError::Other(_))), "{other:?}");
        for something in ["{\"a list\": []}", "one line", "Gr\u{fc}nfeld\n"] {
            fs::write(&path, something).expect("writable");
            let other = ExperimentState::<f64>::open(&path, &json!({"seed": 1}));
            assert!(matches!(other, Err(StateError::Other(_))), "{other:?}");
            assert_eq!(fs::read_to_string(&path).expect("text"), something);
        }
    }

    #[test]
    fn torn_header_starts_a_new_state() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.jsonl");
        fs::write(&path, "{\"seed\"").expect("writable");
        drop(ExperimentState::<f64>::open(&path, &json!({"seed": 1})).expect("nothing was done yet"));
        assert_eq!(experiment_of(&path), Some(json!({"seed": 1})));
    }

    #[test]
    fn locked_state_is_not_opened() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.jsonl");
        let experiment = json!({"seed": 1});
        let mut first = ExperimentState::open(&path, &experiment).expect("a new state");
        // A file that is opened twice has two locks, as in two processes.
        let second = ExperimentState::<f64>::open(&path, &experiment);
        assert!(matches!(second, Err(StateError::InUse(_))), "{second:?}");
        assert!(matches!(forget(&path), Err(StateError::InUse(_))), "the state belongs to another process");
        first.record(0, 1.0).expect("it is kept");
        // A program that is just starting has the file open in the same way.
        let inherited = first.file.as_ref().expect("a file").try_clone().expect("the file once more");
        drop(first);
        let second = ExperimentState::<f64>::open(&path, &experiment).expect("the same experiment");
        assert_eq!(second.done().len(), 1);
        drop((second, inherited));
        assert!(forget(&path).is_ok() && !path.exists() && forget(&path).is_ok(), "what is not there is forgotten");
    }
}
