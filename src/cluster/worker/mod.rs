//! The lending side: this process takes searches from daemons and tells them of every iteration.
//!
//! `tenancy` has the rules; here are the threads, the clock and the network.

mod health;
mod tenancy;
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
    connection::{self, Connection, ConnectionError, connect_patiently},
    identity::{Identity, Measured, RunId, Strangers},
    registry::BEAT_EVERY,
    settings::ClusterSettings,
    subjects::Subjects,
    wire::{self, Beat, Call, Order, ProposalText, Says, WireError, Word, WorkerState},
};
use chess::{ElectorName, SearchId, Shutdown};
use council::pool::{ElectorSpec, Meter, Report, Seat};
use engine::SharedTable;
use health::Health;
use tenancy::{Effect, Lent, SeatKey, TableKey, Tenancy};

/// A worker that was told to leave waits no longer for its searches to end.
const DRAIN_FOR: Duration = Duration::from_secs(30);

/// What a worker lends, and where.
#[derive(Clone, Debug)]
pub struct WorkerSettings {
    /// The cluster.
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
    let health = Health::default();
    if let Some(address) = settings.health {
        health.serve(address).await.map_err(|error| LendError::Health(address, error))?;
    }
    let name = settings.cluster.name();
    let bench = tokio::task::spawn_blocking(move || Identity::new(&name)).await;
    let Ok(identity) = bench else { return Ok(()) };
    let connecting = connect_patiently(&settings.cluster);
    let Some(connected) = shutdown.now.run_until_cancelled(connecting).await else { return Ok(()) };
    let connection = connected?;
    let subjects = Subjects::below(&settings.cluster.prefix);
    let lost = |error| ConnectionError::unreachable(&settings.cluster, &error);
    let client = connection.client.clone();
    let orders = client.subscribe(subjects.worker(identity.sender.run)).await.map_err(lost)?;
    let calls = client.subscribe(subjects.call()).await.map_err(lost)?;
    let all = std::thread::available_parallelism().map_or(1, usize::from);
    let cores = if settings.cores == 0 { all } else { settings.cores };
    let lent = Lent { cores, memory: settings.memory, engines: settings.engines.clone() };
    let speed = Measured::now().speed;
    let sender = &identity.sender;
    tracing::info!(name = sender.name, cores, speed, version = %identity.version, "lending");
    health.connected(client.clone());
    Worker::new(lent, identity, subjects, client, health).serve(orders, calls, connection, shutdown).await;
    Ok(())
}

/// A worker at work.
struct Worker {
    tenancy: Tenancy,
    lent: Lent,
    voice: Voice,
    seats: HashMap<SeatKey, Seat>,
    tables: HashMap<TableKey, SharedTable>,
    meters: HashMap<SeatKey, Arc<Meter>>,
    over: UnboundedSender<(SeatKey, SearchId)>,
    ended: Option<UnboundedReceiver<(SeatKey, SearchId)>>,
    health: Health,
    /// Daemons of other versions that were told of.
    strangers: Strangers,
}

/// How it speaks. Cheap to clone.
#[derive(Clone)]
struct Voice {
    identity: Arc<Identity>,
    subjects: Arc<Subjects>,
    client: Client,
}

impl Voice {
    /// At most once: a word that cannot be sent now is of no use later.
    fn say(&self, daemon: RunId, word: &Word) {
        connection::send(&self.client, self.subjects.daemon(daemon), wire::seal(&self.identity, word));
    }

    fn beat(&self, subject: String, beat: &Beat) {
        connection::send(&self.client, subject, wire::seal(&self.identity, beat));
    }
}

impl Worker {
    fn new(lent: Lent, identity: Identity, subjects: Subjects, client: Client, health: Health) -> Self {
        let (over, ended) = mpsc::unbounded_channel();
        let voice = Voice { identity: Arc::new(identity), subjects: Arc::new(subjects), client };
        Self {
            tenancy: Tenancy::new(lent.clone()),
            lent,
            voice,
            seats: HashMap::new(),
            tables: HashMap::new(),
            meters: HashMap::new(),
            over,
            ended: Some(ended),
            health,
            strangers: Strangers::default(),
        }
    }

    async fn serve(
        mut self,
        mut orders: Subscriber,
        mut calls: Subscriber,
        mut connection: Connection,
        shutdown: Shutdown,
    ) {
        let mut beats = interval(BEAT_EVERY);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let Some(mut ended) = self.ended.take() else { return };
        let mut leave_by = None;
        loop {
            tokio::select! {
                biased;
                () = shutdown.now.cancelled() => break,
                Some(message) = orders.next() => self.order(&message),
                Some((key, search)) = ended.recv() => self.tenancy.over(key, &search),
                Some(message) = calls.next() => self.call(&message),
                () = shutdown.drain.cancelled(), if leave_by.is_none() => {
                    tracing::info!("shutdown when the running searches have ended; once more to leave at once");
                    self.tenancy.drain();
                    leave_by = Some(Instant::now() + DRAIN_FOR);
                    self.beat(self.voice.subjects.beat(), None);
                }
                Some(_) = connection.links.recv() => self.beat(self.voice.subjects.beat(), None),
                _ = beats.tick() => {
                    self.health.is_alive();
                    let effects = self.tenancy.tick(Instant::now());
                    self.carry_out(effects);
                    self.beat(self.voice.subjects.beat(), None);
                }
            }
            if leave_by.is_some_and(|by| self.tenancy.is_idle() || Instant::now() > by) {
                break;
            }
        }
        self.say_good_bye().await;
    }

