//! Converts messages to values of the program and back. Nothing from another machine is believed
//! before it was checked here.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use super::{ProposalText, RemoteElector, RemoteElectorKind, SearchCommand, TableNews, is_name};
use council::electors::{ElectorKind, ElectorSpec, EngineProgram, Guidance, Hints, Instance, Task};
use domain::{ElectorName, Line, MachineName, Proposal, Score, UciMove, moves_text};
use engine::{Noise, SharedTable, TableBatch, TableEntry};

/// Plies no search is deeper than; that of ours ends at 245.
const DEEPEST: u32 = 1000;
const LONGEST_LINE: usize = 512;
/// Centipawns beyond which a score is invalid.
const HIGHEST_SCORE: u32 = 1_000_000;
/// Moves to mate beyond which a score is invalid: no search is so deep, and far beyond it a mate would count as its opposite.
const LONGEST_MATE: u32 = 1000;
const MOST_NODES: u64 = 1 << 50;
const LONGEST_SEARCH: Duration = Duration::from_secs(30 * 24 * 3600);
/// MiB of a table and threads of a search beyond which a command is invalid.
const MOST_HASH: u32 = 1 << 20;
const MOST_THREADS: u16 = 1024;
/// The options of UCI engines that say how large the table is and how many threads search.
const HASH: &str = "Hash";
const THREADS: &str = "Threads";

