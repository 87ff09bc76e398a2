//! Twenty workers that come, leave and crash at random, one of them far away, for two hundred moves.

use std::time::Duration;

use cluster::{ClusterSettings, WorkerSettings, lend};
use council::CouncilSettings;
use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::task::JoinHandle;
use util::Shutdown;

use super::{
    processes::{Nats, until},
    proxy::Proxy,
    table::{MOVES, Table},
};

const WORKERS: usize = 20;

/// Starts a worker in this process.
fn worker(url: &str, number: usize) -> (Shutdown, JoinHandle<()>) {
    let cluster = ClusterSettings { nats: url.to_owned(), name: format!("worker-{number}"), ..Default::default() };
    let settings = WorkerSettings { cluster, cores: 1, memory: 16, engines: Default::default(), health: None };
    let shutdown = Shutdown::default();
    let lending = lend(settings, shutdown.clone());
    (shutdown, tokio::spawn(async move { lending.await.expect("let in") }))
}

#[testkit::test(needs(NATS_SERVER))]
async fn workers_come_and_go_at_random() {
    let nats = Nats::start();
    let far = Proxy::long(nats.port(), Duration::from_millis(120)).await;
    let mut table = Table::at(&nats.url());
    table.replace_council(&CouncilSettings { hash: 1, ..CouncilSettings::default() });
    table.first_word = Duration::from_millis(600);
    // The same in every run.
    let mut random = StdRng::seed_from_u64(0x5EED);
    let mut workers: [Option<(Shutdown, JoinHandle<()>)>; WORKERS] = Default::default();
    for _ in 0..2 * MOVES {
        let number = random.random_range(0..WORKERS);
        let url = if number == 0 { far.url() } else { nats.url() };
        match (workers[number].take(), random.random_range(0..2)) {
            (None, _) => workers[number] = Some(worker(&url, number)),
            (Some((shutdown, _)), 0) => shutdown.drain.cancel(),
            (Some((_, task)), _) => task.abort(),
        }
        table.plays(1).await;
    }
    // If no elector gets a core for that long, the move is from a short search; every other move had a vote.
    println!("{} of {} moves had a vote", table.voted(), 2 * MOVES);
    assert!(table.voted() > 0);
    let lent: usize = table.votes.iter().filter(|(machine, _)| !machine.is_empty()).map(|(_, votes)| votes).sum();
    assert!(lent > 0, "{:?}", table.votes);
    assert_eq!(table.votes_of("worker-0"), 0, "no move is long enough for it");
    for (shutdown, _) in workers.into_iter().flatten() {
        shutdown.now.cancel();
    }
    until("all have left", || table.cluster.workers().is_empty()).await;
}
