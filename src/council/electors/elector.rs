//! The interface of every elector: search a task, and propose.

use std::sync::atomic::AtomicBool;

use super::task::Task;
use domain::{GameLine, Line, Proposal};

/// One searcher on any machine, used from one thread only.
pub trait Elector<L: GameLine = Line>: Send {
    /// Searches until the task's limits are reached or `stop` is set, telling `report` after every completed iteration.
    /// The first proposal should come within a millisecond.
    ///
    /// # Errors
    /// [`ElectorFailure`] if it cannot go on; its earlier proposals still count.
    fn search(&mut self, task: &Task<L>, stop: &AtomicBool, report: &mut dyn FnMut(Proposal<L::Move>))
    -> ElectorResult;

    fn new_game(&mut self) {}
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ElectorFailure(pub String);

pub type ElectorResult<T = ()> = Result<T, ElectorFailure>;
