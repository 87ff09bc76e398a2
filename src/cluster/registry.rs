//! Which workers there are, as they say themselves: a worker is there while its heartbeats come, and gone when they do not.
//!
//! A state machine without a clock: time goes in with every event, so that every fault is a unit test.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{
    identity::{OtherVersions, RunId, Sender},
    placement::WorkerOffer,
    wire::{Heartbeat, WorkerState},
};
use chess::{Backoff, MachineName};
use council::pool::{MachineView, SearchView};

/// How often a worker says that it is there.
pub(crate) const HEARTBEAT_EVERY: Duration = Duration::from_millis(250);

/// A worker is lost when it was silent for so long: three heartbeats, and a little for the way.
pub(crate) const LOST_AFTER: Duration = Duration::from_millis(900);

/// A worker that is further away than this gets no searches.
const TOO_FAR: Duration = Duration::from_millis(500);

/// A worker that failed twice in a row gets no searches for this long at least.
const SHORTEST_REST: Duration = Duration::from_millis(250);
/// However often it failed, it gets searches again after this long.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// What is known of a worker.
#[derive(Debug)]
pub(crate) struct KnownWorker {
    /// What its operator calls it.
    pub name: MachineName,
    /// What it said last.
    pub heartbeat: Heartbeat,
    /// From a poll to its answer, the last time.
    pub lag: Option<Duration>,
    heard: Instant,
    rest: Backoff,
}

/// How the list of workers has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorkerChange {
    /// A worker has come.
    Came(RunId),
    /// It is not there any more: its heartbeats have stopped, or it said good-bye.
    Lost(RunId, MachineName),
}

/// All workers that are there.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    workers: BTreeMap<RunId, KnownWorker>,
    /// Processes of other versions of which the log has told.
    other_versions: OtherVersions,
}

impl Registry {
    /// A worker has spoken. `lag` is what the answer to a poll took.
    pub(crate) fn heard(
        &mut self,
        now: Instant,
        from: &Sender,
        heartbeat: Heartbeat,
        lag: Option<Duration>,
    ) -> Option<WorkerChange> {
        if heartbeat.state == WorkerState::Gone {
            return self.remove(from.run);
        }
        if let Some(worker) = self.workers.get_mut(&from.run) {
            worker.heard = now;
            worker.lag = lag.or(worker.lag);
            worker.heartbeat = heartbeat;
            return None;
        }
        let name = MachineName::new(&from.name);
        self.workers.insert(
            from.run,
            KnownWorker {
                name,
                heartbeat,
                lag,
                heard: now,
                rest: Backoff::new(SHORTEST_REST, LONGEST_REST).first_at_once(),
            },
        );
        Some(WorkerChange::Came(from.run))
    }

    /// Those that have been silent too long.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<WorkerChange> {
        let silent = |worker: &KnownWorker| now.saturating_duration_since(worker.heard) > LOST_AFTER;
        let lost: Vec<RunId> = self.workers.iter().filter(|(_, w)| silent(w)).map(|(run, _)| *run).collect();
        lost.into_iter().filter_map(|run| self.remove(run)).collect()
    }

    /// The server says that nobody listens, or there is no server.
    pub(crate) fn nobody(&mut self) -> Vec<WorkerChange> {
        let all: Vec<RunId> = self.workers.keys().copied().collect();
        all.into_iter().filter_map(|run| self.remove(run)).collect()
    }

    fn remove(&mut self, run: RunId) -> Option<WorkerChange> {
        self.workers.remove(&run).map(|worker| WorkerChange::Lost(run, worker.name))
    }

    /// Whether this is the first message from a process of another version, which is to be told of once.
    pub(crate) fn is_first(&mut self, sender: &Sender) -> bool {
        self.other_versions.is_first(sender.run)
    }

    /// A search went wrong there: it is given nothing for a while, each time longer.
    pub(crate) fn failed(&mut self, now: Instant, worker: RunId) {
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.rest.fail(now);
        }
    }

    /// A search went well there.
    pub(crate) fn worked(&mut self, worker: RunId) {
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.rest.reset();
        }
    }

    /// A worker, if it is there.
    pub(crate) fn get(&self, worker: RunId) -> Option<&KnownWorker> {
        self.workers.get(&worker)
    }

    /// The workers that are there.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (RunId, &KnownWorker)> {
        self.workers.iter().map(|(run, worker)| (*run, worker))
    }

    /// What each worker offers to this daemon, which has so many threads on each.
    pub(crate) fn offers(&self, now: Instant, us: RunId, ours: &dyn Fn(RunId) -> usize) -> Vec<WorkerOffer> {
        let usable = self.workers.iter().filter(|(_, worker)| worker.is_open(now));
        usable.map(|(run, worker)| worker.offer(*run, us, ours(*run))).collect()
    }
}

impl KnownWorker {
    fn is_open(&self, now: Instant) -> bool {
        self.closed(now).is_none()
    }

