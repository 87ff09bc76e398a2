//! The daemon's side: it knows the workers, sends them searches, and passes on their reports.
//!
//! Its state is behind one lock that is held for microseconds; a task of its own talks to the
//! server. Without a server, a worker or a free core, searches are not taken, and the pool does
//! them itself.

mod joining;
mod slot;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use async_nats::{Client, Message, StatusCode};
use serde::de::DeserializeOwned;
use tokio::{
    sync::{Notify, watch},
    time::{MissedTickBehavior, interval, timeout},
};
use tokio_util::sync::CancellationToken;

use super::{
    change_log::ChangeLog,
    connection,
    identity::{NamesTold, ProcessIdentity, RunId, Sender},
    in_flight::{ClaimProgress, EventOutcome, InFlight, RemoteSearch},
    measured::{Conduct, EndedSearch, TOO_FAR},
    placement::{self, WantedSlot},
    registry::{Registry, WorkerChange},
    settings::ClusterSettings,
    subjects::Subjects,
    table_sync::{SyncBudget, TableSync},
    verification::{
        values::{Caught, NextSearch},
        verifier::Verifier,
    },
    wire::{
        self, Addressed, DecodeError, Heartbeat, Poll, RemoteElector, RemoteElectorKind, SearchCommand, SearchEvent,
        TableNews, WorkerCommand, WorkerMessage, WorkerState,
    },
};
use council::electors::{ElectorSpec, Fallback, MachineView, RemotePool, RemoteSlot, Reports, Task};
use domain::MachineName;
use engine::SharedTable;
use slot::ClusterSlot;
use util::supervised;

/// Time after a poll in which new workers are not polled again.
const NEWCOMERS_WAIT: Duration = Duration::from_millis(100);

/// The remote machines that search for this process. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub struct ClusterClient(Arc<ClientShared>);

#[derive(Debug)]
struct ClientShared {
    run: RunId,
    name: String,
    subjects: Subjects,
    /// Limit on table messages; `None` turns them off.
    table_sync: Option<SyncBudget>,
    known: Mutex<ClientState>,
    to_verify: Arc<Notify>,
    /// Number of workers that became usable.
    arrivals: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct ClientState {
    /// The connection, and as whom we speak over it; `None` before the first one.
    link: Option<(Client, ProcessIdentity)>,
    registry: Registry,
    changes: ChangeLog,
    in_flight: InFlight,
    table_sync: TableSync,
    /// The polls that may still be answered, and when each was sent, the oldest first.
    polls: VecDeque<(u64, Instant)>,
    polled: u64,
    slots: u32,
    other_versions: NamesTold,
}

impl ClientState {
    fn remember(&mut self, now: Instant, ended: EndedSearch) {
        self.registry.measured(now, ended.worker, ended.sample);
        self.registry.conducted(now, ended.worker, ended.conduct);
    }
}

impl ClusterClient {
    /// Joins the cluster of the settings, in a task that ends with `stop`. Workers may come later.
    pub fn join(settings: ClusterSettings, stop: CancellationToken) -> Self {
        let subjects = Subjects::below(&settings.prefix);
        let (run, name) = (RunId::draw(), settings.name());
        let table_sync = SyncBudget::of(&settings);
        let (known, to_verify, arrivals) = (Mutex::default(), Arc::default(), watch::Sender::default());
        let shared = ClientShared { run, name, subjects, table_sync, known, to_verify, arrivals };
        let joined = Self(Arc::new(shared));
        let client = joined.clone();
        let run = async move { supervised!("cluster client", client.clone().run(settings.clone())).await };
        tokio::spawn(async move { stop.run_until_cancelled(run).await });
        joined
    }

    pub fn workers(&self) -> Vec<(String, usize)> {
        let known = self.known();
        known
            .registry
            .iter()
            .map(|(_, worker)| (worker.name.to_string(), usize::from(worker.heartbeat.cores)))
            .collect()
    }

