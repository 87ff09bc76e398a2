//! The lending side: this process takes searches from daemons and tells them of every iteration.
//!
//! `scheduler` has the rules; here are the threads, the clock and the network.

mod health;
mod scheduler;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap},
    net::SocketAddr,
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::{Client, Message, Subscriber};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time::{MissedTickBehavior, interval, timeout},
};

use super::{
    connection::{self, ConnectionError, NatsConnection, connect_patiently},
    identity::{BenchResult, OtherVersions, ProcessIdentity, RunId},
    registry::HEARTBEAT_EVERY,
    settings::ClusterSettings,
    subjects::Subjects,
    wire::{
        self, DecodeError, Heartbeat, Poll, ProposalText, SearchEvent, SearchEventKind, WorkerCommand, WorkerState,
    },
};
use chess::{ElectorName, SearchId, Shutdown};
use council::pool::{ElectorSpec, Meter, SearchReport, Slot, memory_for_tables};
use engine::SharedTable;
use health::WorkerHealth;
use scheduler::{LentResources, Scheduler, SchedulerEffect, SlotKey, TableKey};

/// A worker that was told to leave waits no longer for its searches to end.
const DRAIN_FOR: Duration = Duration::from_secs(30);

/// What a worker lends, and where.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// The cluster to which it lends.
    pub cluster: ClusterSettings,
    /// Cores; 0 lends all there are.
    pub cores: usize,
    /// Memory for all tables together, MiB.
    pub memory: usize,
    /// UCI engines, by the names under which daemons know them.
    pub engines: BTreeMap<String, PathBuf>,
    /// Where it can be asked over HTTP whether it is well.
    pub health: Option<SocketAddr>,
}

/// Why a worker cannot lend.
#[derive(Debug, thiserror::Error)]
pub enum LendError {
    /// There is no connection.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The address for questions about its health is taken, or not ours.
    #[error("--health {0}: {1}")]
    Health(SocketAddr, std::io::Error),
}

/// Lends this machine until told to leave.
///
/// # Errors
/// [`LendError`] if the server does not want us, or health cannot be served. A server that is not there is waited for.
pub async fn lend(settings: WorkerSettings, shutdown: Shutdown) -> Result<(), LendError> {
    let health = WorkerHealth::default();
    if let Some(address) = settings.health {
        health.serve(address).await.map_err(|error| LendError::Health(address, error))?;
    }
    let name = settings.cluster.name();
    let measured = tokio::task::spawn_blocking(move || ProcessIdentity::new(&name)).await;
    let Ok(identity) = measured else { return Ok(()) };
    let connecting = connect_patiently(&settings.cluster);
    let Some(connected) = shutdown.now.run_until_cancelled(connecting).await else { return Ok(()) };
    let connection = connected?;
    let subjects = Subjects::below(&settings.cluster.prefix);
    let lost = |error| ConnectionError::unreachable(&settings.cluster, &error);
    let client = connection.client.clone();
    let commands = client.subscribe(subjects.worker(identity.sender.run)).await.map_err(lost)?;
    let polls = client.subscribe(subjects.call()).await.map_err(lost)?;
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if settings.cores == 0 { all } else { settings.cores };
    let memory = memory_for_tables().map_or(settings.memory, |most| settings.memory.min(most));
    if memory < settings.memory {
        tracing::warn!("{} MiB were to be lent for tables; this process may have {memory} MiB", settings.memory);
    }
    let lent = LentResources { cores, memory, engines: settings.engines.clone() };
    let speed = BenchResult::now().speed;
    let sender = &identity.sender;
    tracing::info!(name = sender.name, cores, speed, version = %identity.version, "lending");
    health.connected(client.clone());
    WorkerTask::new(lent, identity, subjects, client, health).serve(commands, polls, connection, shutdown).await;
    Ok(())
}

/// A worker while it lends.
struct WorkerTask {
    scheduler: Scheduler,
    lent: LentResources,
    publisher: Publisher,
    slots: HashMap<SlotKey, Slot>,
    tables: HashMap<TableKey, SharedTable>,
    meters: HashMap<SlotKey, Arc<Meter>>,
    over: UnboundedSender<(SlotKey, SearchId)>,
    ended: Option<UnboundedReceiver<(SlotKey, SearchId)>>,
    health: WorkerHealth,
    /// Daemons of other versions of which the log has told.
    other_versions: OtherVersions,
}

