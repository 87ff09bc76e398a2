//! Where electors run.
//!
//! An [`Elector`] gets a [`Job`] and gives [`Proposal`]s until it is done or told to stop. It sits in a [`Seat`]: an operating
//! system thread of its own, at lower priority than the daemon's, so that no search ever delays a move that is ready to be
//! sent. All seats of all games compete for the cores under the kernel's scheduler, which shares them fairly.
//!
//! Invariants:
//! - a seat answers every search with exactly one [`Report::Finished`] or [`Report::Failed`], after all its proposals;
//! - every proposed move has been checked to be legal in the task's position, wherever the elector runs;
//! - a seat whose search does not end is abandoned, and another one opened; its thread ends with its search;
//! - a table is only shared between electors that evaluate alike.

mod backoff;
mod job;
mod own;
mod place;
mod seat;
mod spec;
mod trivial;
pub(crate) mod uci;

pub use job::{Guidance, Hints, Job, Meter};
pub use own::engine_position;
pub use place::{Elsewhere, Place};
pub use seat::{Report, Seat};
pub use spec::{ElectorKind, ElectorMaker, ElectorSpec, Instance, UciProgram};

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicUsize, Ordering},
};

use crate::{
    chess::{Proposal, Variant},
    engine::SharedTable,
};

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
    cores: usize,
    elsewhere: Option<Arc<dyn Elsewhere>>,
    searching: Arc<AtomicUsize>,
}

impl Pool {
    /// A pool over so many cores; 0 takes all there are.
    pub fn new(cores: usize) -> Self {
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        Self { cores: if cores == 0 { all } else { cores }, elsewhere: None, searching: Arc::default() }
    }

    /// The same pool with places on other machines beside its own threads.
    #[must_use]
    pub fn with_remote(self, elsewhere: Arc<dyn Elsewhere>) -> Self {
        Self { elsewhere: Some(elsewhere), ..self }
    }

    /// How many cores its searches may use together.
    pub fn cores(&self) -> usize {
        self.cores
    }

    /// The cores that fall to one of the councils now in session, at least one.
    pub fn fair_share(&self) -> usize {
        (self.cores / self.searching.load(Ordering::Relaxed).max(1)).max(1)
    }

    /// Opens a seat for an elector. On this machine, `table` is searched with together with the other seats that were given
    /// it.
    pub fn seat(&self, spec: &ElectorSpec, table: Option<&SharedTable>) -> Seat {
        match &self.elsewhere {
            Some(elsewhere) => Seat::at(spec.clone(), elsewhere.place(spec)),
            None => Seat::here(spec.clone(), table),
        }
    }

    /// Counts a council as in session until the guard is dropped.
    pub fn session(&self) -> InSession {
        self.searching.fetch_add(1, Ordering::Relaxed);
        InSession(Arc::clone(&self.searching))
    }
}

/// Holds a council's place in [`Pool::fair_share`].
#[derive(Debug)]
pub struct InSession(Arc<AtomicUsize>);

impl Drop for InSession {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
