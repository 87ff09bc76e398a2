//! The interface of every elector: search a job, and propose.

use std::sync::atomic::AtomicBool;

use super::job::Job;
use domain::{GameLine, Line, Proposal};

/// One searcher on any machine, used from one thread only.
pub trait Elector<L: GameLine = Line>: Send {
    /// Searches until the task's limits are reached or `stop` is set, telling `report` after every completed iteration.
    /// The first proposal should come within a millisecond.
    ///
    /// # Errors
    /// [`ElectorFailure`] if it cannot go on; what it proposed before still counts.
    fn search(
        &mut self,
        job: &Job<L>,
        stop: &AtomicBool,
        report: &mut dyn FnMut(Proposal<L::Move>),
    ) -> Result<(), ElectorFailure>;

    /// Forgets what it learnt in the last game.
    fn new_game(&mut self) {}
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ElectorFailure(pub String);