/// Sends its messages. Cheap to clone.
#[derive(Clone)]
struct Publisher {
    identity: Arc<ProcessIdentity>,
    subjects: Arc<Subjects>,
    client: Client,
}

impl Publisher {
    /// At most once: an event that cannot be sent now is of no use later.
    fn tell(&self, daemon: RunId, event: &SearchEvent) {
        connection::send(&self.client, self.subjects.daemon(daemon), wire::encode(&self.identity, event));
    }

    fn send_heartbeat(&self, subject: String, heartbeat: &Heartbeat) {
        connection::send(&self.client, subject, wire::encode(&self.identity, heartbeat));
    }
}

impl WorkerTask {
    fn new(
        lent: LentResources,
        identity: ProcessIdentity,
        subjects: Subjects,
        client: Client,
        health: WorkerHealth,
    ) -> Self {
        let (over, ended) = mpsc::unbounded_channel();
        let publisher = Publisher { identity: Arc::new(identity), subjects: Arc::new(subjects), client };
        Self {
            scheduler: Scheduler::new(lent.clone()),
            lent,
            publisher,
            slots: HashMap::new(),
            tables: HashMap::new(),
            meters: HashMap::new(),
            over,
            ended: Some(ended),
            health,
            other_versions: OtherVersions::default(),
        }
    }

    async fn serve(
        mut self,
        mut commands: Subscriber,
        mut polls: Subscriber,
        mut connection: NatsConnection,
        shutdown: Shutdown,
    ) {
        let mut heartbeats = interval(HEARTBEAT_EVERY);
        heartbeats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let Some(mut ended) = self.ended.take() else { return };
        let mut leave_by = None;
        loop {
            tokio::select! {
                biased;
                () = shutdown.now.cancelled() => break,
                Some(message) = commands.next() => self.command(&message),
                Some((key, search)) = ended.recv() => self.scheduler.ended(key, &search),
                Some(message) = polls.next() => self.poll(&message),
                () = shutdown.drain.cancelled(), if leave_by.is_none() => {
                    tracing::info!("shutdown when the running searches have ended; once more to leave at once");
                    self.scheduler.drain();
                    leave_by = Some(Instant::now() + DRAIN_FOR);
                    self.heartbeat(self.publisher.subjects.beat(), None);
                }
                Some(_) = connection.links.recv() => self.heartbeat(self.publisher.subjects.beat(), None),
                _ = heartbeats.tick() => {
                    self.health.is_alive();
                    let effects = self.scheduler.tick(Instant::now());
                    self.carry_out(effects);
                    self.heartbeat(self.publisher.subjects.beat(), None);
                }
            }
            if leave_by.is_some_and(|by| self.scheduler.is_idle() || Instant::now() > by) {
                break;
            }
        }
        self.announce_departure().await;
    }

    /// Tells the daemons that it leaves, so that nobody waits for it.
    async fn announce_departure(self) {
        let heartbeat = Heartbeat { state: WorkerState::Gone, ..self.state(None) };
        self.publisher.send_heartbeat(self.publisher.subjects.beat(), &heartbeat);
        let _ = timeout(Duration::from_secs(1), self.publisher.client.flush()).await;
        tracing::info!("left");
    }

    fn command(&mut self, message: &Message) {
        if let Ok((from, command)) = self.read::<WorkerCommand>(&message.payload) {
            let effects = self.scheduler.command(Instant::now(), from, command);
            self.carry_out(effects);
        }
    }

    fn poll(&mut self, message: &Message) {
        match self.read::<Poll>(&message.payload) {
            Ok((from, poll)) => {
                let effects = self.scheduler.poll(Instant::now(), from, &poll);
                self.carry_out(effects);
                // To the daemon's own subject, whatever the message says: a worker speaks nowhere else.
                self.heartbeat(self.publisher.subjects.answer(from), Some(poll.number));
            }
            // A daemon of another version is answered too, so that it can say why it does not use us.
            Err(Some(other)) => self.heartbeat(self.publisher.subjects.answer(other), None),
            Err(None) => {}
        }
    }

