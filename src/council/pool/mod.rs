//! Where electors run.
//!
//! An [`Elector`] gets a [`Job`] and gives [`Proposal`]s until it is done or told to stop. It has a [`Slot`]: an operating
//! system thread of its own, at lower priority than the daemon's, so that no search ever delays a move that is ready to be
//! sent. All slots of all games compete for the cores under the kernel's scheduler, which shares them fairly. Where others lend
//! cores ([`RemotePool`]), the searches for which there is no core here run there.
//!
//! Invariants:
//! - a slot answers every search with exactly one [`SearchReport::Finished`] or [`SearchReport::Failed`], after all its
//!   proposals;
//! - every proposed move has been checked to be legal in the task's position, wherever the elector runs;
//! - a slot whose search does not end is abandoned, and another one opened; its thread ends with its search;
//! - a table is only shared between electors that evaluate alike.

mod cores;
mod elastic_slot;
mod job;
mod local_slot;
mod memory;
mod own;
mod priority;
mod remote;
mod slot;
mod spec;
mod trivial;
pub mod uci;

pub use job::{Guidance, Hints, Job, Meter, SearchReport};
pub(crate) use memory::MemoryClaim;
pub use memory::memory_for_tables;
pub use remote::{Fallback, LentCores, RemotePool, RemoteSlot};
pub use slot::Slot;
pub use spec::{ElectorKind, ElectorMaker, ElectorSpec, Instance, UciProgram};

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use chess::{Proposal, Variant};
use cores::Cores;
use elastic_slot::ElasticSlot;
use engine::SharedTable;
use local_slot::LocalSlot;
use memory::TableMemory;

/// One searcher, wherever it runs. Used from one thread only.
pub trait Elector: Send {
    /// Searches until the task's limits are reached or `stop` is set, telling `report` after every completed iteration.
    /// The first proposal should come within a millisecond.
    ///
    /// # Errors
    /// [`ElectorFailure`] if it cannot go on; what it proposed before still counts.
    fn search(&mut self, job: &Job, stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> Result<(), ElectorFailure>;

    /// Forgets what it learnt in the last game.
    fn new_game(&mut self) {}
}

/// What an elector can play. A foreign engine is started to be asked, and ended again; this may take seconds.
///
/// # Errors
/// [`ElectorFailure`] if it does not start.
pub fn variants_of(spec: &ElectorSpec) -> Result<Vec<Variant>, ElectorFailure> {
    match &spec.kind {
        ElectorKind::Own(_) => Ok(Variant::ALL.into_iter().filter(|variant| variant.is_standard_rules()).collect()),
        ElectorKind::Trivial | ElectorKind::Made(_) => Ok(Variant::ALL.to_vec()),
        ElectorKind::Uci(program) => {
            let engine = uci::UciElector::start(spec.name.clone(), program, spec.hash, spec.threads)?;
            Ok(engine.variants())
        }
    }
}

/// Why an elector gave up.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ElectorFailure(pub String);

/// The cores on which the electors of this process search. Cheap to clone; clones are the same pool.
#[derive(Clone, Debug)]
pub struct Pool {
    cores: Arc<Cores>,
    memory: Arc<TableMemory>,
    remote: Option<Arc<dyn RemotePool>>,
    deciding: Arc<AtomicUsize>,
}

impl Pool {
    /// A pool over so many cores; 0 takes all there are.
    pub fn new(cores: usize) -> Self {
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        let cores = Arc::new(Cores::new(if cores == 0 { all } else { cores }));
        let memory = Arc::new(TableMemory::new(memory_for_tables()));
        Self { cores, memory, remote: None, deciding: Arc::default() }
    }

    /// A pool over so many cores, as [`Self::new`], and over those of `remote`, if there is one.
    pub fn with_remote(cores: usize, remote: Option<Arc<dyn RemotePool>>) -> Self {
        Self { remote, ..Self::new(cores) }
    }

    /// The same, with no more MiB for all tables than these.
    #[cfg(test)]
    pub(crate) fn limited_to(self, memory: usize) -> Self {
        Self { memory: Arc::new(TableMemory::new(Some(memory))), ..self }
    }

    /// Claims memory for the tables of a council, MiB: less than is wanted where this process may not have so much.
    pub(crate) fn claim_memory(&self, wanted: usize) -> MemoryClaim {
        self.memory.claim(wanted)
    }

    /// How many cores of this machine its searches may use together.
    pub fn cores(&self) -> usize {
        self.cores.all
    }

    /// The cores of this machine and those that others lend now.
    pub fn cores_together(&self) -> usize {
        self.cores() + self.lent().together
    }

    /// The most cores that it has on one machine now.
    pub fn cores_of_widest(&self) -> usize {
        self.cores().max(self.lent().widest)
    }

    /// What falls to one of the councils that decide now of so many cores, at least one.
    pub fn fair_share_of(&self, cores: usize) -> usize {
        (cores / self.deciding.load(Ordering::Relaxed).max(1)).max(1)
    }

    fn lent(&self) -> LentCores {
        self.remote.as_ref().map(|remote| remote.cores()).unwrap_or_default()
    }

    /// Opens a slot for an elector, here or wherever there is a core. Slots that are given the same `table` search with one
    /// together on every machine on which they meet.
    pub fn slot(&self, spec: &ElectorSpec, table: Option<&SharedTable>) -> Slot {
        match self.remote.as_ref().and_then(|remote| remote.slot(spec, table)) {
            Some(remote) => {
                let local = LocalSlot::start(spec, table);
                Slot::elastic(spec.clone(), ElasticSlot::new(Arc::clone(&self.cores), spec.threads, local, remote))
            }
            None => Slot::local(spec.clone(), table),
        }
    }

    /// Counts a council as deciding until the guard is dropped.
    pub(crate) fn deciding(&self) -> DecidingCouncil {
        self.deciding.fetch_add(1, Ordering::Relaxed);
        DecidingCouncil(Arc::clone(&self.deciding))
    }
}

/// Counts a council in [`Pool::fair_share_of`].
#[derive(Debug)]
pub(crate) struct DecidingCouncil(Arc<AtomicUsize>);

impl Drop for DecidingCouncil {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
