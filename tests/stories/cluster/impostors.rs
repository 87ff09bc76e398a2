//! Workers that lie, or are of another version.

use std::time::{Duration, Instant};

use cluster::{
    ANYBODY, ClusterSettings, ProcessIdentity, Subjects, survey,
    wire::{
        self, Addressed, Heartbeat, Poll, ProposalText, SearchCommand, SearchEvent, SearchEventKind, WorkerCommand,
        WorkerMessage, WorkerState,
    },
};
use futures_util::StreamExt;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    processes::{Nats, PATIENCE, Worker, until},
    table::{MOVES, Table},
};

type Answer = fn(&SearchCommand) -> Vec<SearchEvent>;

/// Starts an impostor that announces a hundred cores under this name and version.
async fn impostor(nats: &Nats, name: &str, version: Option<&str>, answer: Answer) -> DropGuard {
    let mut identity = ProcessIdentity::new(name);
    identity.version = version.map_or(identity.version, str::to_owned);
    let subjects = Subjects::below("concilio");
    let client = async_nats::connect(nats.url()).await.expect("a server");
    let mut calls = client.subscribe(subjects.call(ANYBODY)).await.expect("subscribed");
    let mut orders = client.subscribe(subjects.to_worker(ANYBODY, name)).await.expect("subscribed");
    let stop = CancellationToken::new();
    let guard = stop.clone().drop_guard();
    let name = name.to_owned();
    let talk = async move {
        let mut beats = tokio::time::interval(Duration::from_millis(250));
        loop {
            let (subject, message) = tokio::select! {
                Some(call) = calls.next() => {
                    let Some(daemon) = subjects.sender(&call.subject) else { continue };
                    let Ok((daemon, _)) = read::<Poll>(daemon, &call.payload) else { continue };
                    let message = Addressed { to: daemon.run, body: WorkerMessage::Answer(boast()) };
                    (subjects.to_daemon(&name, &daemon.name), wire::encode(&identity, &message))
                }
                _ = beats.tick() => (subjects.beat(&name), wire::encode(&identity, &boast())),
                Some(message) = orders.next() => {
                    let Some(daemon) = subjects.sender(&message.subject) else { continue };
                    if let Ok((daemon, Addressed { body: WorkerCommand::Search(order), .. })) = read(daemon, &message.payload) {
                        for word in answer(&order) {
                            let word = Addressed { to: daemon.run, body: WorkerMessage::Event(word) };
                            let subject = subjects.to_daemon(&name, &daemon.name);
                            client.publish(subject, wire::encode(&identity, &word)).await.expect("published");
                        }
                    }
                    continue;
                }
            };
            client.publish(subject, message).await.expect("published");
        }
    };
    tokio::spawn(async move { stop.run_until_cancelled(talk).await });
    guard
}

/// Reads a message of a daemon of our own version.
fn read<B: serde::de::DeserializeOwned>(daemon: &str, bytes: &[u8]) -> Result<(cluster::Sender, B), wire::DecodeError> {
    wire::decode(daemon, bytes, &ProcessIdentity::new("reader").version)
}

fn boast() -> Heartbeat {
    Heartbeat {
        state: WorkerState::Lending,
        cores: 100,
        speed: 1_000_000,
        engines: Vec::new(),
        daemons: Vec::new(),
        searches: Vec::new(),
        answers: None,
    }
}

/// Proposals that are each wrong in another way, then one that would be good for the search before.
fn lies(order: &SearchCommand) -> Vec<SearchEvent> {
    let lie = |moves: &str, depth: u32| {
        SearchEventKind::Proposal(ProposalText {
            moves: moves.to_owned(),
            score: domain::Score::Cp(3000),
            bound: domain::Bound::Exact,
            depth,
            selective_depth: 30,
            root_moves_done: 0,
            nodes: 1,
            microseconds: 1,
        })
    };
    let event = |kind| SearchEvent { search: order.id.clone(), elector: order.elector.name.clone(), kind };
    let mut stale = event(lie("e2e4", 5));
    stale.search.serial = stale.search.serial.wrapping_sub(1);
    // An odd search is lied to in one way, an even one in another.
    let kind = if order.id.serial.is_multiple_of(2) { lie("a1a8", 20) } else { lie("", u32::MAX) };
    vec![stale, event(kind)]
}

