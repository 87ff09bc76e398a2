//! A worker that means harm, to see what becomes of it (docs/cluster.md): it claims 64 cores, and of every search that it is asked for a
//! mate by the last legal move.
//!
//! `cargo run --release -p concilio-cluster --example hostile_worker -- nats://127.0.0.1:4222 mallory nats/mallory.nk`

use std::{error::Error, time::Duration};

use async_nats::ConnectOptions;
use chess::{Bound, Score};
use concilio_cluster::{
    ProcessIdentity, Subjects,
    wire::{
        self, Addressed, Heartbeat, Poll, ProposalText, SearchCommand, SearchEvent, SearchEventKind, WorkerCommand,
        WorkerMessage,
    },
};
use futures_util::StreamExt;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, name, key] = &arguments[..] else { return Err("expected URL NAME KEY_FILE".into()) };
    let seed = std::fs::read_to_string(key)?.trim().to_owned();
    let identity = tokio::task::spawn_blocking({
        let name = name.clone();
        move || ProcessIdentity::new(&name)
    });
    let identity = identity.await?;
    let subjects = Subjects::below("concilio");
    let options =
        ConnectOptions::with_nkey(seed).event_callback(|event| async move { println!("the server: {event}") });
    let client = options.connect(url).await?;
    let mut orders = client.subscribe(subjects.to_worker("daemon", name)).await?;
    // What it has no right to is refused.
    let _others = client.subscribe(subjects.to_worker("daemon", "attic")).await?;
    client.publish(subjects.beat("attic"), "x".into()).await?;

    let heartbeat = Heartbeat::idle(64, 9_999);
    let beat = wire::encode(&identity, &heartbeat);
    let mut polls = client.subscribe(subjects.call("daemon")).await?;
    let mut beats = tokio::time::interval(Duration::from_millis(250));
    loop {
        tokio::select! {
            _ = beats.tick() => client.publish(subjects.beat(name), beat.clone()).await?,
            // Who does not answer is not asked for anything.
            Some(message) = polls.next() => {
                let Ok((daemon, poll)) = wire::decode::<Poll>("daemon", &message.payload, &identity.version) else { continue };
                let answer = WorkerMessage::Answer(Heartbeat { answers: Some(poll.number), ..heartbeat.clone() });
                let answer = Addressed { to: daemon.run, body: answer };
                client.publish(subjects.to_daemon(name, "daemon"), wire::encode(&identity, &answer)).await?;
            }
            Some(message) = orders.next() => {
                let read = wire::decode::<Addressed<WorkerCommand>>("daemon", &message.payload, &identity.version);
                let Ok((daemon, Addressed { body: WorkerCommand::Search(order), .. })) = read else { continue };
                let Some(event) = claim(&order) else { continue };
                let lie = Addressed { to: daemon.run, body: WorkerMessage::Event(event) };
                client.publish(subjects.to_daemon(name, "daemon"), wire::encode(&identity, &lie)).await?;
                println!("asked for game {}, ply {}: claims a mate", order.id.game, order.id.ply);
            }
        }
    }
}

/// A mate by the last legal move.
fn claim(order: &SearchCommand) -> Option<SearchEvent> {
    let best = order.job().ok()?.task.line.legal_moves().pop()?;
    let proposal = ProposalText {
        moves: best.to_string(),
        score: Score::Mate(3),
        bound: Bound::Exact,
        depth: 40,
        selective_depth: 60,
        root_moves_done: 0,
        nodes: 1 << 40,
        microseconds: 1000,
    };
    let kind = SearchEventKind::Proposal(proposal);
    Some(SearchEvent { search: order.id.clone(), elector: order.elector.name.clone(), kind })
}
