//! Progress of an experiment: a bar with the time left on a terminal, occasional plain lines
//! elsewhere. Also the location of its state.

use std::{
    env, fs,
    io::{self, IsTerminal},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    thread::available_parallelism,
    time::{Duration, Instant},
};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use crate::state::{ExperimentState, experiment_of, file_checksum, fnv1a, forget, short_name};
use util::Failure;

const PLAIN_LINES: Duration = Duration::from_secs(30);

/// Shows how far something has come, on standard error.
pub struct ProgressDisplay {
    bar: ProgressBar,
    plain: bool,
    last: Option<Instant>,
}

impl ProgressDisplay {
    /// Creates the progress of `parts` parts, of which some may be done already.
    pub fn new(parts: usize, unit: &str) -> Self {
        let plain = !io::stderr().is_terminal();
        let target = if plain { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(Some(parts as u64), target);
        let template = format!("{{wide_bar}} {{pos}}/{{len}} {unit}, {{eta}} left  {{msg}}");
        if let Ok(style) = ProgressStyle::with_template(&template) {
            bar.set_style(style);
        }
        Self { bar, plain, last: None }
    }

    /// Shows that `done` parts are done; `say` returns the results so far.
    pub fn at(&mut self, done: usize, say: impl FnOnce() -> String) {
        if self.last.is_none() {
            // Parts of an earlier run say nothing about the time left.
            self.bar.set_position(done as u64);
            self.bar.reset_eta();
        }
        self.bar.set_position(done as u64);
        let due = self.last.is_none_or(|last| last.elapsed() >= PLAIN_LINES);
        if !self.plain {
            self.bar.set_message(say());
        } else if due {
            let total = self.bar.length().unwrap_or_default();
            // The first line knows nothing of the speed yet.
            let left = self.last.map(|_| format!(", {} s left", self.bar.eta().as_secs())).unwrap_or_default();
            eprintln!("{done}/{total}{left}  {}", say());
        }
        if due {
            self.last = Some(Instant::now());
        }
    }

    pub fn end(self) {
        self.bar.finish_and_clear();
    }
}

/// A bar for each of the things that are done one after another.
#[derive(Default)]
pub struct Bars(Option<(String, ProgressDisplay)>);

impl Bars {
    /// Shows that `done` of `of` units of `what` are done; parts of an earlier run are not counted.
    pub fn at(&mut self, what: &str, done: usize, of: usize) {
        if of == 0 {
            return;
        }
        if self.0.as_ref().is_none_or(|(now, _)| now != what) {
            self.end();
            self.0 = Some((what.to_owned(), ProgressDisplay::new(of, what)));
        }
        if let Some((what, bar)) = &mut self.0 {
            bar.at(done, || what.clone());
        }
    }

    pub fn end(&mut self) {
        if let Some((_, last)) = self.0.take() {
            last.end();
        }
    }
}

/// Location of an experiment's state.
#[derive(Clone, Debug, Args)]
pub struct StateFile {
    /// File of the state, from which a stopped experiment continues [default: a file in data/lab
    /// named by the experiment and this build]
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// Forget what was done so far
    #[arg(long)]
    fresh: bool,
}

impl StateFile {
    /// Opens the state of an experiment. `kind` begins the file's name; `files` are those that the outcome depends on.
    pub fn open<T: Serialize + DeserializeOwned>(
        &self,
        kind: &str,
        mut experiment: Value,
        files: &[PathBuf],
    ) -> Result<ExperimentState<T>, Failure> {
        let path = self.path(kind, &mut experiment, files)?;
        opened(&path, &experiment)
    }

    /// Opens the state of an experiment that depends on a measurement, which a continued experiment keeps.
    pub fn open_measured<T: Serialize + DeserializeOwned>(
        &self,
        kind: &str,
        mut experiment: Value,
        files: &[PathBuf],
        name: &str,
        measure: impl FnOnce() -> Result<Value, Failure>,
    ) -> Result<(ExperimentState<T>, Value), Failure> {
        let path = self.path(kind, &mut experiment, files)?;
        let before = experiment_of(&path).and_then(|before| before.get(name).cloned());
        let measured = before.map_or_else(measure, Ok)?;
        experiment[name] = measured.clone();
        Ok((opened(&path, &experiment)?, measured))
    }

