//! Measures the daemon's own cost: from the opponent's move on the stream to our move request, with
//! an elector that thinks about nothing; from its start to the open event stream; in memory, idle
//! and with many games; on the disk.
//!
//! The daemon runs as a process of its own, as it would for real, against a practice server on
//! loopback. A move's time runs from the line with the opponent's move to the arrival of the
//! request with ours; nothing is subtracted. Several programs take turns in one run, round by
//! round, because two runs on one machine differ more than two builds. They get only settings that
//! version 0.1 understands as well. Watchers are clients that read the events of the daemon's page
//! meanwhile.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

use clap::{Args, builder::RangedU64ValueParser};
use tokio::{
    io::{self, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::{sleep, timeout},
};

use super::{correspondence::SlowPartner, daemon_program::daemon_on, own_process::OwnProcess};
use domain::{Color, GameTerms, TimeControl, Variant};
use practice::{AccountId, ChallengeTerms, PracticeServer, PracticeSettings, SparringKind};
use util::Failure;

const BOT: &str = "Measured";
const SPARRING: &str = "Instant";
/// Starts of each program in a round.
const STARTS: usize = 3;
/// Time after its connection at which a daemon counts as idle, with its start complete.
const SETTLED: Duration = Duration::from_secs(3);
/// Initial clock of the games, beyond the length of any of them.
const CLOCK: Duration = Duration::from_secs(600);
/// Timeout for the games of one measurement.
const LONGEST: Duration = Duration::from_secs(300);

/// The extent of a measurement.
#[derive(Clone, Debug, Args)]
pub struct LatencyPlan {
    /// Rounds in which each program has its turn
    #[arg(long, default_value_t = 5, value_parser = from_to(1, 1000), value_name = "N")]
    pub rounds: usize,
    /// Least number of moves in each measurement
    #[arg(long, default_value_t = 1000, value_parser = from_to(1, 1_000_000), value_name = "N")]
    pub moves: usize,
    /// Numbers of games at once, each 1 to 100
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [1_usize, 8, 100],
        value_parser = from_to(1, 100),
        value_name = "COUNTS"
    )]
    pub games: Vec<usize>,
    /// Numbers of clients that read the page's events meanwhile, each up to 1000; 0 is a daemon without its page
    #[arg(long, value_delimiter = ',', default_value = "0", value_parser = from_to(0, 1000), value_name = "COUNTS")]
    pub watchers: Vec<usize>,
    /// Thinking time of the opponents in the mean, in milliseconds. Without any, many games take every core, as no real games do
    #[arg(long, default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=60_000), value_name = "MS")]
    pub think: u64,
}

fn from_to(least: u64, most: u64) -> RangedU64ValueParser<usize> {
    RangedU64ValueParser::new().range(least..=most)
}

#[derive(Clone, Debug)]
pub struct Latency {
    /// Times from the start of the process to the open event stream.
    pub starts: Vec<Duration>,
    /// Resident memory when idle, in KiB. `None` where the system does not tell.
    pub idle_memory: Option<u64>,
    /// The delays of the moves, by how many games were played at once.
    pub shares: Vec<MoveDelays>,
}

#[derive(Clone, Debug)]
pub struct MoveDelays {
    /// Games that were played at once.
    pub games: usize,
    /// Readers of the page's events meanwhile; without any there was no page.
    pub watchers: usize,
    /// The delay of each move, shortest first.
    pub delays: Vec<Duration>,
    /// The most resident memory of the daemon, in KiB. `None` where the system does not tell.
    pub memory: Option<u64>,
}

/// Returns the rounds of each program, in the order of the programs. Calls `tell` after each round of one.
pub(crate) async fn measure(
    programs: &[PathBuf],
    plan: &LatencyPlan,
    mut tell: impl FnMut(),
) -> Result<Vec<Vec<Latency>>, Failure> {
    let server = PracticeServer::start(PracticeSettings::default()).await?;
    let token = server.add_account(BOT, true).await?;
    let mut opponent = SparringKind::Random.player();
    if plan.think > 0 {
        opponent = Arc::new(SlowPartner::new(opponent, [plan.think / 2, plan.think * 3 / 2]));
    }
    // A person, because the games of a day against bots are limited.
    server.sparring_person(SPARRING, opponent).await?;
    let bench = LatencyBench { server, token };
    let mut measured = vec![Vec::new(); programs.len()];
    for _ in 0..plan.rounds {
        for (program, rounds) in programs.iter().zip(&mut measured) {
            rounds.push(bench.round(program, plan).await?);
            tell();
        }
    }
    Ok(measured)
}

struct LatencyBench {
    server: PracticeServer,
    token: String,
}

