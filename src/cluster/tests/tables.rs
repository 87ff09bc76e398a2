//! Tests of the table messages on a real NATS server, seen by a subscriber to all of them.

mod log;
mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use async_nats::Subscriber;
use concilio_cluster::{
    ClusterSettings, ProcessIdentity,
    wire::{self, Addressed, TableNews, WorkerCommand, WorkerMessage},
};
use council::CouncilSettings;
use engine::TableEntry;
use futures_util::{FutureExt, StreamExt};
use stage::hostile::worker::{Target, position};
use support::{lends, settings, worker};
use testkit::{PATIENCE, nats::Nats};

/// A daemon whose council has a copy for each core there is.
async fn joins(settings: ClusterSettings, workers: &[&str]) -> Target {
    let council = CouncilSettings { hash: 1, advisers: String::new(), ..CouncilSettings::default() };
    Target::joins(settings, workers, council).await
}

/// Decides on a first move, and says which machines had a vote.
async fn decides(daemon: &mut Target) -> BTreeSet<String> {
    let decided = daemon.decides(&position(""), Duration::from_millis(700)).await;
    decided.decision.votes.into_iter().filter_map(|vote| Some(vote.proposal.machine?.to_string())).collect()
}

/// Table messages by sender and receiver, the last words of the subjects.
type Told = BTreeMap<String, Vec<TableNews>>;

/// Reads what has been said so far.
fn hear(told: &mut Told, all: &mut Subscriber, identity: &ProcessIdentity) {
    while let Some(Some(message)) = all.next().now_or_never() {
        let of_worker = wire::decode::<Addressed<WorkerMessage>>("any", &message.payload, &identity.version);
        let of_daemon = wire::decode::<Addressed<WorkerCommand>>("any", &message.payload, &identity.version);
        let subject = message.subject.trim_start_matches("concilio.").to_owned();
        let news = match (of_worker, of_daemon) {
            (Ok((_, Addressed { body: WorkerMessage::Table(news), .. })), _) if subject.starts_with("worker") => news,
            (_, Ok((_, Addressed { body: WorkerCommand::Table(news), .. }))) if subject.starts_with("daemon") => news,
            _ => continue,
        };
        told.entry(subject).or_default().push(news);
    }
}

fn positions(told: &Told, subject: &str) -> BTreeSet<[u8; TableEntry::BYTES]> {
    let news = told.get(subject).into_iter().flatten();
    news.flat_map(|news| news.batch().entries).map(TableEntry::to_bytes).collect()
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
    let _workers = ["attic", "garret"].map(|name| lends(worker(settings(&nats, name))));
    let mut daemon = joins(settings(&nats, "daemon"), &["attic", "garret"]).await;
    let mut told = Told::default();
    let begun = Instant::now();
    let relayed = |told: &Told, from: &str, to: &str| {
        let (from, to) = (format!("worker.{from}.to.daemon"), format!("daemon.daemon.to.{to}"));
        positions(told, &from).intersection(&positions(told, &to)).next().is_some()
    };
    while !(relayed(&told, "attic", "garret") && relayed(&told, "garret", "attic")) {
        let who: Vec<&String> = told.keys().collect();
        assert!(begun.elapsed() < PATIENCE, "{who:?} have spoken");
        decides(&mut daemon).await;
        hear(&mut told, &mut all, &identity);
    }
    let ClusterSettings { table_messages, table_bytes, .. } = ClusterSettings::default();
    let longest = told.values().flatten().map(|news| news.entries.len()).max();
    assert!(longest <= Some((table_bytes / table_messages) as usize), "{longest:?} bytes");
}

#[testkit::test(needs(NATS_SERVER))]
async fn disabled_table_messages_stay_off() {
    let nats = Nats::start();
    let (mut all, identity) = listens(&nats).await;
    let _worker = lends(worker(settings(&nats, "attic")));
    let silent = ClusterSettings { table_messages: 0, ..settings(&nats, "daemon") };
    let mut daemon = joins(silent, &["attic"]).await;
    let begun = Instant::now();
    let mut heard = 0;
    while heard < 3 {
        assert!(begun.elapsed() < PATIENCE, "{:?} take no part", daemon.cluster.workers());
        heard += usize::from(!decides(&mut daemon).await.is_empty());
    }
    let mut told = Told::default();
    hear(&mut told, &mut all, &identity);
    assert!(told.is_empty(), "{:?}", told.keys());
}

fn main() -> std::process::ExitCode {
    testkit::main()
}