fn require(holds: bool, what: &str) -> Result<(), String> {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

fn moves_of(text: &str) -> Result<Vec<UciMove>, String> {
    let read = |text: &str| text.parse().map_err(|_| format!("{text:?} is no move"));
    text.split_ascii_whitespace().map(read).collect()
}

impl RemoteElector {
    /// An elector as it travels, if it can: a UCI engine does with options that are numbers, true or false, because a text may
    /// name a file of this machine. Where an option says how large its table is, that is the size that is asked for.
    pub fn of(spec: &ElectorSpec, table: Option<&SharedTable>) -> Option<Self> {
        let kind = match &spec.kind {
            ElectorKind::Own(Instance { knowledge, percentages, contempt, selectivity, noise, net: None }) => {
                RemoteElectorKind::Own {
                    knowledge: *knowledge,
                    percentages: *percentages,
                    contempt: *contempt,
                    selectivity: *selectivity,
                    noise: (noise.amplitude, noise.seed),
                }
            }
            ElectorKind::Engine(program) if program.can_travel() => {
                let options: Vec<_> = program.options.clone().into_iter().collect();
                let engine = program.path.file_stem()?.to_str()?.to_owned();
                options
                    .iter()
                    .all(|(name, value)| is_option(name) && is_plain(value))
                    .then_some(RemoteElectorKind::Uci { engine, options })?
            }
            ElectorKind::Trivial => RemoteElectorKind::Trivial,
            // Nor does a net that is a file of this machine.
            ElectorKind::Own(_) | ElectorKind::Engine(_) | ElectorKind::Prover | ElectorKind::Made(_) => {
                return None;
            }
        };
        let hash = match hash_option(&spec.kind) {
            Some(hash) => hash.clamp(1, MOST_HASH),
            None => u32::try_from(table.map_or(spec.hash, SharedTable::hash)).ok()?,
        };
        Some(Self { name: spec.name.clone(), hash, table: table.map(SharedTable::number), kind })
    }

    pub fn engine(&self) -> Option<&str> {
        match &self.kind {
            RemoteElectorKind::Uci { engine, .. } => Some(engine),
            RemoteElectorKind::Own { .. } | RemoteElectorKind::Trivial => None,
        }
    }

    /// The elector on a worker that has these UCI engines: what a command says decides which of them runs, never what a file is. How
    /// much memory and how many threads it has is for the worker to say, whatever its options ask for.
    ///
    /// # Errors
    /// The reason, if a number is out of its range or there is no such engine.
    pub fn spec(&self, threads: u16, engines: &BTreeMap<String, PathBuf>) -> Result<ElectorSpec, String> {
        require(is_name(self.name.as_str()), "an elector without a name")?;
        require(self.hash <= MOST_HASH, "a table beyond all bounds")?;
        require((1..=MOST_THREADS).contains(&threads), "threads beyond all bounds")?;
        let kind = match &self.kind {
            RemoteElectorKind::Own { knowledge, percentages, contempt, selectivity, noise: (amplitude, seed) } => {
                let noise = Noise { amplitude: *amplitude, seed: *seed };
                let instance = Instance {
                    knowledge: *knowledge,
                    percentages: *percentages,
                    contempt: *contempt,
                    selectivity: *selectivity,
                    noise,
                    net: None,
                };
                instance.check().map_err(|accepted| format!("expected {accepted}"))?;
                ElectorKind::Own(instance)
            }
            RemoteElectorKind::Uci { engine, options } => {
                let path = engines.get(engine).ok_or_else(|| format!("no engine {engine:?} here"))?;
                require(
                    options.iter().all(|(name, value)| is_option(name) && is_plain(value)),
                    "an option with a text, or whose name is none",
                )?;
                let options = options.iter().filter(|(name, _)| !is_lent(name)).cloned().collect();
                ElectorKind::Engine(EngineProgram { path: path.clone(), options, ..EngineProgram::default() })
            }
            RemoteElectorKind::Trivial => ElectorKind::Trivial,
        };
        let spec = ElectorSpec::new(self.name.clone(), kind, self.hash.max(1) as usize);
        Ok(ElectorSpec { threads: usize::from(threads), ..spec })
    }
}

/// The size of the table that an option of a foreign engine asks for, MiB.
fn hash_option(kind: &ElectorKind) -> Option<u32> {
    let ElectorKind::Engine(program) = kind else { return None };
    let (_, value) = program.options.iter().find(|(name, _)| name.eq_ignore_ascii_case(HASH))?;
    value.parse().ok()
}

/// Returns true if an option sets an engine's use of the machine, which is for the worker alone to
/// set.
fn is_lent(option: &str) -> bool {
    [HASH, THREADS].iter().any(|lent| option.trim().eq_ignore_ascii_case(lent))
}

/// Returns true if an option may have this name. Engines read a name word by word: one with the
/// word `value` in it would set another option.
fn is_option(name: &str) -> bool {
    is_name(name)
        && !name.split_whitespace().any(|word| ["name", "value"].iter().any(|end| word.eq_ignore_ascii_case(end)))
}

fn is_plain(value: &str) -> bool {
    matches!(value, "true" | "false") || value.parse::<i64>().is_ok()
}

impl SearchCommand {
    pub fn of(task: &Task, slot: u32, elector: RemoteElector, threads: u16) -> Self {
        Self {
            id: task.id.clone(),
            slot,
            elector,
            threads,
            variant: task.line.variant(),
            start: task.line.start_fen(),
            moves: moves_text(task.line.moves()),
            root_moves: moves_text(&task.root_moves),
            hints: task.guidance.hints.as_ref().map(|hints| moves_text(&hints.now())).unwrap_or_default(),
            window: task.guidance.window,
            limits: task.limits,
        }
    }

    pub fn task(&self) -> Result<Task, String> {
        require(is_name(self.id.game.as_str()), "a game without a name")?;
        let start = self.start.as_deref().unwrap_or_default();
        let mut line = Line::from_fen(self.variant, start).map_err(|error| error.to_string())?;
        line.play_all(&self.moves).map_err(|error| error.to_string())?;
        require(line.ply() == self.id.ply, "another number of moves than its name says")?;
        let root_moves = moves_of(&self.root_moves)?;
        require(root_moves.iter().all(|uci| line.is_legal(*uci)), "a root move that is not legal")?;
        require(!line.legal_moves().is_empty(), "a game that is over")?;
        let hints = Hints::new(false);
        hints.tell(moves_of(&self.hints)?);
        let hints = (!self.hints.is_empty()).then_some(hints);
        let guidance = Guidance { hints, window: self.window, ..Guidance::default() };
        Ok(Task { root_moves, limits: self.limits, guidance, ..Task::new(self.id.clone(), Arc::new(line)) })
    }
}

impl TableNews {
    pub const MOST_ENTRIES: usize = 2048;

    pub fn of(table: u64, batch: &TableBatch) -> Self {
        let entries = batch.entries.iter().take(Self::MOST_ENTRIES).flat_map(|entry| entry.to_bytes()).collect();
        Self { table, root: batch.root, entries }
    }

    /// The entries. Whether one can be true is for the table to say that takes it; what is left of the last one is none.
    pub fn batch(&self) -> TableBatch {
        let (entries, _) = self.entries.as_chunks();
        TableBatch { root: self.root, entries: entries.iter().copied().map(TableEntry::from_bytes).collect() }
    }
}

impl ProposalText {
    pub fn of(proposal: &Proposal) -> Self {
        Self {
            moves: moves_text(&proposal.pv),
            score: proposal.score,
            bound: proposal.bound,
            depth: proposal.depth,
            selective_depth: proposal.selective_depth,
            root_moves_done: proposal.root_moves_done,
            nodes: proposal.nodes,
            microseconds: u64::try_from(proposal.time.as_micros()).unwrap_or(u64::MAX),
        }
    }

    /// Returns the proposal, if it answers the task: its move and all that follow are legal, and
    /// its numbers are possible.
    pub fn proposal(&self, task: &Task, elector: &ElectorName, machine: &MachineName) -> Result<Proposal, String> {
        let can_be = match self.score {
            Score::Cp(centipawns) => centipawns.unsigned_abs() <= HIGHEST_SCORE,
            Score::Mate(moves) => moves.unsigned_abs() <= LONGEST_MATE,
        };
        require(can_be, "a score beyond all bounds")?;
        require(
            self.depth.max(self.selective_depth).max(self.root_moves_done) <= DEEPEST,
            "a depth beyond all bounds",
        )?;
        require(self.nodes <= MOST_NODES, "nodes beyond all bounds")?;
        let time = Duration::from_micros(self.microseconds);
        require(time <= LONGEST_SEARCH, "a time beyond all bounds")?;
        let pv = moves_of(&self.moves)?;
        require(pv.len() <= LONGEST_LINE, "a line beyond all bounds")?;
        let best = *pv.first().ok_or("a proposal without a move")?;
        let mut line = (*task.line).clone();
        for uci in &pv {
            line.play(*uci).map_err(|error| error.to_string())?;
        }
        require(task.root_moves.is_empty() || task.root_moves.contains(&best), "a move that was not to be searched")?;
        Ok(Proposal {
            search: task.id.clone(),
            elector: elector.clone(),
            machine: Some(machine.clone()),
            best,
            score: self.score,
            bound: self.bound,
            depth: self.depth,
            selective_depth: self.selective_depth,
            root_moves_done: self.root_moves_done,
            nodes: self.nodes,
            time,
            pv,
        })
    }
}