    fn known(&self) -> MutexGuard<'_, ClientState> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn verify_claims(&self) {
        let verifier = Verifier::start();
        loop {
            let next = self.known().in_flight.next_search(Instant::now());
            match next {
                NextSearch::Now(next) => {
                    let begun = Instant::now();
                    let found = verifier.search(&next).await;
                    let now = Instant::now();
                    let caught = self.known().in_flight.verified(now, &next, found, now - begun);
                    caught.iter().for_each(|caught| self.caught(caught));
                }
                NextSearch::Wait(wait) => _ = timeout(wait, self.0.to_verify.notified()).await,
                NextSearch::Nothing => self.0.to_verify.notified().await,
            }
        }
    }

    async fn tell_of_tables(&self) {
        let Some(budget) = self.0.table_sync else { return std::future::pending().await };
        let mut ticks = interval(budget.interval());
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            let known = &mut *self.known();
            let in_flight = &known.in_flight;
            let news = known.table_sync.next(|table| !in_flight.searching_with(table).is_empty());
            let Some((table, batch)) = news else { continue };
            let command = WorkerCommand::Table(TableNews::of(table, &batch));
            for worker in known.in_flight.searching_with(table) {
                self.send(known, worker, &command);
            }
        }
    }

    /// A worker tells what is new in a table. It is heard while it searches with it.
    fn table_news(&self, from: &Sender, news: &TableNews) {
        let known = &mut *self.known();
        let searches = known.in_flight.searching_with(news.table).contains(&from.run);
        if let Some(budget) = &self.0.table_sync
            && searches
            && known.registry.speaks_for_itself(from)
        {
            known.table_sync.hear(Instant::now(), from.run, news, budget);
        }
    }

    /// A worker's claim is not so: it is named, and gets nothing for a while.
    fn caught(&self, caught: &Caught) {
        let Caught { worker, claim, found } = caught;
        let name = claim.machine.clone().unwrap_or_else(|| "a worker".into());
        let (now, mut lost) = (Instant::now(), Vec::new());
        {
            let known = &mut *self.known();
            if known.registry.distrust(now, &name) {
                let (best, said, nodes) = (claim.best, claim.score, found.length.nodes());
                let seen = found.score.map(|score| score.to_string()).unwrap_or_default();
                let seconds = known.registry.distrusted(now, &name).map_or(0, |rest| rest.as_secs());
                tracing::error!(
                    worker = %name,
                    "worker distrusted for {seconds} s: it claims {said} for {best} in game {}, ply {}, but {nodes} nodes on home cores find {seen}",
                    claim.search.game,
                    claim.search.ply,
                );
            }
            lost.extend(known.in_flight.lost(*worker));
        }
        lost.into_iter().for_each(RemoteSearch::begin_anew);
    }

    /// Tells all workers what is still wanted, and asks who is there.
    fn poll(&self) {
        let known = &mut *self.known();
        let Some((client, identity)) = &known.link else { return };
        let (number, now) = (known.polled + 1, Instant::now());
        let poll = wire::encode(identity, &Poll { number, searches: known.in_flight.serials() });
        let ClientShared { name, subjects, .. } = &*self.0;
        if connection::ask(client, subjects.call(name), subjects.unheard(name), poll) {
            known.polled = number;
            known.polls.push_back((number, now));
            known.polls.retain(|(_, sent)| now.saturating_duration_since(*sent) <= TOO_FAR);
        }
    }

    /// Asks at once how far away one is who has just come; of many that come together not each by itself.
    fn poll_for_newcomer(&self) {
        let last = self.known().polls.back().map(|(_, sent)| sent.elapsed());
        if last.is_none_or(|last| last > NEWCOMERS_WAIT) {
            self.poll();
        }
    }

    fn unheard(&self, message: &Message) {
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            self.lose(|registry| registry.unheard(Instant::now()), "is not connected any more");
        }
    }

    fn read<B: DeserializeOwned>(&self, identity: &ProcessIdentity, message: &Message) -> Option<(Sender, B)> {
        let from = self.0.subjects.sender(&message.subject)?;
        let read = wire::decode(from, &message.payload, &identity.version);
        read.map_err(|error| self.refuse(&error)).ok()
    }

    fn beat(&self, identity: &ProcessIdentity, message: &Message) {
        if let Some((from, heartbeat)) = self.read(identity, message) {
            self.heartbeat(&from, heartbeat);
        }
    }

    /// A worker tells us something: another process of our name leaves it alone.
    fn message(&self, identity: &ProcessIdentity, message: &Message) {
        let read = self.read::<Addressed<WorkerMessage>>(identity, message);
        let Some((from, message)) = read.filter(|(_, message)| message.to == self.0.run) else { return };
        match message.body {
            WorkerMessage::Answer(heartbeat) => self.heartbeat(&from, heartbeat),
            WorkerMessage::Event(event) => self.search_event(&from, event),
            WorkerMessage::Table(news) => self.table_news(&from, &news),
        }
    }

    fn heartbeat(&self, from: &Sender, heartbeat: Heartbeat) {
        let now = Instant::now();
        let (mut lost, mut why, mut newcomer) = (Vec::new(), "has left", false);
        let opened = {
            let known = &mut *self.known();
            let was_open = known.registry.is_open(now, from.run);
            let answered = known.polls.iter().find(|(number, _)| heartbeat.answers == Some(*number));
            let lag = answered.map(|(_, sent)| now.saturating_duration_since(*sent));
            if heartbeat.state != WorkerState::Gone && known.registry.speaks_for_itself(from) {
                lost = known.in_flight.compare(now, from.run, &heartbeat.searches);
                why = "does not have it";
            }
            let (cores, speed) = (heartbeat.cores, heartbeat.speed);
            match known.registry.heard(now, from, heartbeat, lag) {
                Some(WorkerChange::Came(_)) => {
                    newcomer = true;
                    known.changes.came(now, &MachineName::new(&from.name), cores, speed);
                }
                Some(WorkerChange::Lost(run, name)) => {
                    known.changes.left(now, &name);
                    lost = known.in_flight.lost(run);
                }
                Some(change) => known.changes.wrong(now, &change),
                None => {}
            }
            !was_open && known.registry.is_open(now, from.run)
        };
        if opened {
            self.0.arrivals.send_modify(|count| *count += 1);
        }
        lost.into_iter().for_each(|search| search.lose(why));
        if newcomer {
            self.poll_for_newcomer();
        }
    }

    /// Drops those workers that the registry says are lost, with what they were doing.
    fn lose(&self, who: impl FnOnce(&mut Registry) -> Vec<WorkerChange>, why: &str) {
        let mut lost = Vec::new();
        {
            let known = &mut *self.known();
            for change in who(&mut known.registry) {
                if let WorkerChange::Lost(run, name) = change {
                    known.changes.lost(Instant::now(), &name, why);
                    lost.extend(known.in_flight.lost(run));
                }
            }
        }
        lost.into_iter().for_each(|search| search.lose(why));
    }

    fn refuse(&self, error: &DecodeError) {
        match error {
            DecodeError::Version { sender, .. } => {
                if self.known().other_versions.is_first(sender) {
                    tracing::warn!("worker not used: {error}");
                }
            }
            DecodeError::Malformed => tracing::debug!("{error}"),
        }
    }

    fn search_event(&self, from: &Sender, event: SearchEvent) {
        let now = Instant::now();
        let ended = {
            let known = &mut *self.known();
            if let Some(forged) = known.registry.forged(now, from) {
                known.changes.wrong(now, &forged);
            }
            if !known.registry.speaks_for_itself(from) {
                return;
            }
            let outcome = known.in_flight.on_event(now, from.run, event);
            match &outcome {
                EventOutcome::Worked(ended) => {
                    known.registry.worked(from.run);
                    known.remember(now, *ended);
                }
                EventOutcome::Failed(ended) => {
                    known.registry.failed(now, from.run);
                    known.remember(now, *ended);
                }
                EventOutcome::Invalid(search, invalid) => {
                    if known.registry.distrust(now, &search.machine) {
                        tracing::error!(worker = from.name, "worker distrusted: {invalid}");
                    }
                }
                EventOutcome::GivenBack(search) => known.registry.conducted(now, search.worker, Conduct::Silent),
                EventOutcome::Nothing => {}
            }
            outcome
        };
        self.0.to_verify.notify_one();
        match ended {
            EventOutcome::GivenBack(search) => search.lose("has given it back"),
            EventOutcome::Invalid(search, _) => {
                let others = self.known().in_flight.lost(from.run);
                std::iter::once(*search).chain(others).for_each(RemoteSearch::begin_anew);
            }
            EventOutcome::Nothing | EventOutcome::Worked(_) | EventOutcome::Failed(_) => {}
        }
    }

    /// Sends an elector's search to the worker that suits it best. `None` if there is none that can have it.
    fn dispatch(&self, slot: &ClusterSlot, task: &Task, reports: &Reports, fallback: Fallback) -> Option<RunId> {
        let (known, now) = (&mut *self.known(), Instant::now());
        let ours = known.in_flight.threads();
        let offers = known.registry.offers(now, self.0.run, &ours, task.time);
        let engine = slot.elector.engine();
        let wanted = WantedSlot { threads: slot.threads, time: task.time, engine, before: slot.worker };
        let (run, threads) = placement::choose(&offers, wanted)?;
        let worker = known.registry.get(run)?;
        let (machine, lag) = (worker.name.clone(), worker.lag(now)?);
        let command = SearchCommand::of(task, slot.number, slot.elector.clone(), u16::try_from(threads).ok()?);
        if !self.send(known, run, &WorkerCommand::Search(Box::new(command))) {
            return None;
        }
        known.in_flight.add(RemoteSearch {
            progress: ClaimProgress::new(task),
            worker: run,
            machine,
            lag,
            threads,
            measures: matches!(slot.elector.kind, RemoteElectorKind::Own { .. }),
            values_men: slot.elector.kind.values_men(),
            elector: slot.elector.name.clone(),
            table: slot.elector.table,
            task: task.clone(),
            reports: reports.clone(),
            fallback,
            sent: now,
        });
        Some(run)
    }

    fn stop(&self, serial: u64) {
        let known = &mut *self.known();
        let now = Instant::now();
        if let Some(ended) = known.in_flight.stop(now, serial) {
            known.remember(now, ended);
            self.send(known, ended.worker, &WorkerCommand::Stop(serial));
        }
    }

    fn command(&self, worker: RunId, command: &WorkerCommand) {
        self.send(&self.known(), worker, command);
    }

    fn send(&self, known: &ClientState, worker: RunId, command: &WorkerCommand) -> bool {
        let Some(((client, identity), known)) = known.link.as_ref().zip(known.registry.get(worker)) else {
            return false;
        };
        let message = wire::encode(identity, &Addressed { to: worker, body: command });
        let subject = self.0.subjects.to_worker(&self.0.name, known.name.as_str());
        message.len() <= wire::LONGEST && connection::send(client, subject, message)
    }
}

impl RemotePool for ClusterClient {
    fn cores(&self, time: Option<Duration>) -> Vec<usize> {
        // By right, not what is free at this moment: that would change with every search.
        let offers = self.known().registry.offers(Instant::now(), self.0.run, &BTreeMap::new(), time);
        offers.iter().map(placement::WorkerOffer::share).collect()
    }

    fn arrivals(&self) -> Option<watch::Receiver<u64>> {
        Some(self.0.arrivals.subscribe())
    }

    fn verifier(&self) -> Arc<Notify> {
        Arc::clone(&self.0.to_verify)
    }

    fn machines(&self) -> Vec<MachineView> {
        self.known().registry.views(Instant::now(), self.0.run)
    }

    fn slot(&self, spec: &ElectorSpec, table: Option<&SharedTable>) -> Option<Box<dyn RemoteSlot>> {
        let elector = RemoteElector::of(spec, table)?;
        let number = {
            let known = &mut *self.known();
            if let Some((table, budget)) = table.zip(self.0.table_sync.as_ref()) {
                known.table_sync.open(table, budget);
            }
            known.slots = known.slots.wrapping_add(1);
            known.slots
        };
        Some(Box::new(ClusterSlot::new(self.clone(), number, elector, spec.threads)))
    }
}
