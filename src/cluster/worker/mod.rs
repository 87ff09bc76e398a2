//! The worker's side: takes searches from daemons and reports every iteration.
//!
//! `scheduler` has the rules; this module has the threads, the clock and the network.

mod health;
mod scheduler;
mod served;
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
use futures_util::{StreamExt, stream::SelectAll};
use serde::de::DeserializeOwned;
use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time::{MissedTickBehavior, interval, timeout},
};

use super::{
    connection::{self, ConnectionChange, ConnectionError, ReadWatch, connect_patiently},
    identity::{BenchResult, NamesTold, Namesake, ProcessIdentity, RunId, RunOwners, Sender},
    registry::HEARTBEAT_EVERY,
    settings::ClusterSettings,
    subjects::Subjects,
    table_sync::{SyncBudget, next_news},
    wire::{
        self, Addressed, DecodeError, Heartbeat, Poll, ProposalText, SearchEvent, SearchEventKind, TableNews,
        WorkerCommand, WorkerMessage, WorkerState,
    },
};
use council::electors::{ElectorSpec, SearchReport, SearchState, SearchStatus, Slot, local_slot, memory_for_tables};
use domain::SearchId;
use engine::{Belief, SharedTable};
use health::WorkerHealth;
use scheduler::{Scheduler, SchedulerEffect, SlotKey, TableKey};
use served::{Refusal, ServedDaemons};
use util::Shutdown;

/// A worker that was told to leave waits no longer for its searches to end.
const DRAIN_FOR: Duration = Duration::from_secs(30);

#[derive(Clone, Debug)]
pub struct WorkerSettings {
    pub cluster: ClusterSettings,
    /// Cores for searches; 0 takes all.
    pub cores: usize,
    /// Memory for all tables together, MiB.
    pub memory: usize,
    /// UCI engines, by the names under which daemons know them.
    pub engines: BTreeMap<String, PathBuf>,
    pub health: Option<SocketAddr>,
}

#[derive(Debug, thiserror::Error)]
pub enum LendError {
    #[error(transparent)]
    Connection(#[from] ConnectionError),
    /// The address for questions about its health is taken, or not ours.
    #[error("--health {0}: {1}")]
    Health(SocketAddr, std::io::Error),
}

/// Searches for daemons until shutdown.
///
/// # Errors
/// [`LendError`] if the server refuses us, or health cannot be served. Waits for an absent server.
pub async fn lend(settings: WorkerSettings, shutdown: Shutdown) -> Result<(), LendError> {
    let health = Arc::<WorkerHealth>::default();
    if let Some(address) = settings.health {
        health.serve(address).await.map_err(|error| LendError::Health(address, error))?;
    }
    let name = settings.cluster.name();
    let measured = tokio::task::spawn_blocking(move || ProcessIdentity::new(&name)).await;
    let Ok(identity) = measured else { return Ok(()) };
    // One that waits for its server has nothing to finish: it leaves at the first word.
    let connecting = shutdown.drain.run_until_cancelled(connect_patiently(&settings.cluster));
    let Some(Some(connected)) = shutdown.now.run_until_cancelled(connecting).await else { return Ok(()) };
    let (client, links) = connected?;
    let subjects = Subjects::below(&settings.cluster.prefix);
    let lost = |error| ConnectionError::unreachable(&settings.cluster, &error);
    let name = &identity.sender.name;
    let (mut commands, mut polls) = (SelectAll::new(), SelectAll::new());
    let served = ServedDaemons::of(&settings.cluster);
    for daemon in served.names() {
        let [orders, calls] = ServedDaemons::subjects_of(&subjects, daemon, name);
        commands.push(client.subscribe(orders).await.map_err(lost)?);
        polls.push(client.subscribe(calls).await.map_err(lost)?);
    }
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if settings.cores == 0 { all } else { settings.cores };
    let memory = memory_for_tables().map_or(settings.memory, |most| settings.memory.min(most));
    if memory < settings.memory {
        tracing::warn!("{} MiB were requested for tables; this process may have {memory} MiB", settings.memory);
    }
    let cluster = settings.cluster.clone();
    let speed = BenchResult::now().speed;
    let sender = &identity.sender;
    tracing::info!(name = sender.name, cores, speed, version = %identity.version, "worker ready");
    health.connected(client.clone());
    let table_sync = SyncBudget::of(&cluster);
    let publisher = Publisher { identity: Arc::new(identity), subjects: Arc::new(subjects), client };
    let lent = WorkerSettings { cores, memory, ..settings };
    let task = WorkerTask::new(lent, table_sync, publisher, served, health);
    let refused = task.serve(commands, polls, links, shutdown).await;
    refused.map_or(Ok(()), |reason| Err(ConnectionError::no_daemon_to_serve(&cluster, reason).into()))
}

struct WorkerTask {
    scheduler: Scheduler,
    publisher: Publisher,
    slots: HashMap<SlotKey, Box<dyn Slot>>,
    tables: BTreeMap<TableKey, LentTable>,
    /// Limit on table messages; `None` turns them off.
    table_sync: Option<SyncBudget>,
    told_last: Option<TableKey>,
    states: HashMap<SlotKey, Arc<SearchState>>,
    over: UnboundedSender<(SlotKey, SearchId)>,
    ended: Option<UnboundedReceiver<(SlotKey, SearchId)>>,
    health: Arc<WorkerHealth>,
    searches: u64,
    served: ServedDaemons,
    daemons: RunOwners,
    other_versions: NamesTold,
    /// Daemons of which the log has told that a process of theirs is not admitted.
    turned_away: NamesTold,
    namesake: Namesake,
}

/// A table with which slots of one daemon search.
struct LentTable {
    table: SharedTable,
    /// True if the daemon has sent news of its own table, and so wants news of this one.
    is_told_of: bool,
}

/// Sends its messages. Cheap to clone.
#[derive(Clone)]
struct Publisher {
    identity: Arc<ProcessIdentity>,
    subjects: Arc<Subjects>,
    client: Client,
}

impl Publisher {
    /// Sends a message at most once: an event that cannot be sent now is of no use later.
    fn tell(&self, daemon: &Sender, message: WorkerMessage) {
        let subject = self.subjects.to_daemon(&self.identity.sender.name, &daemon.name);
        let message = Addressed { to: daemon.run, body: message };
        connection::send(&self.client, subject, wire::encode(&self.identity, &message));
    }

