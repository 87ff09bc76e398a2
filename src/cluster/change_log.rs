//! Logs changes of workers, a line each; of a name that changes again and again only that it does,
//! so that no worker fills the log by coming and going.
//!
//! Memory is bounded too: at most [`Registry::MOST`] names that changed within a minute are logged.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::registry::{Registry, WorkerChange};
use domain::MachineName;

/// Period in which the log has at most [`MOST_CHANGES`] of one name, and a line that says that
/// there are more.
const PERIOD: Duration = Duration::from_secs(60);
/// See [`PERIOD`].
const MOST_CHANGES: u32 = 20;

#[derive(Debug, Default)]
pub(crate) struct ChangeLog(BTreeMap<MachineName, RecentChanges>);

#[derive(Debug)]
struct RecentChanges {
    since: Instant,
    count: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Telling {
    Change,
    /// The name changes too often for more lines.
    TooOften,
    Nothing,
}

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

    /// A worker is not there any more: it is, has or does this.
    pub(crate) fn lost(&mut self, now: Instant, name: &MachineName, why: &str) {
        if self.is_told(now, name) {
            tracing::warn!(worker = %name, "worker lost: {why}");
        }
    }

    /// A worker is not as it should be.
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
        let telling = self.telling(now, name);
        if telling == Telling::TooOften {
            tracing::warn!(worker = %name, "a worker connects and leaves repeatedly; not logged for the next minute");
        }
        telling == Telling::Change
    }

    fn telling(&mut self, now: Instant, name: &MachineName) -> Telling {
        let is_old = |changes: &RecentChanges| now.saturating_duration_since(changes.since) >= PERIOD;
        if self.0.len() >= Registry::MOST && !self.0.contains_key(name) {
            self.0.retain(|_, changes| !is_old(changes));
        }
        if self.0.len() >= Registry::MOST && !self.0.contains_key(name) {
            return Telling::Nothing;
        }
        let changes = self.0.entry(name.clone()).or_insert(RecentChanges { since: now, count: 0 });
        if is_old(changes) {
            *changes = RecentChanges { since: now, count: 0 };
        }
        changes.count = changes.count.saturating_add(1);
        match changes.count {
            ..=MOST_CHANGES => Telling::Change,
            count if count == MOST_CHANGES + 1 => {
                changes.since = now;
                Telling::TooOften
            }
            _ => Telling::Nothing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(log: &mut ChangeLog, now: Instant, name: &str, changes: usize) -> usize {
        let name = MachineName::new(name);
        (0..changes).filter(|_| log.telling(now, &name) != Telling::Nothing).count()
    }

    #[test]
    fn flapping_worker_fills_no_log() {
        let (mut log, now) = (ChangeLog::default(), Instant::now());
        assert_eq!(lines(&mut log, now, "flapping", 10_000), 21);
        assert_eq!(lines(&mut log, now, "steady", 4), 4, "the others are told of as ever");
        assert_eq!(log.telling(now, &"flapping".into()), Telling::Nothing);
        assert_eq!(log.telling(now + PERIOD, &"flapping".into()), Telling::Change, "a minute later it may be well");
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
