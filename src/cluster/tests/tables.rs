//! Tests of the table messages on a real NATS server, seen by a subscriber to all of them.

#[path = "../../../tests/stories/cluster/nats.rs"]
mod nats;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::Subscriber;
use concilio_cluster::{
    ClusterClient, ClusterSettings, ProcessIdentity, WorkerSettings, lend,
    wire::{self, Addressed, TableNews, WorkerCommand, WorkerMessage},
};
use council::{Council, CouncilSettings, Question, Roster, electors::Pool};
use domain::{GameId, Line, Variant};
use engine::TableEntry;
use futures_util::{FutureExt, StreamExt};
use nats::{Nats, PATIENCE};
use tokio_util::sync::{CancellationToken, DropGuard};
use util::Shutdown;

fn settings(nats: &Nats, name: &str) -> ClusterSettings {
    ClusterSettings { nats: nats.url(), name: name.to_owned(), ..ClusterSettings::default() }
}

/// A worker of two cores, until the guard is dropped.
fn lends(nats: &Nats, name: &str) -> DropGuard {
    let shutdown = Shutdown::default();
    let guard = shutdown.now.clone().drop_guard();
    let cluster = settings(nats, name);
    let worker = WorkerSettings { cluster, cores: 2, memory: 64, engines: Default::default(), health: None };
    tokio::spawn(lend(worker, shutdown));
    guard
}

/// A daemon of one core whose council has a copy for each core there is.
struct Daemon {
    cluster: ClusterClient,
    council: Council,
    _stop: DropGuard,
}

impl Daemon {
    async fn joins(settings: ClusterSettings, workers: usize) -> Self {
        let stop = CancellationToken::new();
        let cluster = ClusterClient::join(settings, stop.clone());
        let begun = Instant::now();
        while cluster.workers().len() < workers {
            assert!(begun.elapsed() < PATIENCE, "{:?} are there", cluster.workers());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let settings = CouncilSettings { hash: 1, advisers: String::new(), ..CouncilSettings::default() };
        let pool = Pool::with_remote(1, Some(Arc::new(cluster.clone())));
        let roster = Roster::from_settings(&settings).expect("a roster");
        let council = Council::new(&pool, &roster, &settings, Variant::Standard);
        Self { cluster, council, _stop: stop.drop_guard() }
    }

    /// Decides on a first move, and says which machines had a vote.
    async fn decides(&mut self) -> BTreeSet<String> {
        let timing = Some(Box::new(|_: &_| Duration::from_millis(700)) as _);
        let line = Arc::new(Line::start(Variant::Standard));
        let question = Question { timing, ..Question::new(GameId::new("story"), line) };
        let decided = self.council.decide(question, &CancellationToken::new(), &mut |_| {}).await;
        let votes = decided.expect("a decision").votes;
        votes.into_iter().filter_map(|vote| Some(vote.proposal.machine?.to_string())).collect()
    }
}

/// Table messages by sender and receiver, the last words of the subjects.
#[derive(Default)]
struct Told(BTreeMap<String, Vec<TableNews>>);

impl Told {
    /// Reads what has been said so far.
    fn hear(&mut self, all: &mut Subscriber, identity: &ProcessIdentity) {
        while let Some(Some(message)) = all.next().now_or_never() {
            let of_worker = wire::decode::<Addressed<WorkerMessage>>("any", &message.payload, &identity.version);
            let of_daemon = wire::decode::<Addressed<WorkerCommand>>("any", &message.payload, &identity.version);
            let subject = message.subject.trim_start_matches("concilio.").to_owned();
            let news = match (of_worker, of_daemon) {
                (Ok((_, Addressed { body: WorkerMessage::Table(news), .. })), _) if subject.starts_with("worker") => {
                    news
                }
                (_, Ok((_, Addressed { body: WorkerCommand::Table(news), .. }))) if subject.starts_with("daemon") => {
                    news
                }
                _ => continue,
            };
            self.0.entry(subject).or_default().push(news);
        }
    }

    /// The keys of all positions that were told of on a subject.
    fn positions(&self, subject: &str) -> BTreeSet<[u8; TableEntry::BYTES]> {
        let news = self.0.get(subject).into_iter().flatten();
        news.flat_map(|news| news.batch().entries).map(TableEntry::to_bytes).collect()
    }
}

async fn listens(nats: &Nats) -> (Subscriber, ProcessIdentity) {
    let client = async_nats::connect(nats.url()).await.expect("let in");
    let all = client.subscribe("concilio.>").await.expect("subscribed");
    client.flush().await.expect("subscribed");
    let identity = tokio::task::spawn_blocking(|| ProcessIdentity::new("listener"));
    (all, identity.await.expect("a bench"))
}

/// Each machine tells what is new in its table; what one worker has found out comes to the other through the daemon.
#[testkit::test(needs(NATS_SERVER))]
async fn machines_exchange_table_entries() {
    let nats = Nats::start();
    let (mut all, identity) = listens(&nats).await;
    let _workers = [lends(&nats, "attic"), lends(&nats, "garret")];
    let mut daemon = Daemon::joins(settings(&nats, "daemon"), 2).await;
    let mut told = Told::default();
    let begun = Instant::now();
    let relayed = |told: &Told, from: &str, to: &str| {
        let (from, to) = (format!("worker.{from}.to.daemon"), format!("daemon.daemon.to.{to}"));
        told.positions(&from).intersection(&told.positions(&to)).next().is_some()
    };
    while !(relayed(&told, "attic", "garret") && relayed(&told, "garret", "attic")) {
        let who: Vec<&String> = told.0.keys().collect();
        assert!(begun.elapsed() < PATIENCE, "{who:?} have spoken");
        daemon.decides().await;
        told.hear(&mut all, &identity);
    }
    let ClusterSettings { table_messages, table_bytes, .. } = ClusterSettings::default();
    let longest = told.0.values().flatten().map(|news| news.entries.len()).max();
    assert!(longest <= Some((table_bytes / table_messages) as usize), "{longest:?} bytes");
}

#[testkit::test(needs(NATS_SERVER))]
async fn disabled_table_messages_stay_off() {
    let nats = Nats::start();
    let (mut all, identity) = listens(&nats).await;
    let _worker = lends(&nats, "attic");
    let silent = ClusterSettings { table_messages: 0, ..settings(&nats, "daemon") };
    let mut daemon = Daemon::joins(silent, 1).await;
    let begun = Instant::now();
    let mut heard = 0;
    while heard < 3 {
        assert!(begun.elapsed() < PATIENCE, "{:?} take no part", daemon.cluster.workers());
        heard += usize::from(!daemon.decides().await.is_empty());
    }
    let mut told = Told::default();
    told.hear(&mut all, &identity);
    assert!(told.0.is_empty(), "{:?}", told.0.keys());
}

fn main() -> std::process::ExitCode {
    testkit::main()
}
