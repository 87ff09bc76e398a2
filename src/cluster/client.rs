//! The daemon's side: it knows who lends, sends searches to workers, and passes on what comes back.
//!
//! What it knows is behind one lock that is held for microseconds; a task of its own talks to the server. Where there is no
//! server, no worker or no room, searches are simply not taken, and the pool does them itself.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use async_nats::{Client, Message, StatusCode, Subscriber};
use futures_util::StreamExt;
use tokio::{
    sync::mpsc::{UnboundedReceiver, UnboundedSender},
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::{
    connection::{self, ConnectionChange, ConnectionError, NatsConnection, connect_patiently},
    identity::{ProcessIdentity, RunId},
    in_flight::{EventOutcome, InFlight, RemoteSearch},
    placement,
    registry::{Registry, WorkerChange},
    settings::ClusterSettings,
    subjects::Subjects,
    wire::{self, DecodeError, Heartbeat, Poll, RemoteElector, SearchCommand, SearchEvent, WorkerCommand, WorkerState},
};
use council::pool::{ElectorSpec, Fallback, Job, LentCores, MachineView, RemotePool, RemoteSlot, SearchReport};
use engine::SharedTable;

/// How often a daemon tells all workers which searches it still waits for.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// How often it looks for workers that have fallen silent.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// To whom a search reports.
type Reports = UnboundedSender<SearchReport>;

/// The machines that lend their cores to this process. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub struct ClusterClient(Arc<ClientShared>);

#[derive(Debug)]
struct ClientShared {
    run: RunId,
    subjects: Subjects,
    known: Mutex<ClientState>,
}

/// What is known now.
#[derive(Debug, Default)]
struct ClientState {
    /// The connection, and as whom we speak over it; `None` before the first one.
    link: Option<(Client, ProcessIdentity)>,
    registry: Registry,
    in_flight: InFlight,
    /// The newest poll and when it was sent.
    poll: Option<(u64, Instant)>,
    slots: u32,
}

impl ClusterClient {
    /// Joins the cluster of the settings, from a task that ends with `stop`. There may be nobody yet; whoever comes is used.
    pub fn join(settings: ClusterSettings, stop: CancellationToken) -> Self {
        let subjects = Subjects::below(&settings.prefix);
        let joined = Self(Arc::new(ClientShared { run: RunId::draw(), subjects, known: Mutex::default() }));
        let client = joined.clone();
        tokio::spawn(async move {
            let ended = stop.run_until_cancelled(client.run(settings)).await;
            if let Some(Err(error)) = ended {
                tracing::error!("{error} This machine plays alone.");
            }
        });
        joined
    }

    /// The workers that are there, by name, with their cores.
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

    async fn run(self, settings: ClusterSettings) -> Result<(), ConnectionError> {
        let name = settings.name();
        let identity = tokio::task::spawn_blocking(move || ProcessIdentity::new(&name)).await;
        let Ok(mut identity) = identity else { return Ok(()) };
        identity.sender.run = self.0.run;
        let NatsConnection { client, links } = connect_patiently(&settings).await?;
        let subscriptions = self.subscribe(&client).await;
        let Some((events, heartbeats, answers)) = subscriptions else { return Ok(()) };
        tracing::info!(nats = settings.nats, "workers are looked for");
        self.known().link = Some((client, identity.clone()));
        self.poll();
        self.listen(&identity, events, heartbeats, answers, links).await;
        Ok(())
    }

    /// The events of our searches, the heartbeats of all workers, and the answers to our polls.
    async fn subscribe(&self, client: &Client) -> Option<(Subscriber, Subscriber, Subscriber)> {
        let ClientShared { run, subjects, .. } = &*self.0;
        let events = client.subscribe(subjects.daemon(*run)).await.ok()?;
        let heartbeats = client.subscribe(subjects.beat()).await.ok()?;
        let answers = client.subscribe(subjects.answer(*run)).await.ok()?;
        Some((events, heartbeats, answers))
    }

    async fn listen(
        &self,
        identity: &ProcessIdentity,
        mut events: Subscriber,
        mut heartbeats: Subscriber,
        mut answers: Subscriber,
        mut links: UnboundedReceiver<ConnectionChange>,
    ) {
        let (mut polls, mut checks) = (interval(POLL_EVERY), interval(CHECK_EVERY));
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                Some(message) = events.next() => self.search_event(identity, &message),
                Some(message) = heartbeats.next() => self.heartbeat(identity, &message),
                Some(message) = answers.next() => self.heartbeat(identity, &message),
                Some(link) = links.recv() => match link {
                    ConnectionChange::Up => self.poll(),
                    ConnectionChange::Down => self.lose(|registry| registry.nobody(), "is out of reach without the NATS server"),
                },
                _ = polls.tick() => self.poll(),
                _ = checks.tick() => self.lose(|registry| registry.expire(Instant::now()), "has fallen silent"),
                else => return,
            }
        }
    }

    /// Tells all workers what is still wanted, and asks who is there.
    fn poll(&self) {
        let known = &mut *self.known();
        let Some((client, identity)) = &known.link else { return };
        let number = known.poll.map_or(1, |(number, _)| number + 1);
        let poll = wire::encode(identity, &Poll { number, searches: known.in_flight.serials() });
        let ClientShared { run, subjects, .. } = &*self.0;
        if connection::ask(client, subjects.call(), subjects.answer(*run), poll) {
            known.poll = Some((number, Instant::now()));
        }
    }

    /// A worker says that it is there; or the server, that nobody is.
    fn heartbeat(&self, identity: &ProcessIdentity, message: &Message) {
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            return self.lose(|registry| registry.nobody(), "is not connected any more");
        }
        let (from, heartbeat) = match wire::decode::<Heartbeat>(&message.payload, &identity.version) {
            Ok(read) => read,
            Err(error) => return self.refuse(&error),
        };
        let now = Instant::now();
        let (mut lost, mut why) = (Vec::new(), "has left");
        {
            let known = &mut *self.known();
            let answered = known.poll.filter(|(number, _)| heartbeat.answers == Some(*number));
            let lag = answered.map(|(_, sent)| now.saturating_duration_since(sent));
            if heartbeat.state != WorkerState::Gone {
                lost = known.in_flight.compare(now, from.run, &heartbeat.searches);
                why = "does not have it";
            }
            let (cores, speed) = (heartbeat.cores, heartbeat.speed);
            match known.registry.heard(now, &from, heartbeat, lag) {
                Some(WorkerChange::Came(_)) => {
                    tracing::info!(worker = from.name, cores, speed, "a worker lends its cores")
                }
                Some(WorkerChange::Lost(run, name)) => {
                    tracing::info!(worker = %name, "a worker has left");
                    lost = known.in_flight.lost(run);
                }
                None => {}
            }
        }
        lost.into_iter().for_each(|search| search.lose(why));
    }

    /// Drops those workers that the registry says are lost, with what they were doing.
    fn lose(&self, who: impl FnOnce(&mut Registry) -> Vec<WorkerChange>, why: &str) {
        let mut lost = Vec::new();
        {
            let known = &mut *self.known();
            for change in who(&mut known.registry) {
                if let WorkerChange::Lost(run, name) = change {
                    tracing::warn!(worker = %name, "a worker is lost: it {why}");
                    lost.extend(known.in_flight.lost(run));
                }
            }
        }
        lost.into_iter().for_each(|search| search.lose(why));
    }

    fn refuse(&self, error: &DecodeError) {
        match error {
            DecodeError::Version { sender, .. } => {
                if self.known().registry.is_first(sender) {
                    tracing::warn!("a worker is not used: {error}");
                }
            }
            DecodeError::Malformed => tracing::debug!("{error}"),
        }
    }

    /// A worker says something of a search.
    fn search_event(&self, identity: &ProcessIdentity, message: &Message) {
        let (from, event) = match wire::decode::<SearchEvent>(&message.payload, &identity.version) {
            Ok(read) => read,
            Err(error) => return self.refuse(&error),
        };
        let ended = {
            let known = &mut *self.known();
            let outcome = known.in_flight.on_event(from.run, event);
            match &outcome {
                EventOutcome::Worked => known.registry.worked(from.run),
                EventOutcome::Failed => known.registry.failed(Instant::now(), from.run),
                EventOutcome::Invalid(_, invalid) => {
                    tracing::error!(worker = from.name, "a worker is not believed: {invalid}");
                    known.registry.failed(Instant::now(), from.run);
                }
                EventOutcome::Nothing | EventOutcome::GivenBack(_) => {}
            }
            outcome
        };
        match ended {
            EventOutcome::GivenBack(search) => search.lose("has given it back"),
            EventOutcome::Invalid(search, _) => search.lose("is not believed"),
            EventOutcome::Nothing | EventOutcome::Worked | EventOutcome::Failed => {}
        }
    }

    /// Sends an elector's search to the worker that suits it best. `None` if there is none that can have it.
    fn dispatch(&self, slot: &ClusterSlot, job: &Job, reports: &Reports, fallback: Fallback) -> Option<RunId> {
        let known = &mut *self.known();
        let offers = known.registry.offers(Instant::now(), self.0.run, &|worker| known.in_flight.threads_on(worker));
        let placed = placement::choose(&offers, slot.threads, slot.elector.engine(), slot.worker)?;
        let machine = known.registry.get(placed.worker)?.name.clone();
        let threads = u16::try_from(placed.threads).ok()?;
        let command = SearchCommand::of(job, slot.number, slot.elector.clone(), threads);
        if !self.send(known, placed.worker, &WorkerCommand::Search(Box::new(command))) {
            return None;
        }
        known.in_flight.add(RemoteSearch {
            worker: placed.worker,
            machine,
            threads: placed.threads,
            elector: slot.elector.name.clone(),
            job: job.clone(),
            reports: reports.clone(),
            fallback,
            sent: Instant::now(),
            proposed: false,
        });
        Some(placed.worker)
    }

    /// A search is not wanted any more.
    fn stop(&self, serial: u64) {
        let known = &mut *self.known();
        if let Some(worker) = known.in_flight.stop(serial) {
            self.send(known, worker, &WorkerCommand::Stop(serial));
        }
    }

    /// Sends a command about a slot.
    fn command(&self, worker: RunId, command: &WorkerCommand) {
        self.send(&self.known(), worker, command);
    }

    fn send(&self, known: &ClientState, worker: RunId, command: &WorkerCommand) -> bool {
        let Some((client, identity)) = &known.link else { return false };
        let message = wire::encode(identity, command);
        message.len() <= wire::LONGEST && connection::send(client, self.0.subjects.worker(worker), message)
    }
}

