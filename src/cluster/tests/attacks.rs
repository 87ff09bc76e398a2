//! Attacks of a worker with a key of its own on a council with one home core, over a real NATS server: the move played is always one
//! that the home electors would have played, or one that verification finds nearly as good. The long run of the same is the example
//! `attack_kit`.

mod log;
mod support;

use std::time::{Duration, Instant};

use concilio_cluster::{ClusterSettings, WorkerSettings};
use log::Log;
use stage::hostile::{
    Attack,
    worker::{Flood, Hostile, POSITIONS, Target, joins, keeps_the_invariant, position, prepare},
};
use support::{Keyed, lends, worker};
use testkit::{PATIENCE, until};
use tokio_util::sync::DropGuard;

fn start() -> Keyed {
    Keyed::with(&["attic", "mallory"])
}

impl Keyed {
    async fn mallory(&self, hostile: Hostile) -> DropGuard {
        let client = self.login("mallory").connect(self.nats.url()).await.expect("let in");
        joins(client, "mallory", "daemon", hostile).await
    }

    async fn target(&self, roster: &str, workers: &[&str]) -> Target {
        let target = Target::new(self.settings("daemon"), roster);
        let has = |name: &str| {
            council::electors::RemotePool::machines(&target.cluster)
                .iter()
                .any(|machine| machine.name.as_str() == name && machine.lag.is_some())
        };
        until(&format!("{workers:?} answer"), || workers.iter().all(|name| has(name))).await;
        target
    }
}

const MOVE: Duration = Duration::from_millis(120);
/// Moves in which a home elector must vote at least once.
const TRIES: usize = 10;

fn means(attack: Attack, cores: u16) -> Hostile {
    Hostile { attack, cores, flood: Flood::None }
}

/// Every attack, with the default roster and one of electors that evaluate differently.
async fn holds_against(attacks: &[Attack], roster: &str) {
    let cluster = start();
    for (number, attack) in attacks.iter().enumerate() {
        let _mallory = cluster.mallory(means(*attack, 4)).await;
        let mut target = cluster.target(roster, &["mallory"]).await;
        for place in 0..2 {
            let line = position(POSITIONS[(2 * number + place) % POSITIONS.len()]);
            prepare(&line);
            // A busy machine may give a home elector no time during a move.
            let mut home_votes = 0;
            for _ in 0..TRIES {
                let outcome = target.decides(&line, MOVE).await;
                assert!(keeps_the_invariant(&line, &outcome), "{attack:?}, {roster}: {outcome:#?}");
                home_votes = outcome.decision.votes.iter().filter(|vote| vote.proposal.machine.is_none()).count();
                if home_votes > 0 {
                    break;
                }
            }
            assert!(home_votes > 0, "{attack:?}, {roster}: no home elector voted");
        }
    }
}

#[testkit::test(needs(NATS_SERVER))]
async fn attacks_on_equal_electors_fail() {
    holds_against(&Attack::ALL, "auto").await;
}

#[testkit::test(needs(NATS_SERVER))]
async fn attacks_on_unlike_electors_fail() {
    holds_against(&Attack::ALL, "balanced-3").await;
}

/// With 64 and 1,024 claimed cores, silent.
#[testkit::test(needs(NATS_SERVER))]
async fn claimed_cores_keep_home_electors() {
    let cluster = start();
    for cores in [64, 1_024] {
        let _mallory = cluster.mallory(means(Attack::Silence, cores)).await;
        for roster in ["balanced-7", "auto"] {
            let mut target = cluster.target(roster, &["mallory"]).await;
            for moves in &POSITIONS[..3] {
                let line = position(moves);
                prepare(&line);
                let decision = target.decides(&line, MOVE).await.decision;
                assert_eq!(decision.source, domain::Source::Council, "{cores} cores, {roster}: {decision:#?}");
            }
        }
    }
}

/// The honest worker goes on voting, and the flooder is named and not heard any more.
#[testkit::test(needs(NATS_SERVER))]
async fn flood_delays_no_other_worker() {
    for flood in [Flood::Heartbeats(600, 60_000), Flood::Messages(600, 60_000), Flood::Messages(20_000, 100)] {
        let cluster = start();
        let daemons = vec!["daemon".to_owned()];
        let attic = worker(ClusterSettings { daemons, ..cluster.settings("attic") });
        let _attic = lends(WorkerSettings { cores: 1, ..attic });
        let mut target = cluster.target("balanced-4", &["attic"]).await;
        let _mallory = cluster.mallory(Hostile { flood, ..means(Attack::JustPlausible, 1) }).await;
        let before = cluster.log.lines(&["sends more messages than any honest worker", "worker=\"mallory\""]).len();
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            let line = position(POSITIONS[1]);
            let votes = target.decides(&line, MOVE).await.decision.votes;
            let heard =
                votes.iter().any(|vote| vote.proposal.machine.as_ref().is_some_and(|name| name.as_str() == "attic"));
            let muted = || cluster.log.lines(&["sends more messages than any honest worker", "mallory"]).len() > before;
            let beats_are_lost = matches!(flood, Flood::Heartbeats(..));
            if heard && (beats_are_lost || muted()) {
                break;
            }
        }
        assert!(begun.elapsed() < PATIENCE, "{flood:?}");
        let workers = target.cluster.workers();
        assert!(workers.iter().any(|(name, _)| name == "attic"), "{flood:?}: {workers:?}");
    }
}

/// A server, or a forger of its messages, announces a message of gigabytes. The daemon disconnects
/// before it has come.
#[testkit::test(needs(NATS_SERVER))]
async fn endless_message_is_cut_off() {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("an address");
    let log = Log::of_all();
    let settings = ClusterSettings { nats: format!("nats://{address}"), ..ClusterSettings::default() };
    let _target = Target::new(settings, "mp");
    let (stream, _) = listener.accept().await.expect("the daemon");
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    write
        .write_all(b"INFO {\"server_id\":\"x\",\"version\":\"2.10.0\",\"max_payload\":1048576,\"headers\":true}\r\n")
        .await
        .expect("sent");
    let mut sid = None;
    while sid.is_none() {
        let line = lines.next_line().await.expect("it speaks").expect("a line");
        if line.starts_with("PING") {
            write.write_all(b"PONG\r\n").await.expect("sent");
        }
        let beats = line.strip_prefix("SUB ").filter(|rest| rest.contains("beat"));
        sid = beats.and_then(|rest| rest.split_whitespace().last().map(str::to_owned));
    }
    let head = format!("MSG concilio.worker.x.beat {} 3000000000\r\n", sid.expect("a subscription"));
    write.write_all(head.as_bytes()).await.expect("sent");
    let part = vec![b'x'; 1 << 16];
    let mut sent: usize = 0;
    while sent < 3_000_000_000 {
        match tokio::time::timeout(PATIENCE, write.write_all(&part)).await.expect("it reads or leaves") {
            Ok(()) => sent += part.len(),
            Err(_) => break,
        }
        // As fast as a good network, and no faster.
        tokio::time::sleep(Duration::from_micros(500)).await;
    }
    assert!(sent < 1_000_000_000, "{sent} bytes were taken");
    log.says(&["announced a message of more than"]).await;
}

fn main() -> std::process::ExitCode {
    testkit::main()
}
