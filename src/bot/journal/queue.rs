//! The queue of the writing thread. It wakes the thread as seldom as possible.
//!
//! An awaited job wakes the thread at once. The other jobs wait for the next awaited one, or for [`LINGER`]: most of them are about
//! the opponent's move, and share a transaction with the bot's move.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{JournalError, store::Store};

/// Work of the writing thread, repeated after a failed transaction.
pub(super) trait Job: Send {
    fn write(&mut self, store: &mut Store<'_>) -> Result<(), JournalError>;

    /// Receives the outcome after the commit, or the reason for a missing commit. A kept job gets another answer later.
    fn answer(&mut self, outcome: Result<(), JournalError>);

    /// Returns true if a caller waits for the job.
    fn is_awaited(&self) -> bool;

    /// Returns true if the job is kept while the disk fails; a question is answered once.
    fn is_kept(&self) -> bool;
}

/// The longest time until the write of a job without a waiting caller: such a job need not wake the thread, which looks at its
/// queue this often while there is work.
const LINGER: Duration = Duration::from_millis(20);

/// The most entries during a hang of the disk.
const MOST_WAITING: usize = if cfg!(test) { 1000 } else { 20_000 };

#[derive(Default)]
struct QueueState {
    jobs: VecDeque<Box<dyn Job>>,
    is_awaited: bool,
    /// True if the thread sleeps without a timeout.
    sleeps: bool,
    handles: usize,
    is_closed: bool,
    /// The number of entries dropped from a full queue.
    lost: usize,
}

type SharedQueue = Arc<(Mutex<QueueState>, Condvar)>;

fn state(queue: &SharedQueue) -> MutexGuard<'_, QueueState> {
    queue.0.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The sender of jobs; clones add to the same queue.
pub(super) struct JobQueue(SharedQueue);

pub(super) struct WaitingJobs(SharedQueue);

impl JobQueue {
    pub(super) fn new() -> (Self, WaitingJobs) {
        let shared = SharedQueue::default();
        state(&shared).handles = 1;
        (Self(Arc::clone(&shared)), WaitingJobs(shared))
    }

    pub(super) fn add(&self, job: Box<dyn Job>) -> Result<(), JournalError> {
        let mut state = state(&self.0);
        if state.is_closed {
            return Err(JournalError::Closed);
        }
        if state.jobs.len() >= MOST_WAITING {
            let is_first = job.is_kept() && state.lost == 0;
            state.lost += usize::from(job.is_kept());
            drop(state);
            if is_first {
                tracing::error!(
                    "THE JOURNAL'S DISK HANGS, and {MOST_WAITING} entries wait for it. Play goes on; further entries are lost"
                );
            }
            return Err(JournalError::Unwritable(format!("its disk hangs, and {MOST_WAITING} entries wait for it")));
        }
        let is_awaited = job.is_awaited();
        let wakes = state.sleeps || (is_awaited && !state.is_awaited);
        state.jobs.push_back(job);
        state.is_awaited |= is_awaited;
        drop(state);
        if wakes {
            self.0.1.notify_one();
        }
        Ok(())
    }
}

impl Clone for JobQueue {
    fn clone(&self) -> Self {
        state(&self.0).handles += 1;
        Self(Arc::clone(&self.0))
    }
}

impl Drop for JobQueue {
    fn drop(&mut self) {
        state(&self.0).handles -= 1;
        self.0.1.notify_one();
    }
}

impl WaitingJobs {
    /// Returns the number of entries dropped since the last call.
    pub(super) fn take_lost(&self) -> usize {
        std::mem::take(&mut state(&self.0).lost)
    }

    /// Waits for up to `most` jobs, for `patience` at most. No jobs if `patience` is over, `None` once every handle
    /// is gone and the queue is empty.
    pub(super) fn next(&self, patience: Option<Duration>, most: usize) -> Option<VecDeque<Box<dyn Job>>> {
        let give_up = patience.map(|patience| Instant::now() + patience);
        // The time to write jobs without a waiting caller.
        let mut write_by = None;
        let mut state = state(&self.0);
        loop {
            let now = Instant::now();
            if !state.jobs.is_empty() {
                let write_by = *write_by.get_or_insert(now + LINGER);
                if state.is_awaited || state.handles == 0 || state.jobs.len() >= most || now >= write_by {
                    let count = state.jobs.len().min(most);
                    let jobs: VecDeque<_> = state.jobs.drain(..count).collect();
                    state.is_awaited = state.jobs.iter().any(|job| job.is_awaited());
                    return Some(jobs);
                }
            } else if state.handles == 0 {
                return None;
            } else if give_up.is_some_and(|give_up| now >= give_up) {
                return Some(VecDeque::new());
            }
            state.sleeps = state.jobs.is_empty() && give_up.is_none();
            state = if state.sleeps {
                self.0.1.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.0.1.wait_timeout(state, LINGER).unwrap_or_else(PoisonError::into_inner).0
            };
            state.sleeps = false;
        }
    }
}

impl Drop for WaitingJobs {
    fn drop(&mut self) {
        let mut state = state(&self.0);
        state.is_closed = true;
        // Dropped jobs report a closed journal to their callers.
        state.jobs.clear();
    }
}
