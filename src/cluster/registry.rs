//! Which workers there are, as they say themselves: a worker is there while its heartbeats come, and gone when they do not.
//!
//! A state machine without a clock: time goes in with every event, so that every fault is a unit test.
//!
//! Invariants: of each name one run is there at a time; a run belongs to the name that used it first; whoever was caught lying gets
//! nothing for a while, under whatever run it comes back; there are never more than [`Registry::MOST`] workers.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{
    identity::{OtherVersions, RunId, Sender},
    measured::{SpeedSample, TOO_FAR, WorkerLag, WorkerSpeed, shortest_move},
    placement::WorkerOffer,
    wire::{Heartbeat, WorkerState},
};
use chess::{Backoff, MachineName};
use council::pool::{MachineView, SearchView};

/// How often a worker says that it is there.
pub(crate) const HEARTBEAT_EVERY: Duration = Duration::from_millis(250);

/// A worker is lost when it was silent for so long: three heartbeats, and a little for the way.
pub(crate) const LOST_AFTER: Duration = Duration::from_millis(900);

/// A worker that failed twice in a row gets no searches for this long at least.
const SHORTEST_REST: Duration = Duration::from_millis(250);
/// However often it failed, it gets searches again after this long.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// A worker that was caught lying gets no searches for this long at least: an honest one that saw what we did not is soon back.
const SHORTEST_DISTRUST: Duration = Duration::from_secs(30);
/// One that was caught again and again gets searches again after this long.
const LONGEST_DISTRUST: Duration = Duration::from_secs(3600);

/// Cores and thousands of nodes a second beyond which a worker counts as one that has so many.
const MOST_CORES: u16 = 1024;
/// See [`MOST_CORES`].
const FASTEST: u32 = 50_000;

/// What is known of a worker.
#[derive(Debug)]
pub(crate) struct KnownWorker {
    /// What its operator calls it.
    pub name: MachineName,
    /// What it said last.
    pub heartbeat: Heartbeat,
    lag: WorkerLag,
    speed: WorkerSpeed,
    heard: Instant,
    rest: Backoff,
    twin: Twin,
}

/// Another run that speaks under a worker's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Twin {
    #[default]
    None,
    /// It has spoken; if the worker itself does once more, there are two.
    Heard,
    /// There are two, and that was told.
    Told,
}

/// How the list of workers has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorkerChange {
    /// A worker has come.
    Came(RunId),
    /// It is not there any more: its heartbeats have stopped, or it said good-bye.
    Lost(RunId, MachineName),
    /// Two processes speak under its name, of which the second is not used.
    Twins(MachineName),
    /// Somebody uses the run of a worker of another name.
    Forged {
        /// Who did, as the server knows it.
        forger: MachineName,
        /// In whose name.
        victim: MachineName,
    },
    /// There are more than can be used.
    TooMany,
}

/// All workers that are there.
#[derive(Debug, Default)]
pub(crate) struct Registry {
    workers: BTreeMap<RunId, KnownWorker>,
    runs: BTreeMap<MachineName, RunId>,
    /// Names that were caught lying.
    distrusted: BTreeMap<MachineName, Backoff>,
    /// Whether the log has told that there are too many workers.
    overfull: bool,
    /// Processes of other versions of which the log has told.
    other_versions: OtherVersions,
}

impl Registry {
    /// More workers are not used.
    pub(crate) const MOST: usize = 1000;

    /// A worker has spoken. `lag` is what the answer to a poll took.
    pub(crate) fn heard(
        &mut self,
        now: Instant,
        from: &Sender,
        heartbeat: Heartbeat,
        lag: Option<Duration>,
    ) -> Option<WorkerChange> {
        if let Some(forged) = self.forged(now, from) {
            return Some(forged);
        }
        let name = MachineName::new(&from.name);
        if self.runs.get(&name).is_some_and(|run| *run != from.run) {
            return self.twin_heard(&name, heartbeat.state);
        }
        if heartbeat.state == WorkerState::Gone {
            return self.remove(from.run);
        }
        let heartbeat =
            Heartbeat { cores: heartbeat.cores.min(MOST_CORES), speed: heartbeat.speed.min(FASTEST), ..heartbeat };
        if let Some(worker) = self.workers.get_mut(&from.run) {
            worker.heard = now;
            worker.heartbeat = heartbeat;
            if let Some(lag) = lag {
                worker.lag.note(now, lag);
            }
            let twins = worker.twin == Twin::Heard;
            if twins {
                worker.twin = Twin::Told;
            }
            return twins.then_some(WorkerChange::Twins(name));
        }
        if self.workers.len() >= Self::MOST {
            return (!std::mem::replace(&mut self.overfull, true)).then_some(WorkerChange::TooMany);
        }
        self.runs.insert(name.clone(), from.run);
        let rest = Backoff::new(SHORTEST_REST, LONGEST_REST).first_at_once();
        let mut worker = KnownWorker {
            name,
            heartbeat,
            lag: WorkerLag::default(),
            speed: WorkerSpeed::default(),
            heard: now,
            rest,
            twin: Twin::None,
        };
        if let Some(lag) = lag {
            worker.lag.note(now, lag);
        }
        self.workers.insert(from.run, worker);
        Some(WorkerChange::Came(from.run))
    }