    async fn pass_on(&self, daemon: &Sender, mut reports: UnboundedReceiver<SearchReport>, state: &SearchState) {
        while let Some(report) = reports.recv().await {
            let (search, elector) = (report.search().clone(), report.elector().clone());
            let kind = match report {
                SearchReport::Proposal(proposal) => SearchEventKind::Proposal(ProposalText::of(&proposal)),
                SearchReport::Finished(..) => SearchEventKind::Finished(state.nodes()),
                SearchReport::Failed(_, _, why) => SearchEventKind::Failed(why),
            };
            self.tell(daemon, WorkerMessage::Event(SearchEvent { search, elector, kind }));
        }
    }

    fn beat(&self, heartbeat: &Heartbeat) {
        let subject = self.subjects.beat(&self.identity.sender.name);
        connection::send(&self.client, subject, wire::encode(&self.identity, heartbeat));
    }
}

impl WorkerTask {
    fn new(
        lent: WorkerSettings,
        table_sync: Option<SyncBudget>,
        publisher: Publisher,
        served: ServedDaemons,
        health: Arc<WorkerHealth>,
    ) -> Self {
        let (over, ended) = mpsc::unbounded_channel();
        Self {
            scheduler: Scheduler::new(lent),
            publisher,
            slots: HashMap::new(),
            tables: BTreeMap::new(),
            table_sync,
            told_last: None,
            states: HashMap::new(),
            over,
            ended: Some(ended),
            health,
            searches: 0,
            served,
            daemons: RunOwners::default(),
            other_versions: NamesTold::default(),
            turned_away: NamesTold::default(),
            namesake: Namesake::none(Instant::now()),
        }
    }

