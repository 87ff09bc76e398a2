//! Searches of single positions, each done once and kept.
//!
//! An experiment names the searches it needs as [`SearchQuery`]s; those that no earlier run has done are done now, on all cores,
//! each from an empty table, and kept in a file, so that every figure can be computed again, another criterion tried, or an
//! experiment taken up after Ctrl-C without searching again. With node budgets of one thread a search is the same on any
//! machine.

use std::{
    collections::HashMap,
    fs::{self, File, OpenOptions},
    io::{self, Write},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use serde::{Deserialize, Serialize};

use super::{
    player::Pace,
    program_files::files_of_program,
    state::{file_checksum, fnv1a},
};
use council::electors::{ElectorKind, ElectorSpec, SearchReport, Slot, Task, local_slot};
use domain::{Bound, ElectorName, Line, Phase, Proposal, Score, SearchId, UciMove};
use experiment::in_parallel;
use util::Failure;

#[derive(Clone, Debug)]
pub struct SearchQuery {
    pub elector: ElectorSpec,
    /// The position, with the moves that led to it.
    pub line: Arc<Line>,
    /// The moves to look at; all legal ones if empty.
    pub root_moves: Vec<UciMove>,
    /// Limit of the search. A clock stands for no limit.
    pub budget: Pace,
}

impl SearchQuery {
    /// A search of all moves of a position from an empty table.
    pub fn new(elector: &ElectorSpec, line: &Arc<Line>, budget: Pace) -> Self {
        Self { elector: elector.clone(), line: Arc::clone(line), root_moves: Vec::new(), budget }
    }
}

/// Result of a search: its iterations, the last one last.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    iterations: Vec<FoundIteration>,
    /// The principal variation of the last.
    #[serde(with = "super::move_text::list")]
    line: Vec<UciMove>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct FoundIteration {
    #[serde(rename = "m", with = "super::move_text")]
    best: UciMove,
    #[serde(rename = "s")]
    score: Score,
    #[serde(rename = "b", default, skip_serializing_if = "is_default")]
    bound: Bound,
    #[serde(rename = "d")]
    depth: u32,
    #[serde(rename = "r", default, skip_serializing_if = "is_default")]
    root_moves_done: u32,
    #[serde(rename = "n")]
    nodes: u64,
}
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Found {
    fn add(&mut self, proposal: Proposal) {
        self.iterations.push(FoundIteration {
            best: proposal.best,
            score: proposal.score,
            bound: proposal.bound,
            depth: proposal.depth,
            root_moves_done: proposal.root_moves_done,
            nodes: proposal.nodes,
        });
        self.line = proposal.pv;
    }

    pub fn best(&self) -> Option<UciMove> {
        self.iterations.last().map(|iteration| iteration.best)
    }

    /// Its value, from the side of the player to move.
    pub fn score(&self) -> Option<Score> {
        self.iterations.last().map(|iteration| iteration.score)
    }

    pub fn nodes(&self) -> u64 {
        self.iterations.last().map_or(0, |iteration| iteration.nodes)
    }

    /// Returns the proposal that the search makes in a council.
    pub fn proposal(&self, elector: &ElectorName) -> Option<Proposal> {
        let last = self.iterations.last()?;
        Some(proposal(last, elector, self.line.clone()))
    }

    /// Returns the proposal that the search had at this share (0 to 1) of its budget: the last
    /// iteration completed by then, or the first of all. In budgets of time, nodes stand for time.
    pub fn proposal_at(&self, share: f64, budget: Pace, elector: &ElectorName) -> Option<Proposal> {
        let whole = match budget {
            Pace::Nodes(nodes) => nodes.max(self.nodes()),
            Pace::MoveTime(_) | Pace::Clock { .. } | Pace::Depth(_) => self.nodes(),
        };
        let nodes = (whole as f64 * share) as u64;
        let by_then = self.iterations.iter().rev().find(|iteration| iteration.nodes <= nodes);
        let iteration = by_then.or(self.iterations.first())?;
        Some(proposal(iteration, elector, vec![iteration.best]))
    }
}

fn proposal(iteration: &FoundIteration, elector: &ElectorName, pv: Vec<UciMove>) -> Proposal {
    Proposal {
        bound: iteration.bound,
        depth: iteration.depth,
        selective_depth: iteration.depth,
        root_moves_done: iteration.root_moves_done,
        nodes: iteration.nodes,
        pv,
        ..Proposal::of_one_ply(
            SearchId { game: "lab".into(), ply: 0, serial: 0, phase: Phase::First },
            elector.clone(),
            iteration.best,
            iteration.score,
        )
    }
}

#[derive(Debug)]
pub struct Searches {
    known: HashMap<u64, Found>,
    path: PathBuf,
    file: Option<File>,
    workers: NonZeroUsize,
    /// Checksums of the files of programs, by command: no file is read twice.
    programs: Mutex<HashMap<String, String>>,
}

#[derive(Serialize, Deserialize)]
struct KeptSearch {
    key: u64,
    #[serde(flatten)]
    found: Found,
}

impl Searches {
    /// Opens the searches of a file, or creates it. Unreadable lines are skipped.
    pub fn open(path: &Path, workers: NonZeroUsize) -> Result<Self, Failure> {
        let failure = |error| failed(path, &error);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(failure)?;
        }
        let text = match fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(failure(error)),
        };
        let entries = text.lines().filter_map(|line| serde_json::from_str::<KeptSearch>(line).ok());
        let known = entries.map(|KeptSearch { key, found }| (key, found)).collect();
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(failure)?;
        if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n").map_err(failure)?;
        }
        Ok(Self { known, path: path.to_owned(), file: Some(file), workers, programs: Mutex::default() })
    }

    pub fn in_memory(workers: NonZeroUsize) -> Self {
        Self { known: HashMap::new(), path: PathBuf::new(), file: None, workers, programs: Mutex::default() }
    }

    pub fn get(&self, request: &SearchQuery) -> Option<&Found> {
        self.known.get(&self.key(request))
    }

    fn key(&self, request: &SearchQuery) -> u64 {
        let SearchQuery { elector, line, root_moves, budget } = request;
        let mut moves: Vec<String> = root_moves.iter().map(ToString::to_string).collect();
        moves.sort();
        let files = self.files_of(elector);
        fnv1a(format!("{elector:?}|{}|{}|{budget}|{files}", line.fen(), moves.join(" ")).as_bytes())
    }

    /// Returns the checksums of the files of an elector's program: another version of an engine
    /// mostly has the same name. Empty for an elector of our own.
    fn files_of(&self, elector: &ElectorSpec) -> String {
        let ElectorKind::Engine(program) = &elector.kind else { return String::new() };
        let read = || {
            let checksums: Vec<String> =
                files_of_program(program).iter().filter_map(|file| file_checksum(file)).collect();
            format!("|{}", checksums.join("|"))
        };
        match self.programs.lock() {
            Ok(mut known) => known.entry(format!("{program:?}")).or_insert_with(read).clone(),
            Err(_) => read(),
        }
    }

    /// Does the searches that are missing. `progress` receives the number of those done and their total. `false` if `stop` was set
    /// before the end.
    pub fn ensure(
        &mut self,
        requests: &[SearchQuery],
        stop: &AtomicBool,
        mut progress: impl FnMut(usize, usize),
    ) -> Result<bool, Failure> {
        let mut seen = std::collections::HashSet::new();
        let undone: Vec<(u64, &SearchQuery)> = requests
            .iter()
            .map(|request| (self.key(request), request))
            .filter(|(key, _)| !self.known.contains_key(key) && seen.insert(*key))
            .collect();
        let mut done = 0;
        progress(done, undone.len());
        let halted = || stop.load(Ordering::Relaxed);
        let one =
            |slots: &mut HashMap<String, Box<dyn Slot>>, (_, request): &(u64, &SearchQuery)| search(slots, request);
        in_parallel(&undone, self.workers, halted, HashMap::new, one, |(key, _), found| {
            self.keep(*key, found)?;
            done += 1;
            progress(done, undone.len());
            Ok(())
        })?;
        Ok(done == undone.len())
    }

    fn keep(&mut self, key: u64, found: Found) -> Result<(), Failure> {
        let entry = KeptSearch { key, found };
        if let Some(file) = &mut self.file {
            let line = serde_json::to_string(&entry).map_err(io::Error::from);
            line.and_then(|line| file.write_all(format!("{line}\n").as_bytes()))
                .map_err(|error| failed(&self.path, &error))?;
        }
        self.known.insert(key, entry.found);
        Ok(())
    }
}

