//! The known workers: a worker is present while its heartbeats come, and lost when they stop.
//!
//! A state machine without a clock: time goes in with every event, so that every fault is a unit test.
//!
//! Invariants: of each name one run is there at a time; a run belongs to the name that used it
//! first; a worker caught lying gets no searches for a while, under any run; there are never more
//! than [`Registry::MOST`] workers.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{
    identity::{RunId, Sender},
    measured::{Conduct, SpeedSample, TOO_FAR, WorkerLag, WorkerSpeed, shortest_move},
    placement::WorkerOffer,
    wire::{Heartbeat, WorkerState},
};
use council::electors::MachineView;
use domain::MachineName;
use util::Backoff;

pub(crate) const HEARTBEAT_EVERY: Duration = Duration::from_millis(250);

/// Time without a heartbeat after which a worker is lost: three heartbeats, and a little for the
/// network.
pub(crate) const LOST_AFTER: Duration = Duration::from_millis(900);

/// Interval at which this process looks for silent workers.
pub(crate) const CHECK_EVERY: Duration = Duration::from_millis(50);
/// A check that comes later than this after the one before comes from a process that did not get to listen.
const LATE_CHECK: Duration = HEARTBEAT_EVERY;

/// A worker that failed twice in a row gets no searches for this long at least.
const SHORTEST_REST: Duration = Duration::from_millis(250);
/// However often it failed, it gets searches again after this long.
const LONGEST_REST: Duration = Duration::from_secs(60);

/// A worker that was caught lying gets no searches for this long at least: an honest one that saw what we did not is soon back.
const SHORTEST_DISTRUST: Duration = Duration::from_secs(30);
/// One that was caught again and again gets searches again after this long.
const LONGEST_DISTRUST: Duration = Duration::from_secs(3600);

/// Cores of a worker that are used until it has shown more: each search that proposes something adds one.
const FIRST_CORES: u16 = 4;
/// Number of consecutive searches without a proposal after which a worker rests.
const SILENT_SEARCHES: u32 = 3;
/// The rests of a silent worker: each is twice as long as the one before.
const SHORTEST_SILENCE: Duration = Duration::from_secs(1);
const LONGEST_SILENCE: Duration = Duration::from_secs(3600);
/// No worker counts as faster than the home machine by more than this factor: nodes are its own word.
const FASTER: u32 = 2;
/// Speed of a home core until it is measured, thousands of nodes a second.
const USUAL_SPEED: u32 = 500;

/// Maximum cores and thousands of nodes a second with which a worker counts.
const MOST_CORES: u16 = 1024;
const FASTEST: u32 = 50_000;

#[derive(Debug)]
pub(crate) struct KnownWorker {
    pub name: MachineName,
    pub heartbeat: Heartbeat,
    lag: WorkerLag,
    speed: WorkerSpeed,
    heard: Instant,
    rest: Backoff,
    twin: Twin,
}

/// Facts that the searches of a worker have shown, independent of its claims.
#[derive(Debug)]
struct Shown {
    cores: u16,
    /// Searches since it last proposed something.
    silent: u32,
    /// Doublings of its next rest, which begins at [`SHORTEST_SILENCE`].
    doublings: u32,
    rests_until: Option<Instant>,
}

impl Default for Shown {
    fn default() -> Self {
        Self { cores: FIRST_CORES, silent: 0, doublings: 0, rests_until: None }
    }
}

impl Shown {
    fn rests(&self, now: Instant) -> bool {
        self.rests_until.is_some_and(|until| until > now)
    }

    fn proposed(&mut self, claimed: u16) {
        self.cores = self.cores.saturating_add(1).min(claimed.max(FIRST_CORES));
        self.silent = 0;
        self.doublings = self.doublings.saturating_sub(1);
        self.rests_until = None;
    }

    /// Records a search without a proposal; returns true if the worker rests from now on.
    fn was_silent(&mut self, now: Instant) -> bool {
        self.cores = (self.cores / 2).max(1);
        self.silent += 1;
        if self.silent < SILENT_SEARCHES || self.rests(now) {
            return false;
        }
        // After its rest, the next silent search is enough.
        self.silent = SILENT_SEARCHES - 1;
        self.rests_until = Some(now + (SHORTEST_SILENCE * 2_u32.pow(self.doublings.min(20))).min(LONGEST_SILENCE));
        self.doublings += 1;
        true
    }
}

/// Another run that uses a worker's name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Twin {
    #[default]
    None,
    /// It has sent a message; if the worker itself sends one more, there are two.
    Heard,
    /// There are two, and the log has said so.
    Told,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum WorkerChange {
    Came(RunId),
    /// The worker is gone: its heartbeats have stopped, or it said good-bye.
    Lost(RunId, MachineName),
    /// Two processes speak under its name, of which the second is not used.
    Twins(MachineName),
    /// A sender uses the run of a worker of another name.
    Forged {
        /// The sender, as the server knows it.
        forger: MachineName,
        victim: MachineName,
    },
    TooMany,
}

