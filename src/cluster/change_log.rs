//! Logs changes of workers, a line each. A worker with too many changes gets one more line, and none
//! for the next minute, so that it cannot fill the log.
//!
//! Memory is bounded too: at most [`Registry::MOST`] names are counted within a minute.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::registry::{Registry, WorkerChange};
use domain::MachineName;

/// Period for [`MOST_CHANGES`].
const PERIOD: Duration = Duration::from_secs(60);
/// The most logged changes of one name in a period.
const MOST_CHANGES: u32 = 20;

/// The start of each name's period, and the number of its changes since then.
#[derive(Debug, Default)]
pub(crate) struct ChangeLog(BTreeMap<MachineName, (Instant, u32)>);

impl ChangeLog {
    /// Logs a new worker, with its cores and its speed in thousands of nodes a second a core.
    pub(crate) fn came(&mut self, now: Instant, name: &MachineName, cores: u16, speed: u32) {
        if self.is_told(now, name) {
            tracing::info!(worker = %name, cores, speed, "worker connected");
        }
    }

    pub(crate) fn left(&mut self, now: Instant, name: &MachineName) {
        if self.is_told(now, name) {
            tracing::info!(worker = %name, "worker left");
        }
    }

    /// Logs a lost worker; `why` is a predicate such as "has fallen silent".
    pub(crate) fn lost(&mut self, now: Instant, name: &MachineName, why: &str) {
        if self.is_told(now, name) {
            tracing::warn!(worker = %name, "worker lost: {why}");
        }
    }

    pub(crate) fn wrong(&mut self, now: Instant, change: &WorkerChange) {
        match change {
            WorkerChange::Twins(name) if self.is_told(now, name) => tracing::warn!(
                worker = %name,
                "two workers have this name; ignoring the second: give each a --name and a key of its own"
            ),
            WorkerChange::Forged { forger, victim } => {
                tracing::error!(worker = %forger, "a worker sends messages in the name of {victim}; ignoring it for a while")
            }
            WorkerChange::TooMany => {
                tracing::warn!("more than {} workers; ignoring the others", Registry::MOST)
            }
            WorkerChange::Twins(_) | WorkerChange::Came(_) | WorkerChange::Lost(..) => {}
        }
    }

    /// Returns true if a change is to be logged; logs instead the first of too many.
    fn is_told(&mut self, now: Instant, name: &MachineName) -> bool {
        let count = self.count(now, name);
        if count == MOST_CHANGES + 1 {
            tracing::warn!(worker = %name, "a worker connects and leaves repeatedly; not logged for the next minute");
        }
        count <= MOST_CHANGES
    }

    /// Counts a change; returns the number of changes of this name in its period. [`u32::MAX`] if there are too many names to
    /// count. The first change too many begins another period.
    fn count(&mut self, now: Instant, name: &MachineName) -> u32 {
        let is_old = |since: Instant| now.saturating_duration_since(since) >= PERIOD;
        if self.0.len() >= Registry::MOST && !self.0.contains_key(name) {
            self.0.retain(|_, (since, _)| !is_old(*since));
        }
        if self.0.len() >= Registry::MOST && !self.0.contains_key(name) {
            return u32::MAX;
        }
        let (since, count) = self.0.entry(name.clone()).or_insert((now, 0));
        if is_old(*since) {
            (*since, *count) = (now, 0);
        }
        *count = count.saturating_add(1);
        if *count == MOST_CHANGES + 1 {
            *since = now;
        }
        *count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(log: &mut ChangeLog, now: Instant, name: &str, changes: usize) -> usize {
        let name = MachineName::new(name);
        (0..changes).filter(|_| log.count(now, &name) <= MOST_CHANGES + 1).count()
    }

    #[test]
    fn flapping_worker_fills_no_log() {
        let (mut log, now) = (ChangeLog::default(), Instant::now());
        assert_eq!(lines(&mut log, now, "flapping", 10_000), 21);
        assert_eq!(lines(&mut log, now, "steady", 4), 4, "the others are told of as ever");
        assert!(log.count(now, &"flapping".into()) > MOST_CHANGES + 1);
        assert_eq!(log.count(now + PERIOD, &"flapping".into()), 1, "a minute later it may be well");
    }

    #[test]
    fn flapping_names_fill_no_memory() {
        let (mut log, now) = (ChangeLog::default(), Instant::now());
        let told = (0..5_000).map(|number| lines(&mut log, now, &format!("name-{number}"), 2)).sum::<usize>();
        assert_eq!((told, log.0.len()), (2 * Registry::MOST, Registry::MOST));
        assert_eq!(lines(&mut log, now + PERIOD, "newcomer", 1), 1);
        assert_eq!(log.0.len(), 1);
    }
}
