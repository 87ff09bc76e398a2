//! Cores of other machines, behind two traits for the pool.

use std::{fmt, sync::Arc, time::Duration};

use tokio::sync::{Notify, watch};

use super::{ElectorSpec, MachineView, Reports, Task};
use domain::{GameLine, Line};
use engine::SharedTable;

/// The machines whose cores this process may use.
pub trait RemotePool: fmt::Debug + Send + Sync {
    /// Returns the available cores of each machine for a move of this length (`None`: without end), without
    /// machines whose answers would come too late.
    fn cores(&self, time: Option<Duration>) -> Vec<usize>;

    /// Counts how often a machine has come that may be asked at once; `None`: none ever comes.
    fn arrivals(&self) -> Option<watch::Receiver<u64>> {
        None
    }

    /// Wakes the verifier of these machines' proposals, when a [`Verification`](super::Verification) needs a search.
    fn verifier(&self) -> Arc<Notify> {
        Arc::default()
    }

    fn machines(&self) -> Vec<MachineView> {
        Vec::new()
    }

    /// A slot for an elector on those machines; `None` for an elector that cannot leave this one. Those that are given the
    /// same `table` share one on every machine on which they meet. Dropping the slot gives everything back.
    fn slot(&self, spec: &ElectorSpec, table: Option<&SharedTable>) -> Option<Box<dyn RemoteSlot>>;
}

/// Waits for the next machine; for ever if none can come. It can be cancelled and called again
/// without missing one.
pub(crate) async fn next_arrival(arrivals: Option<&mut watch::Receiver<u64>>) {
    if let Some(arrivals) = arrivals
        && arrivals.changed().await.is_ok()
    {
        return;
    }
    std::future::pending().await
}

/// An elector's slot on other machines. Each search may run on another machine, or on none.
///
/// It keeps the pool's invariants: a search that was taken is answered with exactly one
/// [`Finished`](super::SearchReport::Finished) or
/// [`Failed`](super::SearchReport::Failed), after all its proposals, or goes to its [`Fallback`]; every proposed move is legal.
pub trait RemoteSlot<L: GameLine = Line>: fmt::Debug + Send + Sync {
    /// Takes a search if there is a core for it now that can answer in the task's time. One that is lost before its first proposal goes to `fallback`. `false`
    /// if it was not taken.
    fn search(&mut self, task: &Task<L>, reports: &Reports<L::Move>, fallback: Fallback<L>) -> bool;

    fn stop(&mut self);

    fn new_game(&self);
}

/// The continuation of a search that was lost on another machine before its first proposal. It can
/// be used once.
pub struct Fallback<L: GameLine = Line>(Box<Resume<L>>);

type Resume<L> = dyn FnOnce(Task<L>, &Reports<<L as GameLine>::Move>) + Send;

impl<L: GameLine> Fallback<L> {
    pub fn new(resume: impl FnOnce(Task<L>, &Reports<L::Move>) + Send + 'static) -> Self {
        Self(Box::new(resume))
    }

    pub fn resume(self, task: Task<L>, reports: &Reports<L::Move>) {
        (self.0)(task, reports);
    }
}

impl<L: GameLine> fmt::Debug for Fallback<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fallback")
    }
}
