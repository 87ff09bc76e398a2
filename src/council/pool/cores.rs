//! The cores of this machine, and how many of them search.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

/// Counts the threads that search.
#[derive(Debug)]
pub(super) struct Cores {
    pub all: usize,
    taken: AtomicUsize,
}

impl Cores {
    pub(super) fn new(all: usize) -> Self {
        Self { all, taken: AtomicUsize::new(0) }
    }

    /// Claims so many cores, if they are free.
    pub(super) fn claim(self: &Arc<Self>, threads: usize) -> Option<CoreClaim> {
        let fits = |taken| Some(taken + threads).filter(|taken| *taken <= self.all);
        self.taken.fetch_update(Relaxed, Relaxed, fits).ok()?;
        Some(CoreClaim { cores: Arc::clone(self), threads })
    }

    /// Claims cores for so many threads, whether there are cores for them or not.
    pub(super) fn crowd(self: &Arc<Self>, threads: usize) -> CoreClaim {
        self.taken.fetch_add(threads, Relaxed);
        CoreClaim { cores: Arc::clone(self), threads }
    }
}

/// Cores that are taken until this is dropped.
#[derive(Debug)]
pub(super) struct CoreClaim {
    cores: Arc<Cores>,
    threads: usize,
}

impl Drop for CoreClaim {
    fn drop(&mut self) {
        self.cores.taken.fetch_sub(self.threads, Relaxed);
    }
}
