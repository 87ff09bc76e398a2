//! Measures a cluster: the time from a task to its first proposal over a real NATS server and a
//! worker process, while the machine is idle and while all its cores search; the server's
//! throughput; and the delay of decisions.
//!
//! Everything runs on this machine, so the figures are those of the program and the scheduler, not of a network.

use std::{
    io,
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    thread::available_parallelism,
    time::{Duration, Instant},
};

use futures_util::StreamExt;
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::own_process::OwnProcess;
use cluster::{ClusterClient, ClusterSettings};
use council::{
    Council, CouncilSettings, CriterionName, GroupMode, Question, Roster,
    electors::{ElectorKind, ElectorSpec, Pool, SearchReport, Slot, Task},
};
use domain::{GameId, Knowledge, Line, Phase, SearchId, Variant};
use util::Failure;

/// Timeout for every start.
const PATIENCE: Duration = Duration::from_secs(30);
/// Between two searches, as between two moves.
const PAUSE: Duration = Duration::from_millis(5);
/// Messages by which the server's throughput is measured, and their size: a proposal's.
const FLOOD: usize = 200_000;
const FLOOD_SIZE: usize = 160;
/// The measurement ends after this time without a message.
const SILENCE: Duration = Duration::from_secs(2);
/// Moves by which the lateness of decisions is measured, and their time.
const DECISIONS: usize = 30;
const DECISION: Duration = Duration::from_millis(300);

/// Measures two tables of sorted times: from a task to its first proposal, with `searches` searches each, and the delays of
/// decisions on this machine alone and with the worker. Also the messages a second from one publisher through the server to
/// one subscriber.
pub async fn measure(
    server: PathBuf,
    program: PathBuf,
    searches: usize,
) -> Result<([Vec<(String, Vec<Duration>)>; 2], f64), Failure> {
    let cores = available_parallelism().map_or(1, usize::from);
    let bench = ClusterBench::start(server, program, cores).await?;
    let throughput = bench.throughput().await?;
    let mut first_proposals = Vec::new();
    for (name, kind) in [("trivial elector", ElectorKind::Trivial), ("built-in engine", own())] {
        let idle = bench.first_proposals(&kind, searches).await;
        let busy = bench.while_busy(cores, bench.first_proposals(&kind, searches)).await;
        first_proposals.push((format!("{name}, idle machine"), idle));
        first_proposals.push((format!("{name}, all cores searching"), busy));
    }
    let alone = lateness(&Pool::new(cores)).await;
    let together = lateness(&bench.pool(1)).await;
    let late = vec![("this machine alone".to_owned(), alone), ("one own core and the worker".to_owned(), together)];
    Ok(([first_proposals, late], throughput))
}

fn own() -> ElectorKind {
    ElectorSpec::own(Knowledge::COMPLETE, 1).kind
}

/// Starts a program that says nothing.
fn start(program: PathBuf, arguments: &[&str]) -> Result<OwnProcess, Failure> {
    let mut command = Command::new(&program);
    let started = OwnProcess::start(command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()));
    started.map_err(|error| cannot_start(&program, &error))
}

fn cannot_start(program: &Path, error: &io::Error) -> Failure {
    let program = program.display();
    Failure::failed(format_args!("cannot start {program}: {error} (Debian's package nats-server has the server)"))
}

/// A server, a worker with one core more than there are, and we as a daemon.
struct ClusterBench {
    url: String,
    cluster: ClusterClient,
    _worker: OwnProcess,
    _server: OwnProcess,
    _stop: DropGuard,
}

