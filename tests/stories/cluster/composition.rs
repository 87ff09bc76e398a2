//! A council has an elector for every local or remote core that can answer within the move's time.

use std::time::{Duration, Instant};

use council::{CouncilSettings, electors::RemotePool};
use rustix::process::Signal;

use crate::frontend::program::Program;

use super::{
    processes::{Nats, PATIENCE, Worker, until},
    proxy::Proxy,
    table::Table,
};

/// A table with a council of copies, and one core of its own.
fn table(url: &str) -> Table {
    let mut table = Table::at(url);
    table.replace_council(&CouncilSettings { hash: 1, advisers: String::new(), ..CouncilSettings::default() });
    table
}

async fn has_electors(table: &mut Table, electors: usize) {
    let begun = Instant::now();
    while table.electors() != electors {
        assert!(begun.elapsed() < PATIENCE, "{} electors, not {electors}", table.electors());
        table.plays(1).await;
    }
}

#[testkit::test(needs(NATS_SERVER))]
async fn electors_follow_their_machines() {
    let nats = Nats::start();
    let mut table = table(&nats.url());
    // Long enough for workers of a machine that has other things to do as well.
    table.move_time = Duration::from_secs(2);
    has_electors(&mut table, 1).await;
    let attic = Worker::start(&nats.url(), "attic", 3);
    has_electors(&mut table, 4).await;
    let _garret = Worker::start(&nats.url(), "garret", 4);
    has_electors(&mut table, 8).await;
    attic.signal(Signal::KILL);
    has_electors(&mut table, 5).await;
    table.plays(3).await;
}

/// One long move: the worker is started when the council has searched for a while already.
#[testkit::test(needs(NATS_SERVER))]
async fn new_worker_votes_on_the_running_move() {
    let nats = Nats::start();
    let mut table = table(&nats.url());
    let mut worker = None;
    let decision = table.thinks_until_heard("attic", || worker = Some(Worker::start(&nats.url(), "attic", 2))).await;
    let machines: Vec<_> = decision.votes.iter().map(|vote| vote.proposal.machine.as_ref()).collect();
    assert!(machines.contains(&Some(&"attic".into())) && machines.contains(&None), "{machines:?}");
    assert_eq!(table.electors(), 3);
}

/// A distant worker gets no search of a move that would end before its answer arrives.
#[testkit::test(needs(NATS_SERVER))]
async fn distant_worker_gets_only_long_moves() {
    let nats = Nats::start();
    let way = Proxy::long(nats.port(), Duration::from_millis(120)).await;
    let _worker = Worker::start(&way.url(), "attic", 3);
    let mut table = table(&nats.url());
    until("the way is measured", || table.cluster.cores(None).iter().sum::<usize>() == 3).await;
    table.move_time = Duration::from_millis(200);
    table.plays(10).await;
    assert_eq!((table.votes_of("attic"), table.electors()), (0, 1));
    table.move_time = Duration::from_secs(3);
    table.plays_until_heard("attic").await;
    assert_eq!(table.electors(), 4);

    let asked = std::process::Command::new(env!("CARGO_BIN_EXE_concilio"))
        .args(["cluster", "status", "--nats", &nats.url()])
        .env_remove("CONCILIO_CONFIG")
        .output()
        .expect("our program");
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    // The distance depends on the load of the machine.
    let why = said.lines().find(|line| line.starts_with("attic answers after "));
    assert!(asked.status.success() && why.is_some_and(|why| why.contains(" ms: not used for moves under ")), "{said}");
}

/// Returns the number of copies that vote on a move of a chess program, here and on another
/// machine.
fn votes(program: &mut Program) -> (usize, usize) {
    program.say("go movetime 300");
    let said = program.until("bestmove");
    let votes = said.iter().filter(|line| line.starts_with("info string") && line.contains(" learned-"));
    let (lent, own): (Vec<&String>, Vec<&String>) = votes.partition(|line| line.trim_end().ends_with("on attic"));
    (own.len(), lent.len())
}

/// The list of machines that a chess program got at the start of its engine is updated later.
#[testkit::test(needs(NATS_SERVER))]
fn electors_follow_machines_under_uci() {
    let nats = Nats::start();
    let server = format!("cluster.nats={}", nats.url());
    let settings = ["--set", &server, "--set", "player.council.hash=1", "--set", "player.council.advisers="];
    let mut program = Program::start_with(&[&["uci"], &settings[..]].concat());
    program.say("uci");
    program.until("uciok");
    program.say("setoption name Threads value 1\nposition startpos");
    let mut is_voted = |(own, lent)| {
        let begun = Instant::now();
        loop {
            let now = votes(&mut program);
            if now == (own, lent) {
                break;
            }
            assert!(begun.elapsed() < PATIENCE, "{now:?} vote, not {own} here and {lent} elsewhere");
        }
    };
    is_voted((1, 0));
    let worker = Worker::start(&nats.url(), "attic", 2);
    is_voted((1, 2));
    worker.signal(Signal::KILL);
    is_voted((1, 0));
}