    /// Returns the file of one of several experiments of a command: a named file gets its number.
    pub fn numbered(&self, number: usize) -> Self {
        let of_this = |path: &PathBuf| {
            let mut name = path.clone().into_os_string();
            name.push(format!(".{number}"));
            PathBuf::from(name)
        };
        Self { state: self.state.as_ref().map(of_this), fresh: self.fresh }
    }

    /// Returns the file, which `--fresh` removes first. Adds the build and the checksums of `files` to the experiment.
    fn path(&self, kind: &str, experiment: &mut Value, files: &[PathBuf]) -> Result<PathBuf, Failure> {
        experiment["build"] = Value::from(build());
        experiment["files"] = checksums(files).into();
        let usual = || Path::new("data/lab").join(format!("{kind}-{}.jsonl", short_name(experiment)));
        let path = self.state.clone().unwrap_or_else(usual);
        if self.fresh {
            forget(&path)?;
        }
        Ok(path)
    }
}

/// The state in a file; says so if there is anything in it.
fn opened<T: Serialize + DeserializeOwned>(path: &Path, experiment: &Value) -> Result<ExperimentState<T>, Failure> {
    let state = ExperimentState::open(path, experiment)?;
    if !state.done().is_empty() {
        eprintln!("goes on from {} (--fresh begins anew)", path.display());
    }
    Ok(state)
}

/// Returns an identifier of this build: an experiment must not mix two builds.
pub fn build() -> String {
    let program = env::current_exe().and_then(fs::read).map(|bytes| format!("{:016x}", fnv1a(&bytes)));
    program.unwrap_or_else(|_| env!("CARGO_PKG_VERSION").to_owned())
}

/// Returns the checksums of the files that an experiment depends on: another net, book or program
/// under the same name makes it another experiment.
fn checksums(files: &[PathBuf]) -> Map<String, Value> {
    files.iter().filter_map(|file| Some((file.display().to_string(), file_checksum(file)?.into()))).collect()
}

/// Returns the failure of an experiment that was stopped, of which everything done is kept.
pub fn stopped() -> Failure {
    Failure::failed("stopped; the same command goes on from there")
}

pub fn write(flag: &str, path: &Path, text: &str) -> Result<(), Failure> {
    fs::write(path, text).map_err(|error| Failure::failed(format_args!("{flag} {}: {error}", path.display())))
}

/// All that an experiment depends on: these facts and, by the clock, the cores and the work done at once.
pub fn experiment(mut facts: Value, by_clock: bool, workers: NonZeroUsize) -> Value {
    if by_clock {
        facts["cores"] = json!([or_each_core(None), workers]);
    }
    facts
}

/// Returns `count`, or the number of cores.
pub fn or_each_core(count: Option<NonZeroUsize>) -> NonZeroUsize {
    count.or(available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_net_makes_a_new_experiment() {
        let folder = tempfile::tempdir().expect("a folder");
        let files = [folder.path().join("n.net"), folder.path().join("no such file")];
        let of = |bytes: &[u8]| {
            fs::write(&files[0], bytes).expect("a file");
            checksums(&files)
        };
        let (first, second) = (of(b"one"), of(b"two"));
        assert_eq!(first.keys().collect::<Vec<_>>(), [&files[0].display().to_string()]);
        assert_ne!(first, second);
        assert_eq!(of(b"one"), first);
    }

    #[test]
    fn each_experiment_has_its_own_file() {
        let state = |text: &str| Some(PathBuf::from(text));
        let named = StateFile { state: state("cup.jsonl"), fresh: true };
        assert_eq!([1, 2].map(|number| named.numbered(number).state), [state("cup.jsonl.1"), state("cup.jsonl.2")]);
        assert!(named.numbered(1).fresh);
        assert_eq!(StateFile { state: None, fresh: false }.numbered(1).state, None);
    }

    #[test]
    fn resumed_run_keeps_its_measurements() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = |speed: u32, fresh: bool| {
            let file = StateFile { state: Some(folder.path().join("match.jsonl")), fresh };
            let measure = || Ok(json!({ "mp": speed }));
            let (mut state, speeds) = file
                .open_measured::<Value>("match", json!({"games": 2}), &[], "measured", measure)
                .unwrap_or_else(|error| panic!("{error}"));
            state.record(0, json!({"score": 1})).expect("it is kept");
            speeds
        };
        assert_eq!(open(2, false), json!({"mp": 2}));
        assert_eq!(open(3, false), json!({"mp": 2}), "the games before were played so");
        assert_eq!(open(3, true), json!({"mp": 3}));
    }
}