#[derive(Debug, Default)]
pub(crate) struct Registry {
    workers: BTreeMap<RunId, KnownWorker>,
    runs: BTreeMap<MachineName, RunId>,
    checked: Option<Instant>,
    distrusted: BTreeMap<MachineName, Backoff>,
    shown: BTreeMap<MachineName, Shown>,
    /// Speed of a core of this machine, thousands of nodes a second.
    home_speed: Option<u32>,
    /// True if the log has said that there are too many workers.
    overfull: bool,
}

impl Registry {
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

    /// Returns true if the sender of a message is the worker whose run it uses.
    pub(crate) fn speaks_for_itself(&self, from: &Sender) -> bool {
        self.workers.get(&from.run).is_some_and(|worker| worker.name.as_str() == from.name)
    }

    /// Handles a message of a sender that uses the run of a worker of another name.
    pub(crate) fn forged(&mut self, now: Instant, from: &Sender) -> Option<WorkerChange> {
        let victim = self.workers.get(&from.run).map(|worker| worker.name.clone())?;
        let forger = MachineName::new(&from.name);
        if victim == forger {
            return None;
        }
        // One that is being caught already is not told of with every message.
        self.distrust(now, &forger).then_some(WorkerChange::Forged { forger, victim })
    }

    /// Handles another run under a name: a restarted worker waits until the earlier run is silent.
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
            metrics::counter!(crate::WORKERS_DISTRUSTED).increment(1);
            rest.fail(now);
        }
        anew
    }

    pub(crate) fn distrusted(&self, now: Instant, name: &MachineName) -> Option<Duration> {
        self.distrusted.get(name)?.rest(now)
    }

    /// Removes and returns the workers that have been silent too long. Call this every
    /// [`CHECK_EVERY`], after all received messages are read.
    ///
    /// Time in which this process was delayed does not count as silence: messages of that time may
    /// still be unread.
    pub(crate) fn expire(&mut self, now: Instant) -> Vec<WorkerChange> {
        let passed = self.checked.replace(now).map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        if passed > LATE_CHECK {
            for worker in self.workers.values_mut() {
                worker.heard = (worker.heard + passed).min(now);
            }
        }
        self.remove_all(|worker| now.saturating_duration_since(worker.heard) > LOST_AFTER)
    }

    /// Handles the server's notice that a poll had no receivers: workers that have answered one are
    /// lost. Others, which may have come after the poll, have no searches, and are lost when they
    /// fall silent.
    pub(crate) fn unheard(&mut self, now: Instant) -> Vec<WorkerChange> {
        self.remove_all(|worker| worker.lag(now).is_some())
    }

    pub(crate) fn all_lost(&mut self) -> Vec<WorkerChange> {
        self.remove_all(|_| true)
    }

    pub(crate) fn remove_named(&mut self, name: &str) -> Vec<WorkerChange> {
        self.remove_all(|worker| worker.name.as_str() == name)
    }

    pub(crate) fn knows(&self, name: &str) -> bool {
        self.runs.keys().any(|known| known.as_str() == name)
    }

    fn remove_all(&mut self, is_lost: impl Fn(&KnownWorker) -> bool) -> Vec<WorkerChange> {
        let lost: Vec<RunId> = self.workers.iter().filter(|(_, w)| is_lost(w)).map(|(run, _)| *run).collect();
        lost.into_iter().filter_map(|run| self.remove(run)).collect()
    }

    fn remove(&mut self, run: RunId) -> Option<WorkerChange> {
        let worker = self.workers.remove(&run)?;
        self.runs.remove(&worker.name);
        Some(WorkerChange::Lost(run, worker.name))
    }

    /// A search went wrong there: it is given nothing for a while, each time longer.
    pub(crate) fn failed(&mut self, now: Instant, worker: RunId) {
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.rest.fail(now);
        }
    }

    pub(crate) fn worked(&mut self, worker: RunId) {
        if let Some(worker) = self.workers.get_mut(&worker) {
            worker.rest.reset();
        }
    }

    pub(crate) fn conducted(&mut self, now: Instant, worker: RunId, conduct: Conduct) {
        let Some(known) = self.workers.get(&worker) else { return };
        let (name, claimed) = (known.name.clone(), known.heartbeat.cores);
        if self.shown.len() >= Self::MOST && !self.shown.contains_key(&name) {
            let runs = &self.runs;
            self.shown.retain(|name, shown| runs.contains_key(name) || shown.rests(now));
        }
        let shown = self.shown.entry(name).or_default();
        match conduct {
            Conduct::Proposed => shown.proposed(claimed),
            Conduct::Silent if shown.was_silent(now) => {
                metrics::counter!(crate::WORKERS_DISTRUSTED).increment(1);
            }
            Conduct::Silent | Conduct::Unknown => {}
        }
    }

    pub(crate) fn home_speed(&mut self, speed: u32) {
        self.home_speed = Some(speed);
    }

    /// Cores of a worker that count: as many as it says, and no more than it has shown.
    fn cores(&self, worker: &KnownWorker) -> usize {
        let shown = self.shown.get(&worker.name).map_or(FIRST_CORES, |shown| shown.cores);
        usize::from(worker.heartbeat.cores.min(shown))
    }

    /// Speed of one core of a worker, thousands of nodes a second: as it was measured lately, or else as at home.
    fn speed(&self, now: Instant, worker: &KnownWorker) -> u32 {
        let home = self.home_speed.unwrap_or(USUAL_SPEED);
        worker.speed.now(now).map_or(home, |measured| measured.min(home.saturating_mul(FASTER)))
    }

    pub(crate) fn measured(&mut self, now: Instant, worker: RunId, sample: Option<SpeedSample>) {
        if let Some((worker, sample)) = self.workers.get_mut(&worker).zip(sample) {
            worker.speed.note(now, sample);
        }
    }

    /// Returns true if a worker may get a search now, for a move that is long enough.
    pub(crate) fn is_open(&self, now: Instant, worker: RunId) -> bool {
        self.workers.get(&worker).is_some_and(|worker| self.closed(now, worker).is_none())
    }

    pub(crate) fn get(&self, worker: RunId) -> Option<&KnownWorker> {
        self.workers.get(&worker)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (RunId, &KnownWorker)> {
        self.workers.iter().map(|(run, worker)| (*run, worker))
    }

    /// Returns the offers of workers to this daemon, which has `ours` threads on each, for a search
    /// that waits for `time` (`None`: without end). Workers that cannot answer in time offer
    /// nothing.
    pub(crate) fn offers(
        &self,
        now: Instant,
        us: RunId,
        ours: &BTreeMap<RunId, usize>,
        time: Option<Duration>,
    ) -> Vec<WorkerOffer> {
        let usable = self.workers.iter().filter(|(_, worker)| self.closed(now, worker).is_none());
        let offers = usable.filter_map(|(run, worker)| {
            let lag = worker.lag(now).filter(|lag| time.is_none_or(|time| time >= shortest_move(*lag)))?;
            let Heartbeat { searches, daemons, engines, .. } = &worker.heartbeat;
            let theirs = searches.iter().filter(|(daemon, _)| *daemon != us);
            Some(WorkerOffer {
                worker: *run,
                cores: self.cores(worker),
                speed: self.speed(now, worker),
                lag,
                ours: ours.get(run).copied().unwrap_or(0),
                theirs: theirs.map(|(_, search)| usize::from(search.threads)).sum(),
                others: daemons.iter().filter(|daemon| **daemon != us).count(),
                engines: engines.clone(),
            })
        });
        offers.collect()
    }

    pub(crate) fn views(&self, now: Instant, us: RunId) -> Vec<MachineView> {
        self.runs.values().filter_map(|run| self.workers.get(run)).map(|worker| self.view(now, us, worker)).collect()
    }

    fn closed(&self, now: Instant, worker: &KnownWorker) -> Option<&'static str> {
        if worker.heartbeat.state != WorkerState::Lending {
            Some("it is leaving")
        } else if self.distrusted(now, &worker.name).is_some() {
            Some("it made a false claim")
        } else if worker.lag(now).is_none() {
            Some("it does not answer")
        } else if worker.lag(now).is_some_and(|lag| lag > TOO_FAR) {
            Some("it is too far away")
        } else if worker.rest.rest(now).is_some() {
            Some("it failed")
        } else if self.shown.get(&worker.name).is_some_and(|shown| shown.rests(now)) {
            Some("it proposed nothing")
        } else {
            None
        }
    }

    fn view(&self, now: Instant, us: RunId, worker: &KnownWorker) -> MachineView {
        let heartbeat = &worker.heartbeat;
        let searches = heartbeat.searches.iter().map(|(daemon, search)| (search.clone(), *daemon == us));
        MachineView {
            name: worker.name.clone(),
            here: false,
            cores: usize::from(heartbeat.cores),
            speed: Some(self.speed(now, worker)),
            lag: worker.lag(now),
            closed: self.closed(now, worker),
            searches: searches.collect(),
        }
    }
}

impl KnownWorker {
    /// Returns the lag of its answers; `None` if there are none.
    pub(crate) fn lag(&self, now: Instant) -> Option<Duration> {
        self.lag.now(now)
    }
}

#[cfg(test)]
mod tests;