    /// Why it gets no searches, if it gets none.
    fn closed(&self, now: Instant) -> Option<&'static str> {
        if self.heartbeat.state != WorkerState::Lending {
            Some("it finishes what it has and takes no more")
        } else if self.lag.is_some_and(|lag| lag > TOO_FAR) {
            Some("it is too far away")
        } else if self.rest.rest(now).is_some() {
            Some("it failed, and rests")
        } else {
            None
        }
    }

    /// What it does, for whoever looks on.
    pub(crate) fn view(&self, now: Instant, us: RunId) -> MachineView {
        let searches = self.heartbeat.searches.iter().map(|search| SearchView {
            game: search.search.game.clone(),
            elector: search.elector.clone(),
            threads: usize::from(search.threads),
            nodes: search.nodes,
            ours: search.daemon == us,
        });
        MachineView {
            name: self.name.clone(),
            here: false,
            cores: usize::from(self.heartbeat.cores),
            busy: self.heartbeat.searches.iter().map(|search| usize::from(search.threads)).sum(),
            speed: Some(self.heartbeat.speed),
            lag: self.lag,
            closed: self.closed(now),
            searches: searches.collect(),
        }
    }

    fn offer(&self, run: RunId, us: RunId, ours: usize) -> WorkerOffer {
        let theirs = self.heartbeat.searches.iter().filter(|search| search.daemon != us);
        WorkerOffer {
            worker: run,
            cores: usize::from(self.heartbeat.cores),
            speed: self.heartbeat.speed,
            ours,
            theirs: theirs.map(|search| usize::from(search.threads)).sum(),
            others: self.heartbeat.daemons.iter().filter(|daemon| **daemon != us).count(),
            engines: self.heartbeat.engines.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: RunId = RunId(1);

    fn sender(run: u64) -> Sender {
        Sender { run: RunId(run), name: format!("machine-{run}") }
    }

    fn heartbeat(state: WorkerState) -> Heartbeat {
        let none = Vec::new();
        Heartbeat { state, cores: 4, speed: 1000, engines: none, daemons: vec![], searches: vec![], answers: None }
    }

    fn offers(registry: &Registry, now: Instant) -> usize {
        registry.offers(now, US, &|_| 0).len()
    }

    #[test]
    fn a_worker_is_there_while_its_heart_beats() {
        let (mut registry, begin) = (Registry::default(), Instant::now());
        assert_eq!(
            registry.heard(begin, &sender(7), heartbeat(WorkerState::Lending), None),
            Some(WorkerChange::Came(RunId(7)))
        );
        for count in 1..20 {
            let now = begin + HEARTBEAT_EVERY * count;
            assert_eq!(registry.heard(now, &sender(7), heartbeat(WorkerState::Lending), None), None);
            assert_eq!(registry.expire(now), []);
        }
        let last = begin + HEARTBEAT_EVERY * 19;
        assert_eq!(registry.expire(last + LOST_AFTER), []);
        let lost = registry.expire(last + LOST_AFTER + Duration::from_millis(1));
        assert_eq!(lost, [WorkerChange::Lost(RunId(7), "machine-7".into())]);
        let back = registry.heard(last + Duration::from_secs(60), &sender(7), heartbeat(WorkerState::Lending), None);
        assert_eq!(back, Some(WorkerChange::Came(RunId(7))), "one that was only cut off comes back");
    }

    #[test]
    fn one_that_says_good_bye_is_gone_at_once() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        registry.heard(now, &sender(7), heartbeat(WorkerState::Lending), None);
        let lost = Some(WorkerChange::Lost(RunId(7), "machine-7".into()));
        assert_eq!(registry.heard(now, &sender(7), heartbeat(WorkerState::Gone), None), lost);
        assert_eq!(registry.heard(now, &sender(8), heartbeat(WorkerState::Gone), None), None);
        assert_eq!(registry.iter().count(), 0);
    }

    #[test]
    fn one_that_drains_is_far_away_or_fails_gets_nothing_more() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        registry.heard(now, &sender(1), heartbeat(WorkerState::Draining), None);
        registry.heard(now, &sender(2), heartbeat(WorkerState::Lending), Some(Duration::from_secs(1)));
        assert_eq!(offers(&registry, now), 0);
        registry.heard(now, &sender(2), heartbeat(WorkerState::Lending), Some(Duration::from_millis(1)));
        assert_eq!(offers(&registry, now), 1);
        registry.failed(now, RunId(2));
        assert_eq!(offers(&registry, now), 1, "the first failure is forgiven");
        registry.failed(now, RunId(2));
        assert_eq!(offers(&registry, now), 0);
        assert_eq!(offers(&registry, now + Duration::from_secs(1)), 1, "it gets another chance");
    }

    #[test]
    fn whoever_looks_on_sees_why_a_worker_gets_nothing() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        registry.heard(now, &sender(1), heartbeat(WorkerState::Lending), Some(Duration::from_millis(3)));
        registry.heard(now, &sender(2), heartbeat(WorkerState::Draining), None);
        registry.heard(now, &sender(3), heartbeat(WorkerState::Lending), Some(Duration::from_secs(2)));
        let views: Vec<MachineView> = registry.iter().map(|(_, worker)| worker.view(now, US)).collect();
        let closed: Vec<bool> = views.iter().map(|view| view.closed.is_some()).collect();
        assert_eq!(closed, [false, true, true]);
        assert_eq!((views[0].cores, views[0].speed, views[0].here), (4, Some(1000), false));
    }

    #[test]
    fn with_nobody_listening_all_are_lost_at_once() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        for run in 1..4 {
            registry.heard(now, &sender(run), heartbeat(WorkerState::Lending), None);
        }
        assert_eq!(registry.nobody().len(), 3);
        assert_eq!(registry.nobody(), []);
    }

    #[test]
    fn another_version_is_told_of_once() {
        let mut registry = Registry::default();
        assert!(registry.is_first(&sender(3)));
        assert!(!registry.is_first(&sender(3)));
        assert!(registry.is_first(&sender(4)));
    }
}