fn failed(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format_args!("searches {}: {error}", path.display()))
}

/// Searches from an empty table with one of a worker's electors, which are started when first needed.
fn search(slots: &mut HashMap<String, Box<dyn Slot>>, request: &SearchQuery) -> Result<Found, Failure> {
    let SearchQuery { elector, line, root_moves, budget } = request;
    let failed = |reason: &str| Failure::failed(format_args!("elector {} in {}: {reason}", elector.name, line.fen()));
    let slot = slots.entry(format!("{elector:?}")).or_insert_with(|| local_slot(elector, None));
    slot.new_game();
    let task = Task { root_moves: root_moves.clone(), limits: budget.limits(), ..Task::alone(Arc::clone(line)) };
    let (reports, mut inbox) = tokio::sync::mpsc::unbounded_channel();
    slot.search(task, &reports);
    drop(reports);
    let mut found = Found::default();
    while let Some(report) = inbox.blocking_recv() {
        match report {
            SearchReport::Proposal(proposal) => found.add(proposal),
            SearchReport::Finished(..) => break,
            SearchReport::Failed(.., reason) => return Err(failed(&reason)),
        }
    }
    if found.iterations.is_empty() { Err(failed("proposed nothing")) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use council::electors::EngineProgram;
    use domain::Variant;

    #[test]
    fn changed_engine_makes_other_searches() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("engine");
        let key_with = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("writable");
            let program = EngineProgram { path: path.clone(), ..EngineProgram::default() };
            let elector = ElectorSpec::new("engine".into(), ElectorKind::Engine(program), 1);
            let request = SearchQuery::new(&elector, &Arc::new(Line::start(Variant::Standard)), Pace::Nodes(10));
            Searches::in_memory(NonZeroUsize::MIN).key(&request)
        };
        let (old, new) = (key_with(b"old"), key_with(b"new"));
        assert_ne!(old, new);
        assert_eq!(key_with(b"old"), old);
    }
}
