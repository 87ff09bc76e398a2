//! Workers and servers that are lost, and come back: a hundred moves each, none late, none illegal.

use std::time::Instant;

use rustix::process::Signal;

use super::{
    processes::{Nats, PATIENCE, Worker},
    proxy::Proxy,
    table::{MOVES, Table},
};

/// Disturbs a search on that machine, and plays on.
async fn a_search_is_hit(table: &mut Table, machine: &str, mut hit: impl FnMut() + Send) {
    let begun = Instant::now();
    let mut done = false;
    while !done {
        assert!(begun.elapsed() < PATIENCE, "nothing is searched on {machine}");
        table
            .plays_while(1, |_, proposal| {
                if !done && proposal.machine.as_ref().is_some_and(|name| name.as_str() == machine) {
                    done = true;
                    hit();
                }
            })
            .await;
    }
    table.plays(MOVES / 2).await;
}

/// Cuts a connection to the server in the middle of a search, plays on without the worker, and
/// plays with it after the repair.
async fn a_cut_is_survived(table: &mut Table, proxy: &Proxy) {
    table.knows(&["attic"]).await;
    a_search_is_hit(table, "attic", || proxy.cut()).await;
    table.knows(&[]).await;
    table.plays(MOVES / 4).await;
    proxy.mend();
    table.knows(&["attic"]).await;
    table.plays_until_heard("attic").await;
    table.plays(MOVES / 4).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn worker_is_killed_during_a_search() {
    let nats = Nats::start();
    let workers = [Worker::start(&nats.url(), "attic", 2), Worker::start(&nats.url(), "garret", 2)];
    let mut table = Table::at(&nats.url());
    table.knows(&["attic", "garret"]).await;
    a_search_is_hit(&mut table, "attic", || workers[0].signal(Signal::KILL)).await;
    table.knows(&["garret"]).await;
    table.votes.clear();
    table.plays(MOVES / 2).await;
    assert_eq!(table.votes_of("attic"), 0);
    table.plays_until_heard("garret").await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn worker_hangs_and_recovers() {
    let nats = Nats::start();
    let worker = Worker::start(&nats.url(), "attic", 3);
    let mut table = Table::at(&nats.url());
    table.knows(&["attic"]).await;
    a_search_is_hit(&mut table, "attic", || worker.signal(Signal::STOP)).await;
    table.knows(&[]).await;
    worker.signal(Signal::CONT);
    table.knows(&["attic"]).await;
    table.plays_until_heard("attic").await;
    table.plays(MOVES / 2).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn the_server_dies_and_comes_back() {
    let mut nats = Nats::start();
    let _worker = Worker::start(&nats.url(), "attic", 3);
    let mut table = Table::at(&nats.url());
    table.knows(&["attic"]).await;
    a_search_is_hit(&mut table, "attic", || nats.dies()).await;
    table.knows(&[]).await;
    table.votes.clear();
    table.plays(MOVES / 4).await;
    assert_eq!(table.votes_of("attic"), 0);
    nats.starts();
    table.knows(&["attic"]).await;
    table.plays_until_heard("attic").await;
    table.plays(MOVES / 4).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn worker_is_cut_off_and_reconnects() {
    let nats = Nats::start();
    let proxy = Proxy::to(nats.port()).await;
    let _worker = Worker::start(&proxy.url(), "attic", 3);
    let mut table = Table::at(&nats.url());
    a_cut_is_survived(&mut table, &proxy).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn daemon_is_cut_off_and_reconnects() {
    let nats = Nats::start();
    let proxy = Proxy::to(nats.port()).await;
    let _worker = Worker::start(&nats.url(), "attic", 3);
    let mut table = Table::at(&proxy.url());
    a_cut_is_survived(&mut table, &proxy).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn daemon_plays_without_workers_or_nats() {
    let mut nats = Nats::start();
    let mut table = Table::at(&nats.url());
    table.plays(MOVES / 2).await;
    nats.dies();
    table.plays(MOVES / 4).await;
    drop(table);
    let mut alone = Table::at(&nats.url());
    alone.plays(MOVES / 4).await;
    assert_eq!(alone.votes.keys().collect::<Vec<_>>(), [""]);
}

#[testkit::test(needs(NATS_SERVER))]
async fn new_workers_are_used_in_a_game() {
    let nats = Nats::start();
    let mut table = Table::at(&nats.url());
    table.plays(MOVES / 4).await;
    let _first = Worker::start(&nats.url(), "attic", 1);
    table.knows(&["attic"]).await;
    table.plays_until_heard("attic").await;
    let _second = Worker::start(&nats.url(), "garret", 4);
    table.knows(&["attic", "garret"]).await;
    table.plays_until_heard("garret").await;
    table.plays(MOVES / 2).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn leaving_worker_finishes_its_searches() {
    let nats = Nats::start();
    let mut worker = Worker::start(&nats.url(), "attic", 3);
    let mut table = Table::at(&nats.url());
    table.knows(&["attic"]).await;
    a_search_is_hit(&mut table, "attic", || worker.signal(Signal::TERM)).await;
    let status = worker.ends().await;
    assert!(status.success(), "{status}: {}", worker.log());
    table.knows(&[]).await;
    table.plays(MOVES / 2).await;
}