    /// Serves until shutdown, or until the server allows no daemon any more; returns the server's
    /// words then.
    async fn serve(
        mut self,
        mut commands: SelectAll<Subscriber>,
        mut polls: SelectAll<Subscriber>,
        mut links: UnboundedReceiver<ConnectionChange>,
        shutdown: Shutdown,
    ) -> Option<String> {
        let mut heartbeats = interval(HEARTBEAT_EVERY);
        heartbeats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut news = interval(self.table_sync.map_or(Duration::MAX, |budget| budget.interval()));
        news.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut ended = self.ended.take()?;
        let mut leave_by = None;
        let mut watch = ReadWatch::of(&self.publisher.client);
        loop {
            tokio::select! {
                biased;
                () = shutdown.now.cancelled() => break,
                // Before the commands: no daemon's commands delay the heartbeats.
                _ = heartbeats.tick() => {
                    let effects = self.scheduler.tick(Instant::now());
                    self.carry_out(effects);
                    let state = self.state(None);
                    self.publisher.beat(&state);
                    self.health.went_round(state, self.searches);
                    if watch.is_too_long() {
                        tracing::warn!("the NATS server announced a message beyond the limit: reconnecting");
                        let _ = self.publisher.client.force_reconnect().await;
                        watch = ReadWatch::of(&self.publisher.client);
                    }
                }
                // Before the orders: a poll that was sent before an order does not know its search, and would stop it.
                Some(message) = polls.next() => self.poll(&message),
                Some(message) = commands.next() => self.command(&message),
                Some((key, search)) = ended.recv() => self.scheduler.ended(key, &search),
                () = shutdown.drain.cancelled(), if leave_by.is_none() => {
                    tracing::info!("stopping after the running searches; send the signal again to stop at once");
                    self.scheduler.drain();
                    leave_by = Some(Instant::now() + DRAIN_FOR);
                    self.publisher.beat(&self.state(None));
                }
                Some(change) = links.recv() => match change {
                    ConnectionChange::Up => {
                        self.served.reconnected();
                        self.publisher.beat(&self.state(None));
                    }
                    ConnectionChange::Down => {}
                    ConnectionChange::NotAllowed(words) if self.is_left_without_daemons(&words) => return Some(words),
                    ConnectionChange::NotAllowed(_) => {}
                },
                _ = news.tick(), if self.table_sync.is_some() => self.tell_of_a_table(),
            }
            if leave_by.is_some_and(|by| self.scheduler.is_idle() || Instant::now() > by) {
                break;
            }
        }
        self.announce_departure().await;
        None
    }

    /// Announces the departure, so that no daemon waits for this worker.
    async fn announce_departure(self) {
        let heartbeat = Heartbeat { state: WorkerState::Gone, ..self.state(None) };
        self.publisher.beat(&heartbeat);
        let _ = timeout(Duration::from_secs(1), self.publisher.client.flush()).await;
        tracing::info!("left");
    }

    /// Handles a refused subscription; returns true if no daemon is left to serve.
    fn is_left_without_daemons(&mut self, words: &str) -> bool {
        let Publisher { identity, subjects, .. } = &self.publisher;
        match self.served.refuse(words, subjects, &identity.sender.name) {
            Refusal::OfAll => true,
            Refusal::Known => false,
            Refusal::Of(daemon) => {
                tracing::warn!("the NATS server forbids serving the daemon {daemon}: {words}; serving the others");
                false
            }
        }
    }

    fn command(&mut self, message: &Message) {
        let Some((from, message)) = self.read::<Addressed<WorkerCommand>>(message) else { return };
        let now = Instant::now();
        if message.to != self.publisher.identity.sender.run {
            if self.namesake.is_news(now) {
                tracing::warn!(
                    "another worker has this name, {}: give each a --name and a key of its own",
                    self.name()
                );
            }
        } else if self.daemons.admits(now, &from) {
            let effects = self.scheduler.command(now, from.run, message.body);
            self.carry_out(effects);
        } else if self.turned_away.is_first(&from) {
            tracing::warn!(
                "ignoring a process of the daemon {}: too many processes within a minute, or its run belongs to another",
                from.name
            );
        }
    }

    fn tell_of_a_table(&mut self) {
        let tables = self.tables.iter().filter(|(_, lent)| lent.is_told_of).map(|(key, lent)| (*key, &lent.table));
        let Some(((daemon, number), batch)) = next_news(tables, &mut self.told_last) else { return };
        if let Some(daemon) = self.daemon(daemon) {
            self.publisher.tell(&daemon, WorkerMessage::Table(TableNews::of(number, &batch)));
        }
    }

    fn hear(&mut self, key: TableKey, news: &TableNews) {
        let Some((lent, budget)) = self.tables.get_mut(&key).zip(self.table_sync) else { return };
        if !std::mem::replace(&mut lent.is_told_of, true) {
            lent.table.keep_for_others(budget.entries);
        }
        lent.table.hear(&news.batch(), Belief::Values);
    }