    /// Whether the sender of a message is the worker whose run it uses.
    pub(crate) fn speaks_for_itself(&self, from: &Sender) -> bool {
        self.workers.get(&from.run).is_some_and(|worker| worker.name.as_str() == from.name)
    }

    /// Somebody who uses the run of a worker of another name is caught.
    pub(crate) fn forged(&mut self, now: Instant, from: &Sender) -> Option<WorkerChange> {
        let victim = self.workers.get(&from.run).map(|worker| worker.name.clone())?;
        let forger = MachineName::new(&from.name);
        if victim == forger {
            return None;
        }
        // One that is being caught already is not told of with every message.
        self.distrust(now, &forger).then_some(WorkerChange::Forged { forger, victim })
    }

    /// Another run speaks under a name: one that was started anew waits until nothing is heard of the one before.
    fn twin_heard(&mut self, name: &MachineName, state: WorkerState) -> Option<WorkerChange> {
        let worker = self.workers.get_mut(self.runs.get(name)?)?;
        if worker.twin == Twin::None && state != WorkerState::Gone {
            worker.twin = Twin::Heard;
        }
        None
    }

    /// A worker was caught lying: its name gets nothing for a while, each time longer. `false` if it was caught before and still
    /// gets nothing.
    pub(crate) fn distrust(&mut self, now: Instant, name: &MachineName) -> bool {
        if self.distrusted.len() >= Self::MOST {
            self.distrusted.retain(|_, rest| rest.rest(now).is_some());
        }
        if self.distrusted.len() >= Self::MOST && !self.distrusted.contains_key(name) {
            return false;
        }
        let fresh = || Backoff::new(SHORTEST_DISTRUST, LONGEST_DISTRUST);
        let rest = self.distrusted.entry(name.clone()).or_insert_with(fresh);
        let anew = rest.rest(now).is_none();
        if anew {
            rest.fail(now);
        }
        anew
    }

    /// How long a name that was caught gets nothing yet.
    pub(crate) fn distrusted(&self, now: Instant, name: &MachineName) -> Option<Duration> {
        self.distrusted.get(name)?.rest(now)
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
        let worker = self.workers.remove(&run)?;
        self.runs.remove(&worker.name);
        Some(WorkerChange::Lost(run, worker.name))
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

    /// A search there has come to this, if that says anything.
    pub(crate) fn measured(&mut self, now: Instant, worker: RunId, sample: Option<SpeedSample>) {
        if let Some((worker, sample)) = self.workers.get_mut(&worker).zip(sample) {
            worker.speed.note(now, sample);
        }
    }

    /// Whether a worker may be asked now, for a move that is long enough.
    pub(crate) fn is_open(&self, now: Instant, worker: RunId) -> bool {
        self.workers.get(&worker).is_some_and(|worker| self.closed(now, worker).is_none())
    }

    /// A worker, if it is there.
    pub(crate) fn get(&self, worker: RunId) -> Option<&KnownWorker> {
        self.workers.get(&worker)
    }

    /// The workers that are there.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (RunId, &KnownWorker)> {
        self.workers.iter().map(|(run, worker)| (*run, worker))
    }

    /// What each worker offers to this daemon, which has so many threads on each, for a search that will be waited for so long
    /// (`None`: without end). Whoever cannot answer in time offers nothing.
    pub(crate) fn offers(
        &self,
        now: Instant,
        us: RunId,
        ours: &BTreeMap<RunId, usize>,
        time: Option<Duration>,
    ) -> Vec<WorkerOffer> {
        let usable = self.workers.iter().filter(|(_, worker)| self.closed(now, worker).is_none());
        let offers = usable.filter_map(|(run, worker)| {
            let offer = worker.offer(now, *run, us, ours.get(run).copied().unwrap_or(0))?;
            time.is_none_or(|time| time >= shortest_move(offer.lag)).then_some(offer)
        });
        offers.collect()
    }

    /// What each worker does, for whoever looks on.
    pub(crate) fn views(&self, now: Instant, us: RunId) -> Vec<MachineView> {
        self.runs.values().filter_map(|run| self.workers.get(run)).map(|worker| self.view(now, us, worker)).collect()
    }

