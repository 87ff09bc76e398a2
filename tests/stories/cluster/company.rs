//! Several daemons at one cluster; accounts; a look from outside.

use std::time::{Duration, Instant};

use cluster::{ClusterSettings, survey};
use council::CouncilSettings;

use crate::frontend::program::Program;

use super::{
    processes::{Nats, PATIENCE, Worker},
    table::{MOVES, Table},
};

#[testkit::test(needs(NATS_SERVER))]
async fn two_daemons_share_workers() {
    let nats = Nats::start();
    let _workers = [Worker::start(&nats.url(), "attic", 2), Worker::start(&nats.url(), "garret", 2)];
    let (mut ann, mut bob) = (Table::at(&nats.url()), Table::at(&nats.url()));
    ann.knows(&["attic", "garret"]).await;
    bob.knows(&["attic", "garret"]).await;
    tokio::join!(ann.plays(MOVES), bob.plays(MOVES));
    tokio::join!(ann.plays_until_lent(), bob.plays_until_lent());
}

/// Copies that share a table have one on every machine, and there are as many as cores here and lent.
#[testkit::test(needs(NATS_SERVER))]
async fn default_council_has_a_copy_per_core() {
    let nats = Nats::start();
    let _workers = [Worker::start(&nats.url(), "attic", 3), Worker::start(&nats.url(), "garret", 4)];
    let mut table = Table::at(&nats.url());
    table.knows(&["attic", "garret"]).await;
    table.replace_council(&CouncilSettings { hash: 1, ..CouncilSettings::default() });
    // Long enough for workers that have much else to do to be near.
    table.move_time = Duration::from_millis(500);
    for worker in ["attic", "garret"] {
        table.plays_until_heard(worker).await;
    }
    table.votes.clear();
    table.plays(MOVES / 4).await;
    let machines: Vec<&str> = table.votes.keys().map(String::as_str).collect();
    assert_eq!(machines, ["", "attic", "garret"]);
    assert!(table.votes.values().sum::<usize>() > MOVES / 4 * 4, "many vote: {:?}", table.votes);
}

/// The council under a graphical interface or a match runner has the workers of its settings.
#[testkit::test(needs(NATS_SERVER))]
fn workers_vote_for_a_chess_program() {
    let nats = Nats::start();
    let worker = Worker::start(&nats.url(), "attic", 3);
    let begun = Instant::now();
    while !worker.log().contains("worker ready") {
        assert!(begun.elapsed() < PATIENCE, "{}", worker.log());
        std::thread::sleep(Duration::from_millis(10));
    }
    let server = format!("cluster.nats={}", nats.url());
    let settings = ["--set", &server, "--set", "player.council.roster=balanced-4", "--set", "player.council.hash=1"];
    let mut program = Program::start_with(&[&["uci"], &settings[..]].concat());
    program.say("uci");
    program.until("uciok");
    program.say("setoption name Threads value 1\nposition startpos");
    let begun = Instant::now();
    loop {
        program.say("go movetime 1000");
        let votes = program.until("bestmove");
        if votes.iter().any(|line| line.trim_end().ends_with("on attic")) {
            break;
        }
        // A worker that has much else to do is too far away for a second's move.
        assert!(begun.elapsed() < PATIENCE, "{votes:#?}");
    }
}

#[testkit::test(needs(NATS_SERVER))]
async fn status_lists_workers_and_searches() {
    let nats = Nats::start();
    let settings = ClusterSettings { nats: nats.url(), ..ClusterSettings::default() };
    assert!(survey(&settings).await.expect("a server").workers.is_empty());
    let _worker = Worker::start(&nats.url(), "attic", 3);
    let mut table = Table::at(&nats.url());
    table.knows(&["attic"]).await;
    let begun = Instant::now();
    let look = async {
        loop {
            assert!(begun.elapsed() < PATIENCE, "nothing is seen to be searched on attic");
            let seen = survey(&settings).await.expect("a server");
            if let [attic] = &seen.workers[..]
                && !attic.heartbeat.searches.is_empty()
            {
                return attic.clone();
            }
        }
    };
    let play = async {
        loop {
            table.plays(1).await;
        }
    };
    let attic = tokio::select! {
        attic = look => attic,
        () = play => unreachable!("it plays for ever"),
    };
    assert_eq!((attic.worker.name.as_str(), attic.heartbeat.cores), ("attic", 3));
    assert!(
        attic.heartbeat.speed > 0
            && attic.heartbeat.searches.iter().all(|(_, search)| search.search.game.as_str() == "table")
    );
}