    fn poll(&mut self, message: &Message) {
        let Some((from, poll)) = self.read::<Poll>(message) else { return };
        if self.daemons.may_ask(Instant::now(), &from) {
            let effects = self.scheduler.poll(Instant::now(), from.run, &poll);
            self.carry_out(effects);
            self.publisher.tell(&from, WorkerMessage::Answer(self.state(Some(poll.number))));
        }
    }

    /// Reads a message of a daemon. One of another version is answered too, so that it can say why it does not use us.
    fn read<B: DeserializeOwned>(&mut self, message: &Message) -> Option<(Sender, B)> {
        let from = self.publisher.subjects.sender(&message.subject)?;
        match wire::decode::<B>(from, &message.payload, &self.publisher.identity.version) {
            Ok(read) => Some(read),
            Err(error) => {
                let DecodeError::Version { sender, .. } = &error else { return None };
                if self.other_versions.is_first(sender) {
                    tracing::warn!("ignoring a daemon: {error}");
                }
                self.publisher.tell(sender, WorkerMessage::Answer(self.state(None)));
                None
            }
        }
    }

    fn name(&self) -> &str {
        &self.publisher.identity.sender.name
    }

    fn daemon(&self, run: RunId) -> Option<Sender> {
        self.daemons.name(run).map(|name| Sender { name: name.to_owned(), run })
    }

    fn carry_out(&mut self, effects: Vec<SchedulerEffect>) {
        for effect in effects {
            match effect {
                SchedulerEffect::Open(key, spec, table) => {
                    let table = table.and_then(|table| self.table(table, &spec));
                    self.slots.insert(key, local_slot(&spec, table.as_ref()));
                }
                SchedulerEffect::Close(key) => {
                    self.slots.remove(&key);
                    self.states.remove(&key);
                    let scheduler = &self.scheduler;
                    self.tables.retain(|table, _| scheduler.has_table(*table));
                }
                SchedulerEffect::Search(key, task) => {
                    let daemon = self.daemon(key.0);
                    if let Some((slot, daemon)) = self.slots.get_mut(&key).zip(daemon) {
                        self.searches += 1;
                        let (reports, inbox) = mpsc::unbounded_channel();
                        let (search, state) = (task.id.clone(), Arc::clone(&task.state));
                        self.states.insert(key, Arc::clone(&state));
                        slot.search(task, &reports);
                        drop(reports);
                        let (publisher, over) = (self.publisher.clone(), self.over.clone());
                        tokio::spawn(async move {
                            publisher.pass_on(&daemon, inbox, &state).await;
                            over.send((key, search))
                        });
                    }
                }
                SchedulerEffect::Stop(key) => self.slots.get(&key).into_iter().for_each(|slot| slot.stop()),
                SchedulerEffect::NewGame(key, table) => {
                    table.and_then(|table| self.tables.get(&table)).into_iter().for_each(|lent| lent.table.forget());
                    self.slots.get(&key).into_iter().for_each(|slot| slot.new_game());
                }
                SchedulerEffect::Hear(key, news) => self.hear(key, &news),
                SchedulerEffect::Tell(daemon, event) => {
                    if let Some(daemon) = self.daemon(daemon) {
                        self.publisher.tell(&daemon, WorkerMessage::Event(event));
                    }
                }
            }
        }
    }

    /// The table that an elector shares. What is there is left of a slot that is closed, if it is another than the scheduler counts.
    fn table(&mut self, key: TableKey, spec: &ElectorSpec) -> Option<SharedTable> {
        let options = spec.instance()?.options(spec.hash, spec.threads);
        let new = || LentTable { table: SharedTable::new(&options), is_told_of: false };
        let lent = self.tables.entry(key).or_insert_with(new);
        if !lent.table.suits(&options) || lent.table.hash() != spec.hash {
            *lent = new();
        }
        Some(lent.table.clone())
    }

    fn state(&self, answers: Option<u64>) -> Heartbeat {
        let counted = self.scheduler.searches().into_iter().map(|(key, search)| {
            let nodes = self.states.get(&key).map_or(0, |state| state.nodes());
            (key.0, SearchStatus { nodes, ..search })
        });
        Heartbeat {
            state: self.scheduler.state(),
            cores: u16::try_from(self.scheduler.lent.cores).unwrap_or(u16::MAX),
            speed: BenchResult::now().speed,
            engines: self.scheduler.lent.engines.keys().cloned().collect(),
            daemons: self.scheduler.daemons(),
            searches: counted.collect(),
            answers,
        }
    }
}