    /// Why a worker gets no searches, if it gets none.
    fn closed(&self, now: Instant, worker: &KnownWorker) -> Option<&'static str> {
        if worker.heartbeat.state != WorkerState::Lending {
            Some("it finishes what it has and takes no more")
        } else if self.distrusted(now, &worker.name).is_some() {
            Some("it was caught with what is not so")
        } else if worker.lag(now).is_none() {
            Some("it does not answer")
        } else if worker.lag(now).is_some_and(|lag| lag > TOO_FAR) {
            Some("it is too far away")
        } else if worker.rest.rest(now).is_some() {
            Some("it failed, and rests")
        } else {
            None
        }
    }

    fn view(&self, now: Instant, us: RunId, worker: &KnownWorker) -> MachineView {
        let heartbeat = &worker.heartbeat;
        let searches = heartbeat.searches.iter().map(|search| SearchView {
            game: search.search.game.clone(),
            elector: search.elector.clone(),
            threads: usize::from(search.threads),
            nodes: search.nodes,
            ours: search.daemon == us,
        });
        MachineView {
            name: worker.name.clone(),
            here: false,
            cores: usize::from(heartbeat.cores),
            speed: Some(worker.speed(now)),
            lag: worker.lag(now),
            closed: self.closed(now, worker),
            searches: searches.collect(),
        }
    }
}

impl KnownWorker {
    /// How long its answers take; `None` if there are none.
    pub(crate) fn lag(&self, now: Instant) -> Option<Duration> {
        self.lag.now(now)
    }

    /// Speed of one core, thousands of nodes a second: as it was measured lately, or else as it says.
    fn speed(&self, now: Instant) -> u32 {
        self.speed.now(now).unwrap_or(self.heartbeat.speed)
    }

    fn offer(&self, now: Instant, run: RunId, us: RunId, ours: usize) -> Option<WorkerOffer> {
        let theirs = self.heartbeat.searches.iter().filter(|search| search.daemon != us);
        Some(WorkerOffer {
            worker: run,
            cores: usize::from(self.heartbeat.cores),
            speed: self.speed(now),
            lag: self.lag(now)?,
            ours,
            theirs: theirs.map(|search| usize::from(search.threads)).sum(),
            others: self.heartbeat.daemons.iter().filter(|daemon| **daemon != us).count(),
            engines: self.heartbeat.engines.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: RunId = RunId(1);

    fn sender(run: u64) -> Sender {
        Sender { name: format!("machine-{run}"), run: RunId(run) }
    }

    fn heartbeat(state: WorkerState) -> Heartbeat {
        Heartbeat { state, ..Heartbeat::idle(4, 1000) }
    }

    fn offers(registry: &Registry, now: Instant) -> usize {
        registry.offers(now, US, &BTreeMap::new(), None).len()
    }

    /// The answer of a worker that is near.
    const SOON: Option<Duration> = Some(Duration::from_millis(1));

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
        registry.heard(now, &sender(3), heartbeat(WorkerState::Lending), Some(Duration::from_secs(6)));
        registry.heard(now, &sender(2), heartbeat(WorkerState::Lending), None);
        assert_eq!(offers(&registry, now), 0, "nor one that was not measured yet");
        registry.heard(now, &sender(2), heartbeat(WorkerState::Lending), SOON);
        assert_eq!(offers(&registry, now), 1);
        registry.failed(now, RunId(2));
        assert_eq!(offers(&registry, now), 1, "the first failure is forgiven");
        registry.failed(now, RunId(2));
        assert_eq!(offers(&registry, now), 0);
        assert_eq!(offers(&registry, now + Duration::from_secs(1)), 1, "it gets another chance");
    }

    #[test]
    fn a_worker_may_be_asked_from_its_first_answer_on() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        let mut hears = |state, lag| {
            registry.heard(now, &sender(1), heartbeat(state), lag);
            registry.is_open(now, RunId(1))
        };
        assert!(!hears(WorkerState::Lending, None) && hears(WorkerState::Lending, SOON));
        assert!(!hears(WorkerState::Draining, SOON) && hears(WorkerState::Lending, None));
    }

    #[test]
    fn who_cannot_answer_in_time_offers_nothing() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        registry.heard(now, &sender(1), heartbeat(WorkerState::Lending), SOON);
        registry.heard(now, &sender(2), heartbeat(WorkerState::Lending), Some(Duration::from_millis(240)));
        let asked = |milliseconds| {
            let time = Some(Duration::from_millis(milliseconds));
            registry.offers(now, US, &BTreeMap::new(), time).iter().map(|offer| offer.worker.0).collect::<Vec<_>>()
        };
        assert_eq!((asked(200), asked(1000)), (vec![1], vec![1, 2]));
        assert_eq!(offers(&registry, now), 2, "a search without end has time for everybody");
    }

