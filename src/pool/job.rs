//! One search as a seat gets it: the task, and what other searches may tell it or learn of it while it runs.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use crate::{
    chess::{Score, Task, UciMove},
    engine::BestOfGroup,
};

/// A search to do.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is asked.
    pub task: Task,
    /// What may help. An elector that cannot use it does without.
    pub guidance: Guidance,
    /// What it has cost so far.
    pub meter: Arc<Meter>,
}

impl Job {
    /// A search without guidance.
    pub fn new(task: Task) -> Self {
        Self::guided(task, Guidance::default())
    }

    /// A search that others help.
    pub fn guided(task: Task, guidance: Guidance) -> Self {
        Self { task, guidance, meter: Arc::default() }
    }
}

/// What the searches of a council tell each other. Only our own engine listens.
#[derive(Clone, Debug, Default)]
pub struct Guidance {
    /// Moves that others propose.
    pub hints: Option<Hints>,
    /// Only a value between these two matters, from the side of the player to move.
    pub window: Option<(Score, Score)>,
    /// The best value of a group whose processes share it (METHOD.md §7).
    pub best_of_group: Option<Arc<BestOfGroup>>,
}

/// Moves that others propose, told while a search runs: it looks at them next after its own best one, and a ply deeper.
/// Cheap to clone; clones are the same list.
#[derive(Clone, Debug, Default)]
pub struct Hints(Arc<Mutex<Vec<UciMove>>>);

impl Hints {
    /// Replaces the list.
    pub fn tell(&self, moves: Vec<UciMove>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = moves;
    }

    /// The list now.
    pub fn now(&self) -> Vec<UciMove> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What a search has cost, readable while it runs.
#[derive(Debug, Default)]
pub struct Meter {
    nodes: AtomicU64,
    work: Mutex<Work>,
}

#[derive(Debug, Default)]
struct Work {
    since: Option<Instant>,
    done: Duration,
}

impl Meter {
    /// Nodes so far.
    pub fn nodes(&self) -> u64 {
        self.nodes.load(Relaxed)
    }

    /// How long the elector has been at work on it.
    pub fn busy(&self) -> Duration {
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        work.done + work.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// The counter itself, for a searcher that counts in it.
    pub(super) fn counter(&self) -> &AtomicU64 {
        &self.nodes
    }

    /// For a searcher that only now and then says how many nodes it has visited.
    pub(super) fn count(&self, nodes: u64) {
        self.nodes.fetch_max(nodes, Relaxed);
    }

    /// Measures the time from now until the guard is dropped.
    pub(super) fn work(&self) -> AtWork<'_> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner).since = Some(Instant::now());
        AtWork(self)
    }
}

/// The time in which an elector works.
pub(super) struct AtWork<'a>(&'a Meter);

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        let mut work = self.0.work.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(since) = work.since.take() {
            work.done += since.elapsed();
        }
    }
}