impl ClusterBench {
    async fn start(server: PathBuf, program: PathBuf, cores: usize) -> Result<Self, Failure> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(|error| cannot_start(&server, &error))?.port();
        let url = format!("nats://127.0.0.1:{port}");
        let server = start(server, &["-a", "127.0.0.1", "-p", &port.to_string()])?;
        until("the server", || TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_ok()).await?;
        let lent = (cores + 1).to_string();
        let arguments = ["--log", "error", "worker", "--nats", &url, "--name", "measured", "--cores", &lent];
        let worker = start(program, &arguments)?;
        let stop = CancellationToken::new();
        let settings = ClusterSettings { nats: url.clone(), ..ClusterSettings::default() };
        let cluster = ClusterClient::join(settings, stop.clone());
        until("the worker", || !cluster.workers().is_empty()).await?;
        Ok(Self { url, cluster, _worker: worker, _server: server, _stop: stop.drop_guard() })
    }

    fn pool(&self, own: usize) -> Pool {
        Pool::with_remote(own, Some(Arc::new(self.cluster.clone())))
    }

    /// A slot that is always elsewhere: its pool has no core here.
    fn remote_slot(&self, kind: &ElectorKind, threads: usize) -> Box<dyn Slot> {
        let spec = ElectorSpec::new("probe".into(), kind.clone(), 1);
        let elsewhere = Pool::of_remote(Arc::new(self.cluster.clone()));
        elsewhere.slot(&ElectorSpec { threads, ..spec }, None)
    }

    /// Measures the time from a task to its first proposal `searches` times.
    async fn first_proposals(&self, kind: &ElectorKind, searches: usize) -> Vec<Duration> {
        let mut slot = self.remote_slot(kind, 2);
        let mut taken = Vec::with_capacity(searches);
        while taken.len() < searches {
            let (reports, mut inbox) = mpsc::unbounded_channel();
            let begun = Instant::now();
            slot.search(task(), &reports);
            while let Some(report) = inbox.recv().await {
                let SearchReport::Proposal(proposal) = report else { break };
                if proposal.machine.is_some() {
                    taken.push(begun.elapsed());
                    break;
                }
            }
            slot.stop();
            tokio::time::sleep(PAUSE).await;
        }
        taken.sort_unstable();
        taken
    }

    async fn while_busy<T>(&self, cores: usize, something: impl Future<Output = T>) -> T {
        let mut load = self.remote_slot(&own(), cores);
        let (reports, mut inbox) = mpsc::unbounded_channel();
        load.search(task(), &reports);
        // It is at work when it has proposed.
        let _ = inbox.recv().await;
        let done = something.await;
        load.stop();
        done
    }

    /// Returns the messages a second that the server passes from one connection to another.
    async fn throughput(&self) -> Result<f64, Failure> {
        let lost = |error: &dyn std::fmt::Display| {
            Failure::failed(format_args!("cannot reach the server that was started: {error}"))
        };
        let options = || async_nats::ConnectOptions::new().subscription_capacity(FLOOD);
        let publisher = options().connect(&self.url).await.map_err(|error| lost(&error))?;
        let subscriber = options().connect(&self.url).await.map_err(|error| lost(&error))?;
        let mut flood = subscriber.subscribe("flood").await.map_err(|error| lost(&error))?;
        subscriber.flush().await.map_err(|error| lost(&error))?;
        let begun = Instant::now();
        let message = bytes::Bytes::from(vec![0; FLOOD_SIZE]);
        let publish = async {
            for _ in 0..FLOOD {
                let _ = publisher.publish("flood", message.clone()).await;
            }
            let _ = publisher.flush().await;
        };
        let hear = async {
            let (mut heard, mut last) = (0, begun);
            while heard < FLOOD
                && let Ok(Some(_)) = timeout(SILENCE, flood.next()).await
            {
                (heard, last) = (heard + 1, Instant::now());
            }
            (heard, last.duration_since(begun))
        };
        let passed = timeout(PATIENCE, async { tokio::join!(publish, hear).1 }).await;
        match passed {
            // A server may drop messages under a flood; a few do not change the rate.
            Ok((heard, taken)) if heard > FLOOD / 2 => Ok(heard as f64 / taken.as_secs_f64()),
            _ => Err(Failure::failed("waited in vain for the server to pass on messages")),
        }
    }
}

/// An endless search of a middlegame.
fn task() -> Task {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static SERIAL: AtomicU64 = AtomicU64::new(1 << 40);
    let mut line = Line::start(Variant::Standard);
    // Ruy Lopez; legal by the rules of the game.
    let _ = line.play_all("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 d7d6 c2c3 e8g8");
    let serial = SERIAL.fetch_add(1, Relaxed);
    let id = SearchId { game: GameId::new("lab"), ply: line.ply(), serial, phase: Phase::First };
    Task::new(id, Arc::new(line))
}

/// Returns the delays of decisions of the balanced seven with a second search.
async fn lateness(pool: &Pool) -> Vec<Duration> {
    let settings = CouncilSettings {
        roster: "balanced-7".to_owned(),
        criterion: CriterionName::ReSearch,
        groups: GroupMode::None,
        ..CouncilSettings::default()
    };
    let Ok(roster) = Roster::from_settings(&settings) else { return Vec::new() };
    let mut council = Council::new(pool, &roster, &settings, Variant::Standard);
    let mut line = Line::start(Variant::Standard);
    let mut late = Vec::new();
    while late.len() < DECISIONS {
        let timing = Some(Box::new(|_: &_| DECISION) as _);
        let question = Question { timing, ..Question::new(GameId::new("lab"), Arc::new(line.clone())) };
        let begun = Instant::now();
        let decided = council.decide(question, &CancellationToken::new(), &mut |_| {}).await;
        late.push(begun.elapsed().saturating_sub(DECISION));
        if decided.is_none_or(|decision| line.play(decision.best).is_err()) {
            break;
        }
    }
    late.sort_unstable();
    late
}

async fn until(what: &'static str, mut holds: impl FnMut() -> bool) -> Result<(), Failure> {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > PATIENCE {
            return Err(Failure::failed(format_args!("waited in vain for {what}")));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}