    #[test]
    fn a_boast_counts_until_the_first_search() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        let boast = Heartbeat { speed: 9_999, ..heartbeat(WorkerState::Lending) };
        registry.heard(now, &sender(1), boast, SOON);
        let speed = |registry: &Registry| registry.offers(now, US, &BTreeMap::new(), None)[0].speed;
        assert_eq!(speed(&registry), 9_999);
        let sample = SpeedSample { nodes: 30_000, time: Duration::from_millis(300), threads: 1 };
        registry.measured(now, RunId(1), Some(sample));
        assert_eq!((speed(&registry), registry.views(now, US)[0].speed), (100, Some(100)));
    }

    #[test]
    fn whoever_looks_on_sees_why_a_worker_gets_nothing() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        registry.heard(now, &sender(1), heartbeat(WorkerState::Lending), Some(Duration::from_millis(3)));
        registry.heard(now, &sender(2), heartbeat(WorkerState::Draining), None);
        registry.heard(now, &sender(3), heartbeat(WorkerState::Lending), Some(Duration::from_secs(6)));
        let views = registry.views(now, US);
        let closed: Vec<bool> = views.iter().map(|view| view.closed.is_some()).collect();
        assert_eq!(closed, [false, true, true]);
        assert_eq!((views[0].cores, views[0].speed, views[0].here), (4, Some(1000), false));
    }

    #[test]
    fn who_speaks_in_anothers_name_is_caught_and_named_once() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        registry.heard(now, &sender(1), heartbeat(WorkerState::Lending), SOON);
        registry.heard(now, &sender(2), heartbeat(WorkerState::Lending), SOON);
        let forged = Sender { run: RunId(1), ..sender(2) };
        let named = Some(WorkerChange::Forged { forger: "machine-2".into(), victim: "machine-1".into() });
        assert_eq!(registry.heard(now, &forged, heartbeat(WorkerState::Gone), None), named);
        assert_eq!(registry.heard(now, &forged, heartbeat(WorkerState::Gone), None), None);
        assert!(registry.speaks_for_itself(&sender(1)) && !registry.speaks_for_itself(&forged));
        assert_eq!((registry.iter().count(), offers(&registry, now)), (2, 1), "the forger gets nothing");
        let anew = Sender { run: RunId(3), ..sender(2) };
        registry.heard(now, &sender(2), heartbeat(WorkerState::Gone), None);
        registry.heard(now, &anew, heartbeat(WorkerState::Lending), SOON);
        assert_eq!(offers(&registry, now), 1, "nor does it in another run");
        let later = now + SHORTEST_DISTRUST * 3;
        for sender in [sender(1), anew] {
            registry.heard(later, &sender, heartbeat(WorkerState::Lending), SOON);
        }
        assert_eq!(offers(&registry, later), 2, "it gets another chance");
    }

    #[test]
    fn of_two_workers_of_one_name_the_first_is_used_and_both_are_told_of_once() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        let twin = Sender { run: RunId(2), ..sender(1) };
        let mut beat = |sender: &Sender| registry.heard(now, sender, heartbeat(WorkerState::Lending), None);
        assert_eq!(beat(&sender(1)), Some(WorkerChange::Came(RunId(1))));
        assert_eq!(beat(&twin), None, "the first may have been killed and started anew");
        assert_eq!(beat(&sender(1)), Some(WorkerChange::Twins("machine-1".into())));
        assert_eq!((beat(&twin), beat(&sender(1))), (None, None));
        let later = now + LOST_AFTER + Duration::from_millis(1);
        registry.expire(later);
        let came = registry.heard(later, &twin, heartbeat(WorkerState::Lending), None);
        assert_eq!(came, Some(WorkerChange::Came(RunId(2))));
    }

    /// Promise 7: what workers say does not grow without bound here.
    #[test]
    fn a_flood_of_names_fills_neither_memory_nor_log() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        let changes =
            (0..5_000).filter_map(|run| registry.heard(now, &sender(run), heartbeat(WorkerState::Lending), None));
        assert_eq!(changes.count(), Registry::MOST + 1);
        assert_eq!(registry.iter().count(), Registry::MOST);
    }

    #[test]
    fn nobody_has_more_cores_than_machines_have() {
        let (mut registry, now) = (Registry::default(), Instant::now());
        let boast = Heartbeat { cores: u16::MAX, speed: u32::MAX, ..heartbeat(WorkerState::Lending) };
        registry.heard(now, &sender(1), boast, None);
        let views = registry.views(now, US);
        assert_eq!((views[0].cores, views[0].speed), (1024, Some(50_000)));
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
