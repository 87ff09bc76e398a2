//! The queue of the writing thread, which is woken as seldom as possible.
//!
//! A job whose value is awaited wakes the thread at once. All others are written together with what comes next: most of them tell
//! of the opponent's move, and share a transaction with ours. Where nothing comes next, they are written after a moment.

use std::{
    collections::VecDeque,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::job::WriterJob;

type Job = Box<dyn WriterJob>;

/// The longest time until a job is written that is not awaited. While there is work, the thread looks at its queue this often, so
/// that such a job need not wake it.
const LINGER: Duration = Duration::from_millis(20);

/// The most entries that wait for a disk that hangs.
pub(super) const MOST_WAITING: usize = if cfg!(test) { 1000 } else { 20_000 };

pub(super) enum NotQueued {
    Closed,
    /// [`MOST_WAITING`] others wait.
    Full,
}

/// Next task of the thread.
pub(super) enum Next {
    Jobs(VecDeque<Job>),
    Nothing,
    /// Every handle is gone and the queue is empty.
    End,
}

#[derive(Default)]
struct QueueState {
    jobs: VecDeque<Job>,
    /// True if a caller waits for one of the jobs.
    is_awaited: bool,
    /// True if the thread sleeps without a timeout.
    sleeps: bool,
    handles: usize,
    /// True if the thread has ended.
    is_closed: bool,
    /// Entries that were given up, because too many waited.
    lost: usize,
}

#[derive(Default)]
struct SharedQueue {
    state: Mutex<QueueState>,
    changed: Condvar,
}

impl SharedQueue {
    fn state(&self) -> MutexGuard<'_, QueueState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The end that adds jobs; clones add to the same queue.
pub(super) struct JobQueue(Arc<SharedQueue>);

pub(super) struct WaitingJobs(Arc<SharedQueue>);

impl JobQueue {
    pub(super) fn new() -> (Self, WaitingJobs) {
        let shared = Arc::new(SharedQueue::default());
        shared.state().handles = 1;
        (Self(Arc::clone(&shared)), WaitingJobs(shared))
    }

    pub(super) fn add(&self, job: Job) -> Result<(), NotQueued> {
        let mut state = self.0.state();
        if state.is_closed {
            return Err(NotQueued::Closed);
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
            return Err(NotQueued::Full);
        }
        let is_awaited = job.is_awaited();
        let wakes = state.sleeps || (is_awaited && !state.is_awaited);
        state.jobs.push_back(job);
        state.is_awaited |= is_awaited;
        drop(state);
        if wakes {
            self.0.changed.notify_one();
        }
        Ok(())
    }
}

impl Clone for JobQueue {
    fn clone(&self) -> Self {
        self.0.state().handles += 1;
        Self(Arc::clone(&self.0))
    }
}

impl Drop for JobQueue {
    fn drop(&mut self) {
        self.0.state().handles -= 1;
        self.0.changed.notify_one();
    }
}

impl WaitingJobs {
    /// Returns the number of entries that were given up since this was asked last.
    pub(super) fn take_lost(&self) -> usize {
        std::mem::take(&mut self.0.state().lost)
    }

    /// Waits for jobs, for `patience` at most, and returns up to `most` of them.
    pub(super) fn next(&self, patience: Option<Duration>, most: usize) -> Next {
        let give_up = patience.map(|patience| Instant::now() + patience);
        // When jobs are written that are not awaited.
        let mut write_by = None;
        let mut state = self.0.state();
        loop {
            let now = Instant::now();
            if !state.jobs.is_empty() {
                let write_by = *write_by.get_or_insert(now + LINGER);
                if state.is_awaited || state.handles == 0 || state.jobs.len() >= most || now >= write_by {
                    let count = state.jobs.len().min(most);
                    let jobs: VecDeque<Job> = state.jobs.drain(..count).collect();
                    state.is_awaited = state.jobs.iter().any(|job| job.is_awaited());
                    return Next::Jobs(jobs);
                }
            } else if state.handles == 0 {
                return Next::End;
            } else if give_up.is_some_and(|give_up| now >= give_up) {
                return Next::Nothing;
            }
            state.sleeps = state.jobs.is_empty() && give_up.is_none();
            state = if state.sleeps {
                self.0.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
            } else {
                self.0.changed.wait_timeout(state, LINGER).unwrap_or_else(PoisonError::into_inner).0
            };
            state.sleeps = false;
        }
    }
}

impl Drop for WaitingJobs {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_closed = true;
        // Dropped jobs tell those that wait for them that the journal is closed.
        state.jobs.clear();
    }
}
