//! Identities of processes: name, run, and engine version, because votes are comparable only among
//! instances with the same knowledge.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::OnceLock,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BenchResult {
    /// The number of this program's version, and the node count of a short bench. Every change of the search or the evaluation
    /// changes that count.
    pub version: String,
    /// Speed of one core, in thousands of nodes a second.
    pub speed: u32,
}

impl BenchResult {
    /// Returns the result of the bench. The first call runs it, in a tenth of a second.
    pub fn now() -> &'static Self {
        static RESULT: OnceLock<BenchResult> = OnceLock::new();
        RESULT.get_or_init(|| {
            let bench = engine::short_bench();
            let milliseconds = bench.time.max(Duration::from_millis(1)).as_millis();
            Self {
                version: format!("{}-{}", env!("CARGO_PKG_VERSION"), bench.nodes),
                speed: u32::try_from(u128::from(bench.nodes) / milliseconds).unwrap_or(u32::MAX),
            }
        })
    }
}

/// One run of a process, drawn at random at its start: a restarted worker has another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RunId(pub u64);

impl RunId {
    pub fn draw() -> Self {
        Self(rand::random())
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Logged names: each once, even after restarts, and at most a thousand.
#[derive(Debug, Default)]
pub(super) struct NamesTold(BTreeSet<String>);

impl NamesTold {
    const MOST: usize = 1000;

    pub(crate) fn is_first(&mut self, sender: &Sender) -> bool {
        self.0.len() < Self::MOST && !self.0.contains(&sender.name) && self.0.insert(sender.name.clone())
    }
}

/// Detects another worker of the same name, by commands for another run.
#[derive(Debug)]
pub(super) struct Namesake {
    begun: Instant,
    is_told: bool,
}

impl Namesake {
    /// The time after the start with commands for a killed process of this name: a daemon notices a
    /// loss within a second, and no message takes longer than the rest.
    const KILLED_BEFORE: Duration = Duration::from_secs(5);

    pub(super) fn none(begun: Instant) -> Self {
        Self { begun, is_told: false }
    }

    /// Takes a command for another run; returns true if another worker is to be logged now.
    pub(super) fn is_news(&mut self, now: Instant) -> bool {
        let may_be_old = now.saturating_duration_since(self.begun) < Self::KILLED_BEFORE;
        !may_be_old && !std::mem::replace(&mut self.is_told, true)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Its name, from the subject of the message; the server enforces it.
    pub name: String,
    /// Run of its process: only a claim. It belongs to its first name.
    pub run: RunId,
}

/// Owners of runs: a run belongs to its first name, until a minute of silence.
#[derive(Debug, Default)]
pub(super) struct RunOwners(BTreeMap<RunId, (String, Instant)>);

impl RunOwners {
    const MOST: usize = 10_000;
    /// Maximum number of runs of one name: after restarts a daemon has several for a while, each with
    /// a part of the cores. Runs with polls only do not count.
    const MOST_OF_ONE: usize = 16;
    const KEPT: Duration = Duration::from_secs(60);

    /// Returns true if the sender may poll under this run: the run is its own or free.
    pub(super) fn may_ask(&mut self, now: Instant, sender: &Sender) -> bool {
        match self.0.get_mut(&sender.run) {
            Some((owner, heard)) if *owner == sender.name => {
                *heard = now;
                true
            }
            Some((_, heard)) => now.saturating_duration_since(*heard) > Self::KEPT,
            None => true,
        }
    }

    /// Returns true if the sender may give commands under this run, and makes the run its own; false
    /// if the run belongs to another name, or there are too many runs.
    pub(super) fn admits(&mut self, now: Instant, sender: &Sender) -> bool {
        if self.0.len() >= Self::MOST {
            self.0.retain(|_, (_, heard)| now.saturating_duration_since(*heard) < Self::KEPT);
        }
        let is_new = !self.0.contains_key(&sender.run);
        if is_new && (self.0.len() >= Self::MOST || self.of(now, &sender.name) >= Self::MOST_OF_ONE) {
            return false;
        }
        match self.0.get_mut(&sender.run) {
            Some((owner, heard)) if *owner == sender.name || now.saturating_duration_since(*heard) > Self::KEPT => {
                (*owner, *heard) = (sender.name.clone(), now);
                true
            }
            Some(_) => false,
            None => {
                self.0.insert(sender.run, (sender.name.clone(), now));
                true
            }
        }
    }

    fn of(&self, now: Instant, name: &str) -> usize {
        let is_recent = |heard: &Instant| now.saturating_duration_since(*heard) <= Self::KEPT;
        self.0.values().filter(|(owner, heard)| owner == name && is_recent(heard)).count()
    }

    pub(super) fn name(&self, run: RunId) -> Option<&str> {
        self.0.get(&run).map(|(name, _)| name.as_str())
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessIdentity {
    pub sender: Sender,
    pub version: String,
}

impl ProcessIdentity {
    pub fn new(name: &str) -> Self {
        let sender = Sender { name: name.to_owned(), run: RunId::draw() };
        Self { sender, version: BenchResult::now().version.clone() }
    }
}

/// Returns the default name of a machine: its host name, with `-` for characters forbidden in
/// subjects.
pub(crate) fn host_name() -> String {
    let name = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' };
    let name: String = name.chars().map(plain).take(64).collect();
    if name.is_empty() { "unnamed".to_owned() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_belongs_to_its_first_name() {
        let (mut owners, now) = (RunOwners::default(), Instant::now());
        let sender = |name: &str| Sender { name: name.to_owned(), run: RunId(7) };
        assert!(owners.admits(now, &sender("daemon")) && owners.admits(now, &sender("daemon")));
        assert!(!owners.admits(now, &sender("forger")));
        let later = now + RunOwners::KEPT + Duration::from_secs(1);
        assert!(owners.admits(later, &sender("forger")), "the run was unused for long");
    }

    #[test]
    fn a_name_has_no_more_for_many_runs() {
        let (mut owners, now) = (RunOwners::default(), Instant::now());
        let sender = |name: &str, run| Sender { name: name.to_owned(), run: RunId(run) };
        let admitted = (0..1000).filter(|run| owners.admits(now, &sender("greedy", *run))).count();
        assert_eq!(admitted, RunOwners::MOST_OF_ONE);
        assert!(owners.admits(now, &sender("honest", 1000)));
        let later = now + RunOwners::KEPT + Duration::from_secs(1);
        assert!(owners.admits(later, &sender("greedy", 1001)), "its earlier runs are gone");
    }

    #[test]
    fn questions_take_no_place() {
        let (mut owners, now) = (RunOwners::default(), Instant::now());
        let sender = |name: &str, run| Sender { name: name.to_owned(), run: RunId(run) };
        assert!((0..1000).all(|run| owners.may_ask(now, &sender("curious", run))));
        assert!(owners.admits(now, &sender("curious", 1000)) && owners.name(RunId(0)).is_none());
        assert!(!owners.may_ask(now, &sender("forger", 1000)) && owners.may_ask(now, &sender("curious", 1000)));
        let later = now + RunOwners::KEPT + Duration::from_secs(1);
        assert!(owners.may_ask(later, &sender("forger", 1000)) && owners.name(RunId(1000)) == Some("curious"));
    }

    #[test]
    fn other_version_is_reported_once() {
        let mut told = NamesTold::default();
        let sender = |name: &str, run| Sender { name: name.to_owned(), run: RunId(run) };
        assert_eq!((0..5000).filter(|run| told.is_first(&sender("old", *run))).count(), 1);
        assert!(told.is_first(&sender("another", 5000)));
    }

    #[test]
    fn killed_worker_is_no_namesake() {
        let begun = Instant::now();
        let mut namesake = Namesake::none(begun);
        assert!(!namesake.is_news(begun + Duration::from_millis(700)), "its daemon has not missed it yet");
        let later = begun + Namesake::KILLED_BEFORE;
        assert!(namesake.is_news(later) && !namesake.is_news(later), "once");
    }

    #[test]
    fn host_names_are_valid_in_subjects() {
        assert!(crate::subjects::is_member_name(&host_name()));
    }
}