/// Promise 7: a move that a worker proposes is checked to be legal.
#[testkit::test(needs(NATS_SERVER))]
async fn false_claims_of_a_worker_are_ignored() {
    let nats = Nats::start();
    let _liar = impostor(&nats, "liar", None, lies).await;
    let _worker = Worker::start(&nats.url(), "attic", 2);
    let mut table = Table::at(&nats.url());
    table.knows(&["attic", "liar"]).await;
    table.plays(MOVES).await;
    assert_eq!(table.votes_of("liar"), 0);
    assert!(table.votes_of("") > 0);
    table.plays_until_heard("attic").await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn silent_worker_costs_only_its_votes() {
    let nats = Nats::start();
    let _mute = impostor(&nats, "mute", None, |_| Vec::new()).await;
    let mut table = Table::at(&nats.url());
    table.knows(&["mute"]).await;
    table.first_word = Duration::from_millis(600);
    table.plays(MOVES).await;
    // A move with one legal reply is not put to a vote, and on a busy machine our own core may come too late with one.
    let voted = table.voted();
    assert!(table.votes_of("") >= voted && table.votes_of("mute") == 0, "whatever is put to a vote has ours");
    assert!(voted >= MOVES / 2, "{voted} of {MOVES}");
}

#[testkit::test(needs(NATS_SERVER))]
async fn other_version_is_rejected_both_ways() {
    let nats = Nats::start();
    let _old = impostor(&nats, "old", Some("0.0.9-1"), lies).await;
    let worker = Worker::start(&nats.url(), "attic", 2);
    let mut table = Table::at(&nats.url());
    table.knows(&["attic"]).await;
    table.plays(MOVES / 4).await;
    assert_eq!(table.votes_of("old"), 0);

    // A daemon of the old version polls: the worker says that it does not serve it, and why.
    let mut identity = ProcessIdentity::new("old-daemon");
    identity.version = "0.0.9-1".to_owned();
    let client = async_nats::connect(nats.url()).await.expect("a server");
    let poll = wire::encode(&identity, &Poll { number: 1, searches: Vec::new() });
    client.publish(Subjects::below("concilio").call("old-daemon"), poll).await.expect("published");
    client.flush().await.expect("flushed");
    until("the worker says so", || worker.log().contains("old-daemon runs concilio 0.0.9-1")).await;
    let log = worker.log();
    assert!(log.contains("ignoring a daemon") && log.contains("install the same version"), "{log}");
}

#[testkit::test(needs(NATS_SERVER))]
async fn status_names_other_versions() {
    let nats = Nats::start();
    let _worker = Worker::start(&nats.url(), "attic", 1);
    let settings = ClusterSettings { nats: nats.url(), ..ClusterSettings::default() };
    let begun = Instant::now();
    let mut seen = survey(&settings).await.expect("a server");
    while seen.workers.is_empty() {
        assert!(begun.elapsed() < PATIENCE, "no worker is seen");
        seen = survey(&settings).await.expect("a server");
    }
    assert!(seen.refused.is_empty());

    let _old = impostor(&nats, "old", Some("0.0.9-1"), lies).await;
    let seen = survey(&settings).await.expect("a server");
    let [refused] = &seen.refused[..] else { panic!("{seen:?}") };
    assert!(refused.to_string().starts_with("old runs concilio 0.0.9-1"), "{refused}");
    assert!(seen.workers.iter().all(|answer| answer.worker.name == "attic"));

    let printed = std::process::Command::new(env!("CARGO_BIN_EXE_concilio"))
        .args(["cluster", "status", "--json", "--nats", &nats.url()])
        .output()
        .expect("our program");
    let said: serde_json::Value = serde_json::from_slice(&printed.stdout).expect("JSON");
    assert_eq!((&said["workers"][0]["name"], &said["workers"][0]["cores"]), (&"attic".into(), &1.into()), "{said:#}");
    assert!(said["not_used"][0].as_str().is_some_and(|why| why.starts_with("old runs")), "{said:#}");
}
