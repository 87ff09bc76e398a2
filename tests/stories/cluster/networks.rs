//! Networks as they are: narrow, dead for a while, with connections that break, with more than one server.

use std::time::{Duration, Instant};

use council::CouncilSettings;

use super::{
    processes::{Nats, Worker},
    proxy::Proxy,
    table::{MOVES, Table},
};

/// Time of a move that is long enough for a worker on a busy machine with a slow connection.
const LONG_MOVE: Duration = Duration::from_secs(2);

/// Duration of a dead link: longer than the timeout of a silent worker, shorter than that of a
/// connection.
const DEAD: Duration = Duration::from_secs(3);

/// Plays while the link is dead, and until the worker behind it is heard again.
async fn a_dead_link_is_survived(table: &mut Table, link: &Proxy) {
    table.knows(&["attic", "garret"]).await;
    table.plays_until_heard("attic").await;
    link.cut();
    let begun = Instant::now();
    while begun.elapsed() < DEAD {
        table.plays(1).await;
    }
    link.mend();
    table.knows(&["attic", "garret"]).await;
    table.plays_until_heard("attic").await;
    table.plays(MOVES / 4).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn one_megabit_carries_a_council() {
    let nats = Nats::start();
    let link = Proxy::narrow(nats.port(), Duration::from_millis(20), 1_000_000).await;
    let _workers = [Worker::start(&link.url(), "attic", 3), Worker::start(&link.url(), "garret", 3)];
    let mut table = Table::at(&nats.url());
    // A copy for every core; their tables exchange entries over that link as well.
    table.replace_council(&CouncilSettings { hash: 1, ..CouncilSettings::default() });
    table.move_time = LONG_MOVE;
    for worker in ["attic", "garret"] {
        table.plays_until_heard(worker).await;
    }
    table.plays(5).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn worker_survives_a_dead_link() {
    let nats = Nats::start();
    let link = Proxy::to(nats.port()).await;
    let _workers = [Worker::start(&link.url(), "attic", 2), Worker::start(&nats.url(), "garret", 2)];
    let mut table = Table::at(&nats.url());
    a_dead_link_is_survived(&mut table, &link).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn daemon_survives_a_dead_link() {
    let nats = Nats::start();
    let link = Proxy::to(nats.port()).await;
    let _workers = [Worker::start(&nats.url(), "attic", 2), Worker::start(&nats.url(), "garret", 2)];
    let mut table = Table::at(&link.url());
    a_dead_link_is_survived(&mut table, &link).await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn broken_connections_are_reopened() {
    let nats = Nats::start();
    let [of_worker, of_daemon] = [Proxy::to(nats.port()).await, Proxy::to(nats.port()).await];
    let _worker = Worker::start(&of_worker.url(), "attic", 3);
    let mut table = Table::at(&of_daemon.url());
    for number in 0..8 {
        table.knows(&["attic"]).await;
        table.plays_until_heard("attic").await;
        [&of_worker, &of_daemon][number % 2].breaks();
        table.plays(MOVES / 8).await;
    }
    table.knows(&["attic"]).await;
    table.plays_until_heard("attic").await;
}

/// Each has its part of both workers while all three play; when one leaves in the middle of a game, the others have more.
#[testkit::test(needs(NATS_SERVER))]
async fn three_daemons_share_workers() {
    let nats = Nats::start();
    let _workers = [Worker::start(&nats.url(), "attic", 3), Worker::start(&nats.url(), "garret", 3)];
    let table = |name: &str| Table::with(&nats.url(), |settings| settings.name = name.to_owned());
    let (mut ann, mut bob, mut cat) = (table("ann"), table("bob"), table("cat"));
    for daemon in [&ann, &bob, &cat] {
        daemon.knows(&["attic", "garret"]).await;
    }
    tokio::join!(ann.plays(MOVES / 2), bob.plays(MOVES / 2), cat.plays(MOVES / 2));
    tokio::join!(ann.plays_until_lent(), bob.plays_until_lent(), cat.plays_until_lent());
    drop(cat);
    tokio::join!(ann.plays(MOVES / 2), bob.plays(MOVES / 2));
}

/// Each of two servers is lost once; the worker at the other server stays connected.
#[testkit::test(needs(NATS_SERVER))]
async fn one_of_two_nats_servers_is_killed() {
    let [mut one, mut two] = Nats::pair();
    let _workers = [Worker::start(&one.url(), "attic", 2), Worker::start(&two.url(), "garret", 2)];
    let mut table = Table::at(&format!("{},{}", one.url(), two.url()));
    table.knows(&["attic", "garret"]).await;
    for (server, lost, stays) in [(&mut one, "attic", "garret"), (&mut two, "garret", "attic")] {
        server.dies();
        table.plays(MOVES / 4).await;
        table.knows(&[stays]).await;
        table.plays_until_heard(stays).await;
        assert_eq!(table.votes_of(lost), 0);
        server.starts();
        table.knows(&["attic", "garret"]).await;
        table.plays_until_heard(lost).await;
    }
}