    /// The last word, so that nobody waits for us.
    async fn say_good_bye(self) {
        let beat = Beat { state: WorkerState::Gone, ..self.state(None) };
        self.voice.beat(self.voice.subjects.beat(), &beat);
        let _ = timeout(Duration::from_secs(1), self.voice.client.flush()).await;
        tracing::info!("left");
    }

    fn order(&mut self, message: &Message) {
        if let Ok((from, order)) = self.read::<Order>(&message.payload) {
            let effects = self.tenancy.order(Instant::now(), from, order);
            self.carry_out(effects);
        }
    }

    fn call(&mut self, message: &Message) {
        match self.read::<Call>(&message.payload) {
            Ok((from, call)) => {
                let effects = self.tenancy.call(Instant::now(), from, &call);
                self.carry_out(effects);
                // To the daemon's own subject, whatever the message says: a worker speaks nowhere else.
                self.beat(self.voice.subjects.answer(from), Some(call.number));
            }
            // One of another version is answered too, so that it can say why it does not use us.
            Err(Some(stranger)) => self.beat(self.voice.subjects.answer(stranger), None),
            Err(None) => {}
        }
    }

    /// Reads a message; what is wrong with it is a daemon of another version, or nobody's message.
    fn read<B: DeserializeOwned>(&mut self, payload: &[u8]) -> Result<(RunId, B), Option<RunId>> {
        wire::open::<B>(payload, &self.voice.identity.version).map(|(sender, body)| (sender.run, body)).map_err(
            |error| {
                let WireError::Version { sender, .. } = &error else { return None };
                if self.strangers.is_news(sender.run) {
                    tracing::warn!("a daemon is not served: {error}");
                }
                Some(sender.run)
            },
        )
    }

    fn carry_out(&mut self, effects: Vec<Effect>) {
        for effect in effects {
            match effect {
                Effect::Open(key, spec, table) => {
                    let table = table.and_then(|table| self.table(table, &spec));
                    self.seats.insert(key, Seat::here(spec, table.as_ref()));
                }
                Effect::Close(key) => {
                    self.seats.remove(&key);
                    self.meters.remove(&key);
                    let tenancy = &self.tenancy;
                    self.tables.retain(|table, _| tenancy.has_table(*table));
                }
                Effect::Search(key, job) => {
                    if let Some(seat) = self.seats.get_mut(&key) {
                        let (reports, inbox) = mpsc::unbounded_channel();
                        let meter = Arc::clone(&job.meter);
                        let told = Told { key, search: job.task.id.clone(), elector: seat.spec().name.clone(), meter };
                        self.meters.insert(key, Arc::clone(&told.meter));
                        seat.search(job, &reports);
                        drop(reports);
                        tokio::spawn(told.pass_on(inbox, self.voice.clone(), self.over.clone()));
                    }
                }
                Effect::Stop(key) => self.seats.get(&key).into_iter().for_each(Seat::stop),
                Effect::NewGame(key) => self.seats.get(&key).into_iter().for_each(Seat::new_game),
                Effect::Say(daemon, word) => self.voice.say(daemon, &word),
            }
        }
    }

    /// The table that an elector shares; one of its own, if what is there belongs to another evaluation.
    fn table(&mut self, key: TableKey, spec: &ElectorSpec) -> Option<SharedTable> {
        let options = spec.instance()?.options(spec.hash, spec.threads);
        let table = self.tables.entry(key).or_insert_with(|| SharedTable::new(&options));
        table.suits(&options).then(|| table.clone())
    }

    fn beat(&self, subject: String, answers: Option<u64>) {
        self.voice.beat(subject, &self.state(answers));
    }

    fn state(&self, answers: Option<u64>) -> Beat {
        let counted = self.tenancy.searches().into_iter().map(|(key, search)| wire::Searching {
            nodes: self.meters.get(&key).map_or(0, |meter| meter.nodes()),
            ..search
        });
        Beat {
            state: self.tenancy.state(),
            cores: u16::try_from(self.lent.cores).unwrap_or(u16::MAX),
            speed: Measured::now().speed,
            engines: self.lent.engines.keys().cloned().collect(),
            tenants: self.tenancy.tenants(),
            searches: counted.collect(),
            answers,
        }
    }
}

/// A search whose reports are passed on.
struct Told {
    key: SeatKey,
    search: SearchId,
    elector: ElectorName,
    meter: Arc<Meter>,
}

impl Told {
    /// Tells the daemon of every proposal and of the end, after which the seat speaks no more.
    async fn pass_on(
        self,
        mut reports: UnboundedReceiver<Report>,
        voice: Voice,
        over: UnboundedSender<(SeatKey, SearchId)>,
    ) {
        while let Some(report) = reports.recv().await {
            let says = match report {
                Report::Proposal(proposal) => Says::Proposal(ProposalText::of(&proposal)),
                Report::Finished(..) => Says::Finished(self.meter.nodes()),
                Report::Failed(_, _, why) => Says::Failed(why),
            };
            voice.say(self.key.0, &Word { search: self.search.clone(), elector: self.elector.clone(), says });
        }
        let _ = over.send((self.key, self.search));
    }
}