struct Daemon {
    process: OwnProcess,
    connected_after: Duration,
    /// Its journal alone, so that what others have played is not counted as its own.
    _folder: tempfile::TempDir,
}

impl LatencyBench {
    async fn round(&self, program: &Path, plan: &LatencyPlan) -> Result<Latency, Failure> {
        let mut starts = Vec::new();
        for _ in 1..STARTS {
            starts.push(self.daemon(program, 1, None).await?.connected_after);
        }
        let idle = self.daemon(program, 1, None).await?;
        starts.push(idle.connected_after);
        sleep(SETTLED).await;
        let idle_memory = idle.process.resident();
        drop(idle);
        let mut shares = Vec::new();
        for games in &plan.games {
            for watchers in &plan.watchers {
                shares.push(self.play(program, *games, *watchers, plan.moves).await?);
            }
        }
        Ok(Latency { starts, idle_memory, shares })
    }

    /// Starts a daemon for `games` at once, with its page at `page` if it shall have one, and waits until it is connected.
    async fn daemon(&self, program: &Path, games: usize, page: Option<SocketAddr>) -> Result<Daemon, Failure> {
        let bot = AccountId::of(BOT);
        let gone = bot.clone();
        self.server.wait(move |state| (!state.is_online(&gone)).then_some(())).await?;
        let folder = tempfile::tempdir()?;
        let began = Instant::now();
        let mut command = daemon_on(&self.server, program, &self.token, folder.path());
        command
            .args(["--set", "player.council.roster=trivial", "--set", "player.resign.enabled=false"])
            .args(["--set", "player.draw.offer=false", "--set", "player.draw.accept=false"])
            .args(["--set", &format!("challenge.concurrency={games}")])
            .args(["--set", &format!("challenge.max_games_per_opponent={games}")])
            .args(["--set", &format!("challenge.friends=[\"{SPARRING}\"]")]);
        if let Some(page) = page {
            command.args(["--set", &format!("web.address={page}"), "--set", "web.watchers=1000"]);
        }
        let process = OwnProcess::start_daemon(&mut command)?;
        self.server.wait(move |state| state.is_online(&bot).then_some(())).await?;
        Ok(Daemon { process, connected_after: began.elapsed(), _folder: folder })
    }

    async fn play(&self, program: &Path, games: usize, watchers: usize, moves: usize) -> Result<MoveDelays, Failure> {
        // An address without a listener.
        let page = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?.local_addr()?;
        let daemon = self.daemon(program, games, (watchers > 0).then_some(page)).await?;
        let mut watching: JoinSet<_> = (0..watchers).map(|_| watch(page)).collect();
        let terms = GameTerms {
            variant: Variant::Standard,
            time_control: TimeControl::real_time(CLOCK, Duration::ZERO),
            rated: false,
        };
        let (mut delays, mut memory) = (Vec::new(), None);
        while delays.len() < moves {
            memory = memory.max(self.play_at_once(&daemon, games, terms).await?);
            delays.extend(self.server.take_response_times().into_iter().map(|(_, time)| time));
        }
        if watching.try_join_next().is_some() {
            return Err(Failure::failed("the page's events could not be read to the end"));
        }
        drop(daemon);
        delays.sort_unstable();
        Ok(MoveDelays { games, watchers, delays, memory })
    }

    /// Plays `games` at once to their ends, and returns the daemon's memory when half of them were over.
    async fn play_at_once(&self, daemon: &Daemon, games: usize, terms: GameTerms) -> Result<Option<u64>, Failure> {
        // The first games of a process pay for its setup; they are measured like all others.
        let mut begun = Vec::new();
        for index in 0..games {
            let color = if index % 2 == 0 { Color::White } else { Color::Black };
            let terms = ChallengeTerms::new(terms).with_color(color);
            begun.push(self.server.challenge(SPARRING, BOT, terms).await?);
        }
        let ends = async {
            let mut memory = None;
            for (index, challenge) in begun.iter().enumerate() {
                self.server.wait_for_end(&challenge.into()).await?;
                if index == games / 2 {
                    memory = daemon.process.resident();
                }
            }
            Ok(memory)
        };
        timeout(LONGEST, ends)
            .await
            .map_err(|_| Failure::failed(format_args!("the games did not end within {} s", LONGEST.as_secs())))?
    }
}

/// Reads the events of the page there, and forgets them.
async fn watch(page: SocketAddr) -> io::Result<u64> {
    let mut stream = TcpStream::connect(page).await?;
    stream.write_all(format!("GET /api/events HTTP/1.1\r\nHost: {page}\r\n\r\n").as_bytes()).await?;
    io::copy(&mut stream, &mut io::sink()).await
}
