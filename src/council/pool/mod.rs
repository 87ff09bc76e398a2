//! Where electors run.
//!
//! An [`Elector`] gets a [`Job`] and gives [`Proposal`]s until it is done or told to stop. It sits in a [`Seat`]: an operating
//! system thread of its own, at lower priority than the daemon's, so that no search ever delays a move that is ready to be
//! sent. All seats of all games compete for the cores under the kernel's scheduler, which shares them fairly. Where others lend
//! cores ([`Elsewhere`]), the searches for which there is no core here run there.
//!
//! Invariants:
//! - a seat answers every search with exactly one [`Report::Finished`] or [`Report::Failed`], after all its proposals;
//! - every proposed move has been checked to be legal in the task's position, wherever the elector runs;
//! - a seat whose search does not end is abandoned, and another one opened; its thread ends with its search;
//! - a table is only shared between electors that evaluate alike.

pub mod backoff;
mod cores;
mod job;
mod own;
mod place;
mod roaming;
mod seat;
mod spec;
mod trivial;
pub mod uci;

pub use job::{Guidance, Hints, Job, Meter};
pub use place::{Elsewhere, LentCores, Lodging, Place};
pub use roaming::Home;
pub use seat::{Report, Seat};
pub use spec::{ElectorKind, ElectorMaker, ElectorSpec, Instance, UciProgram};

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use chess::{Proposal, Variant};
use cores::Cores;
use engine::SharedTable;
use roaming::Roaming;
use seat::Thread;

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

/// All seats of this process. Cheap to clone; clones are the same pool.
#[derive(Clone, Debug)]
pub struct Pool {
    cores: Arc<Cores>,
    elsewhere: Option<Arc<dyn Elsewhere>>,
    searching: Arc<AtomicUsize>,
}

impl Pool {
    /// A pool over so many cores; 0 takes all there are.
    pub fn new(cores: usize) -> Self {
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        let cores = Arc::new(Cores::new(if cores == 0 { all } else { cores }));
        Self { cores, elsewhere: None, searching: Arc::default() }
    }

    /// A pool over so many cores, as [`Self::new`], and over what `lenders` lend, if there are any.
    pub fn with_lenders(cores: usize, lenders: Option<Arc<dyn Elsewhere>>) -> Self {
        Self { elsewhere: lenders, ..Self::new(cores) }
    }

    /// The same pool with what others lend beside its own cores.
    #[must_use]
    pub fn with_remote(self, elsewhere: Arc<dyn Elsewhere>) -> Self {
        Self { elsewhere: Some(elsewhere), ..self }
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

    /// What falls to one of the councils now in session of so many cores, at least one.
    pub fn fair_share_of(&self, cores: usize) -> usize {
        (cores / self.searching.load(Ordering::Relaxed).max(1)).max(1)
    }

    fn lent(&self) -> LentCores {
        self.elsewhere.as_ref().map(|elsewhere| elsewhere.cores()).unwrap_or_default()
    }

    /// Opens a seat for an elector, here or wherever there is a core. Seats that are given the same `table` search with one
    /// together on every machine on which they meet.
    pub fn seat(&self, spec: &ElectorSpec, table: Option<&SharedTable>) -> Seat {
        let lodging = self.elsewhere.as_ref().and_then(|elsewhere| elsewhere.lodge(spec, table));
        match lodging {
            Some(there) => {
                let here = Thread::start(spec, table);
                Seat::at(spec.clone(), Box::new(Roaming::new(Arc::clone(&self.cores), spec.threads, here, there)))
            }
            None => Seat::here(spec.clone(), table),
        }
    }

    /// Counts a council as in session until the guard is dropped.
    pub fn session(&self) -> InSession {
        self.searching.fetch_add(1, Ordering::Relaxed);
        InSession(Arc::clone(&self.searching))
    }
}

/// Holds a council's place in [`Pool::fair_share_of`].
#[derive(Debug)]
pub struct InSession(Arc<AtomicUsize>);

impl Drop for InSession {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
