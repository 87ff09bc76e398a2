//! Promise 1: a panic in the task that speaks with the workers costs no move, and the workers are used again.

use super::{
    processes::{Nats, Worker},
    table::{MOVES, Table},
};
use crate::panics::{all_happened, in_its_own_process, panics};

#[testkit::test(needs(NATS_SERVER))]
fn cluster_client_panic_costs_no_move() {
    in_its_own_process("cluster::panics::cluster_client_panic_costs_no_move", the_client_panics);
}

async fn the_client_panics() {
    let nats = Nats::start();
    let _worker = Worker::start(&nats.url(), "attic", 3);
    let mut table = Table::at(&nats.url());
    table.knows(&["attic"]).await;
    table.plays_until_heard("attic").await;
    panics("cluster client", 2);
    while !all_happened() {
        table.plays(1).await;
    }
    table.plays(MOVES / 4).await;
    table.knows(&["attic"]).await;
    table.plays_until_heard("attic").await;
}