impl RemotePool for ClusterClient {
    fn cores(&self) -> LentCores {
        // By right, not what is free at this moment: that would change with every search.
        let offers = self.known().registry.offers(Instant::now(), self.0.run, &|_| 0);
        let shares = offers.iter().map(placement::WorkerOffer::share);
        LentCores { together: shares.clone().sum(), widest: shares.max().unwrap_or(0) }
    }

    fn machines(&self) -> Vec<MachineView> {
        let (now, known) = (Instant::now(), self.known());
        let mut machines: Vec<MachineView> = known.registry.iter().map(|(_, w)| w.view(now, self.0.run)).collect();
        machines.sort_by(|a, b| a.name.cmp(&b.name));
        machines
    }

    fn slot(&self, spec: &ElectorSpec, table: Option<&SharedTable>) -> Option<Box<dyn RemoteSlot>> {
        let elector = RemoteElector::of(spec, table)?;
        let number = {
            let known = &mut *self.known();
            known.slots = known.slots.wrapping_add(1);
            known.slots
        };
        let (client, threads) = (self.clone(), spec.threads);
        Some(Box::new(ClusterSlot { client, number, elector, threads, worker: None, current: None }))
    }
}

/// An elector's slot in the cluster, which moves with the worker that has room for it.
#[derive(Debug)]
struct ClusterSlot {
    client: ClusterClient,
    /// By which workers know it.
    number: u32,
    elector: RemoteElector,
    threads: usize,
    /// The worker that has its table.
    worker: Option<RunId>,
    /// The serial number of the search that was taken last.
    current: Option<u64>,
}

impl ClusterSlot {
    fn leave(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.client.command(worker, &WorkerCommand::Leave(self.number));
        }
    }
}

impl RemoteSlot for ClusterSlot {
    fn search(&mut self, job: &Job, reports: &Reports, fallback: Fallback) -> bool {
        self.stop();
        let Some(placed) = self.client.dispatch(self, job, reports, fallback) else { return false };
        if self.worker != Some(placed) {
            self.leave();
            self.worker = Some(placed);
        }
        self.current = Some(job.task.id.serial);
        true
    }

    fn stop(&mut self) {
        if let Some(serial) = self.current.take() {
            self.client.stop(serial);
        }
    }

    fn new_game(&self) {
        if let Some(worker) = self.worker {
            self.client.command(worker, &WorkerCommand::NewGame(self.number));
        }
    }
}

impl Drop for ClusterSlot {
    fn drop(&mut self) {
        self.stop();
        self.leave();
    }
}