    /// Reads a message; what is wrong with it is a daemon of another version, or nobody's message.
    fn read<B: DeserializeOwned>(&mut self, payload: &[u8]) -> Result<(RunId, B), Option<RunId>> {
        wire::decode::<B>(payload, &self.publisher.identity.version).map(|(sender, body)| (sender.run, body)).map_err(
            |error| {
                let DecodeError::Version { sender, .. } = &error else { return None };
                if self.other_versions.is_first(sender.run) {
                    tracing::warn!("a daemon is not served: {error}");
                }
                Some(sender.run)
            },
        )
    }

    fn carry_out(&mut self, effects: Vec<SchedulerEffect>) {
        for effect in effects {
            match effect {
                SchedulerEffect::Open(key, spec, table) => {
                    let table = table.and_then(|table| self.table(table, &spec));
                    self.slots.insert(key, Slot::local(spec, table.as_ref()));
                }
                SchedulerEffect::Close(key) => {
                    self.slots.remove(&key);
                    self.meters.remove(&key);
                    let scheduler = &self.scheduler;
                    self.tables.retain(|table, _| scheduler.has_table(*table));
                }
                SchedulerEffect::Search(key, job) => {
                    if let Some(slot) = self.slots.get_mut(&key) {
                        let (reports, inbox) = mpsc::unbounded_channel();
                        let meter = Arc::clone(&job.meter);
                        let relayed = RelayedSearch {
                            key,
                            search: job.task.id.clone(),
                            elector: slot.spec().name.clone(),
                            meter,
                        };
                        self.meters.insert(key, Arc::clone(&relayed.meter));
                        slot.search(job, &reports);
                        drop(reports);
                        tokio::spawn(relayed.pass_on(inbox, self.publisher.clone(), self.over.clone()));
                    }
                }
                SchedulerEffect::Stop(key) => self.slots.get(&key).into_iter().for_each(Slot::stop),
                SchedulerEffect::NewGame(key) => self.slots.get(&key).into_iter().for_each(Slot::new_game),
                SchedulerEffect::Tell(daemon, event) => self.publisher.tell(daemon, &event),
            }
        }
    }

    /// The table that an elector shares; one of its own, if what is there belongs to another evaluation.
    fn table(&mut self, key: TableKey, spec: &ElectorSpec) -> Option<SharedTable> {
        let options = spec.instance()?.options(spec.hash, spec.threads);
        let table = self.tables.entry(key).or_insert_with(|| SharedTable::new(&options));
        table.suits(&options).then(|| table.clone())
    }

    fn heartbeat(&self, subject: String, answers: Option<u64>) {
        self.publisher.send_heartbeat(subject, &self.state(answers));
    }

    fn state(&self, answers: Option<u64>) -> Heartbeat {
        let counted = self.scheduler.searches().into_iter().map(|(key, search)| wire::SearchStatus {
            nodes: self.meters.get(&key).map_or(0, |meter| meter.nodes()),
            ..search
        });
        Heartbeat {
            state: self.scheduler.state(),
            cores: u16::try_from(self.lent.cores).unwrap_or(u16::MAX),
            speed: BenchResult::now().speed,
            engines: self.lent.engines.keys().cloned().collect(),
            daemons: self.scheduler.daemons(),
            searches: counted.collect(),
            answers,
        }
    }
}

/// A search whose reports are passed on.
struct RelayedSearch {
    key: SlotKey,
    search: SearchId,
    elector: ElectorName,
    meter: Arc<Meter>,
}

impl RelayedSearch {
    /// Tells the daemon of every proposal and of the end, after which nothing more comes of it.
    async fn pass_on(
        self,
        mut reports: UnboundedReceiver<SearchReport>,
        publisher: Publisher,
        over: UnboundedSender<(SlotKey, SearchId)>,
    ) {
        while let Some(report) = reports.recv().await {
            let kind = match report {
                SearchReport::Proposal(proposal) => SearchEventKind::Proposal(ProposalText::of(&proposal)),
                SearchReport::Finished(..) => SearchEventKind::Finished(self.meter.nodes()),
                SearchReport::Failed(_, _, why) => SearchEventKind::Failed(why),
            };
            publisher
                .tell(self.key.0, &SearchEvent { search: self.search.clone(), elector: self.elector.clone(), kind });
        }
        let _ = over.send((self.key, self.search));
    }
}
