//! The cores of this machine, and how many of them search.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

#[derive(Debug)]
pub(super) struct Cores {
    pub all: usize,
    taken: Mutex<TakenCores>,
}

#[derive(Debug, Default)]
struct TakenCores {
    threads: usize,
    /// The threads among them of copies that share a table, by the table's number.
    by_table: BTreeMap<u64, usize>,
}

impl Cores {
    pub(super) fn new(all: usize) -> Self {
        Self { all, taken: Mutex::default() }
    }

    /// Claims `threads` cores, if they are free. `table` is the number of the table that the search
    /// shares with its copies.
    #[cfg(test)]
    pub(super) fn claim(self: &Arc<Self>, threads: usize, table: Option<u64>) -> Option<CoreClaim> {
        let mut taken = self.lock();
        (taken.threads + threads <= self.all).then(|| self.take(&mut taken, threads, table))
    }

    /// Claims as many of `threads` cores as are free, at least one.
    pub(super) fn claim_free(self: &Arc<Self>, threads: usize, table: Option<u64>) -> Option<CoreClaim> {
        let mut taken = self.lock();
        let free = self.all.saturating_sub(taken.threads);
        (free > 0).then(|| self.take(&mut taken, threads.min(free), table))
    }

    /// Claims cores whether they are free or not. But one copy more on cores that all search with its table already would only
    /// take their time: `None`.
    pub(super) fn crowd(self: &Arc<Self>, threads: usize, table: Option<u64>) -> Option<CoreClaim> {
        let mut taken = self.lock();
        let copies = table.and_then(|table| taken.by_table.get(&table)).copied().unwrap_or_default();
        (copies < self.all.max(1)).then(|| self.take(&mut taken, threads, table))
    }

    fn take(self: &Arc<Self>, taken: &mut TakenCores, threads: usize, table: Option<u64>) -> CoreClaim {
        taken.threads += threads;
        if let Some(table) = table {
            *taken.by_table.entry(table).or_default() += threads;
        }
        CoreClaim { cores: Arc::clone(self), threads, table }
    }

    fn lock(&self) -> MutexGuard<'_, TakenCores> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Cores that are taken until this is dropped.
#[derive(Debug)]
pub(super) struct CoreClaim {
    cores: Arc<Cores>,
    pub threads: usize,
    table: Option<u64>,
}

impl Drop for CoreClaim {
    fn drop(&mut self) {
        let mut taken = self.cores.lock();
        taken.threads -= self.threads;
        if let Some(table) = self.table {
            let copies = taken.by_table.remove(&table).unwrap_or_default() - self.threads;
            if copies > 0 {
                taken.by_table.insert(table, copies);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_do_not_exceed_the_cores() {
        let cores = Arc::new(Cores::new(2));
        let others = [cores.claim(1, None), cores.claim(1, None)];
        assert!(others.iter().all(Option::is_some) && cores.claim(1, Some(7)).is_none());
        let copies: Vec<_> = (0..40).filter_map(|_| cores.crowd(1, Some(7))).collect();
        assert_eq!(copies.len(), 2, "as many as the council would have on this machine alone");
        assert!(cores.crowd(1, Some(8)).is_some(), "another council's have the same right");
        let strangers: Vec<_> = (0..7).filter_map(|_| cores.crowd(1, None)).collect();
        assert_eq!(strangers.len(), 7, "each of those that know something else votes");
        drop((others, copies, strangers));
        assert!(cores.claim(2, Some(7)).is_some(), "all is given back");
    }
}
