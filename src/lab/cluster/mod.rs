//! Measures a cluster: the time from a task to its first proposal over a real NATS server and a
//! worker process, while the machine is idle and while all its cores search; the server's
//! throughput; the delay of decisions; a simulation of many workers ([`scale`]); and the gain in
//! strength ([`worth`]).
//!
//! Everything runs on this machine, so the figures are those of the program and the scheduler, not of a network.

mod costs;
pub mod scale;
pub mod worth;

pub use costs::Costs;

use std::{
    io,
    net::{Ipv4Addr, TcpListener, TcpStream},
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    thread::available_parallelism,
    time::{Duration, Instant},
};

use futures_util::StreamExt;
use tokio::{sync::mpsc, time::timeout};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::own_process::OwnProcess;
use cluster::{ClusterClient, ClusterSettings, ConnectionError};
use council::{
    Council, CouncilSettings, CriterionName, GroupMode, Question, Roster,
    electors::{ElectorKind, ElectorSpec, Job, Pool, SearchReport, Slot},
};
use domain::{GameId, Knowledge, Limits, Line, Phase, SearchId, Task, Variant};

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

/// Latencies and throughput of a cluster on this machine.
#[derive(Clone, Debug)]
pub struct ClusterFigures {
    /// Times from a task to its first proposal, sorted, by kind of measurement.
    pub first_proposals: Vec<(&'static str, Vec<Duration>)>,
    /// Delays of decisions, sorted, on this machine alone and with the worker.
    pub late: Vec<(&'static str, Vec<Duration>)>,
    /// Messages a second from one publisher through the server to one subscriber.
    pub throughput: f64,
}

#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error("cannot start {}: {reason} (Debian's package nats-server has the server)", program.display())]
    Start { program: PathBuf, reason: io::Error },
    /// A started program is missing.
    #[error("waited in vain for {0}")]
    Missing(&'static str),
    #[error("cannot reach the server that was started: {0}")]
    Nats(String),
    /// The daemon cannot join the cluster.
    #[error(transparent)]
    Connection(#[from] ConnectionError),
}

/// Measures each figure with `searches` searches.
///
/// # Errors
/// [`MeasureError`] if the server or the worker does not start.
pub async fn measure(server: PathBuf, program: PathBuf, searches: usize) -> Result<ClusterFigures, MeasureError> {
    let cores = available_parallelism().map_or(1, usize::from);
    let bench = ClusterBench::start(server, program, cores).await?;
    let throughput = bench.throughput().await?;
    let mut first_proposals = Vec::new();
    for (name, kind) in [("trivial", ElectorKind::Trivial), ("own", own())] {
        let idle = bench.first_proposals(&kind, searches).await;
        let busy = bench.while_busy(cores, bench.first_proposals(&kind, searches)).await;
        let names = if name == "own" {
            ["our engine, idle machine", "our engine, all cores searching"]
        } else {
            ["trivial elector, idle machine", "trivial elector, all cores searching"]
        };
        first_proposals.extend([(names[0], idle), (names[1], busy)]);
    }
    let alone = lateness(&Pool::new(cores)).await;
    let together = lateness(&bench.pool(1)).await;
    let late = vec![("this machine alone", alone), ("one own core and the worker", together)];
    Ok(ClusterFigures { first_proposals, late, throughput })
}

fn own() -> ElectorKind {
    ElectorSpec::own(Knowledge::COMPLETE, 1).kind
}

/// Starts a program that says nothing.
fn start(program: PathBuf, arguments: &[&str]) -> Result<OwnProcess, MeasureError> {
    let mut command = Command::new(&program);
    let started = OwnProcess::start(command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()));
    started.map_err(|reason| MeasureError::Start { program, reason })
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
    async fn start(server: PathBuf, program: PathBuf, cores: usize) -> Result<Self, MeasureError> {
        let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
        let port = free.map_err(|reason| MeasureError::Start { program: server.clone(), reason })?.port();
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
    fn remote_slot(&self, kind: &ElectorKind, threads: usize) -> Slot {
        let spec = ElectorSpec::new("probe".into(), kind.clone(), 1);
        let elsewhere = Pool::of_remote(Arc::new(self.cluster.clone()));
        elsewhere.slot(&ElectorSpec { threads, ..spec }, None)
    }

    /// Measures the time from a task to its first proposal `searches` times.
    async fn first_proposals(&self, kind: &ElectorKind, searches: usize) -> Vec<Duration> {
        let mut seat = self.remote_slot(kind, 2);
        let mut taken = Vec::with_capacity(searches);
        while taken.len() < searches {
            let (reports, mut inbox) = mpsc::unbounded_channel();
            let begun = Instant::now();
            seat.search(job(), &reports);
            while let Some(report) = inbox.recv().await {
                let SearchReport::Proposal(proposal) = report else { break };
                if proposal.machine.is_some() {
                    taken.push(begun.elapsed());
                    break;
                }
            }
            seat.stop();
            tokio::time::sleep(PAUSE).await;
        }
        taken.sort_unstable();
        taken
    }

    async fn while_busy<T>(&self, cores: usize, something: impl Future<Output = T>) -> T {
        let mut load = self.remote_slot(&own(), cores);
        let (reports, mut inbox) = mpsc::unbounded_channel();
        load.search(job(), &reports);
        // It is at work when it has proposed.
        let _ = inbox.recv().await;
        let done = something.await;
        load.stop();
        done
    }

    /// Returns the messages a second that the server passes from one connection to another.
    async fn throughput(&self) -> Result<f64, MeasureError> {
        let lost = |error: &dyn std::fmt::Display| MeasureError::Nats(error.to_string());
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
            #[allow(clippy::cast_precision_loss)]
            Ok((heard, taken)) if heard > FLOOD / 2 => Ok(heard as f64 / taken.as_secs_f64()),
            _ => Err(MeasureError::Missing("the server to pass on messages")),
        }
    }
}

/// An endless search of a middlegame.
fn job() -> Job {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static SERIAL: AtomicU64 = AtomicU64::new(1 << 40);
    let mut line = Line::start(Variant::Standard);
    // Ruy Lopez; legal by the rules of the game.
    let _ = line.play_all("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 d7d6 c2c3 e8g8");
    let serial = SERIAL.fetch_add(1, Relaxed);
    let id = SearchId { game: GameId::new("lab"), ply: line.ply(), serial, phase: Phase::First };
    Job::new(Task { id, line: Arc::new(line), root_moves: Vec::new(), limits: Limits::default() })
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

async fn until(what: &'static str, mut holds: impl FnMut() -> bool) -> Result<(), MeasureError> {
    let begun = Instant::now();
    while !holds() {
        if begun.elapsed() > PATIENCE {
            return Err(MeasureError::Missing(what));
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}
