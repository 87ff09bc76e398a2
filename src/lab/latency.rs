//! How long the daemon itself takes: from the opponent's move on the stream to our move request, with an elector that thinks
//! about nothing; how fast it connects; how much memory it holds when idle.
//!
//! The daemon runs as a process of its own, as it would for real, against a practice server on loopback. A move's time is
//! what the practice server's clock charged for it: from the opponent's move in its game core to ours, both ways through
//! HTTP included. Nothing is subtracted. Where watchers are asked for, so many read the events of the daemon's page meanwhile.

use std::{
    net::{Ipv4Addr, SocketAddr},
    path::PathBuf,
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use tokio::{
    io::{self, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
    time::timeout,
};

use super::own_process::OwnProcess;
use chess::{Color, GameTerms, TimeControl, Variant};
use practice::{AccountId, ChallengeTerms, GameReport, PracticeError, PracticeServer, PracticeSettings, SparringKind};

const BOT: &str = "Measured";
const SPARRING: &str = "Instant";
/// Games in which it is found out how fast the daemon starts.
const STARTS: usize = 5;
/// The clock: so long that no game ends by it.
const CLOCK: Duration = Duration::from_secs(600);

/// So many moves are measured at least.
const ENOUGH: usize = 2000;
/// How long the games of one round may take.
const LONGEST: Duration = Duration::from_secs(300);

/// What the daemon itself takes, as it was measured.
#[derive(Clone, Debug)]
pub struct Latency {
    /// From the start of the process to the open event stream, each start.
    pub starts: Vec<Duration>,
    /// Resident memory when idle, in KiB. `None` where the system does not tell.
    pub idle_memory: Option<u64>,
    /// The delays of the moves, by how many games were played at once.
    pub shares: Vec<MoveDelays>,
}

/// The delays of all moves with so many games at once.
#[derive(Clone, Debug)]
pub struct MoveDelays {
    /// Games that were played at once.
    pub games: usize,
    /// Readers of the page's events meanwhile; without any there was no page.
    pub watchers: usize,
    /// The delay of each move, shortest first.
    pub delays: Vec<Duration>,
}

/// Why nothing could be measured.
#[derive(Debug, thiserror::Error)]
pub enum LatencyError {
    /// The practice server failed.
    #[error(transparent)]
    Practice(#[from] PracticeError),
    /// The daemon could not be started.
    #[error("cannot start the daemon: {0}")]
    Start(#[from] std::io::Error),
    /// The page sent somebody away who wanted to watch.
    #[error("the page's events could not be read to the end")]
    Unwatched,
    /// The games do not end.
    #[error("the games did not end within {} s", LONGEST.as_secs())]
    Stuck,
}

impl Latency {
    /// Measures with so many games at once and so many watchers, each with each in turn.
    ///
    /// # Errors
    /// [`LatencyError`] if the practice server or the daemon does not start.
    pub async fn measure(program: PathBuf, games: &[usize], watchers: &[usize]) -> Result<Self, LatencyError> {
        let bench = LatencyBench::start(program).await?;
        let mut starts = Vec::new();
        for _ in 1..STARTS {
            starts.push(bench.daemon(1, None).await?.connected_after);
        }
        let idle = bench.daemon(1, None).await?;
        starts.push(idle.connected_after);
        let idle_memory = idle.process.resident();
        drop(idle);
        let mut shares = Vec::new();
        for games in games {
            for watchers in watchers {
                shares.push(bench.play(*games, *watchers).await?);
            }
        }
        Ok(Self { starts, idle_memory, shares })
    }
}

/// A practice server and the program to be measured.
struct LatencyBench {
    program: PathBuf,
    server: PracticeServer,
    token: String,
}

/// A daemon of our own.
struct Daemon {
    process: OwnProcess,
    connected_after: Duration,
    /// Its journal alone, so that what others have played is not counted as its own.
    _folder: tempfile::TempDir,
}

impl LatencyBench {
    async fn start(program: PathBuf) -> Result<Self, LatencyError> {
        // The games of a round are counted with all those before it.
        let settings = PracticeSettings { keep_finished: usize::MAX, ..PracticeSettings::default() };
        let server = PracticeServer::start(settings).await?;
        let token = server.add_account(BOT, true).await?;
        server.sparring(SPARRING, SparringKind::Random).await?;
        Ok(Self { program, server, token })
    }

    /// Starts a daemon for so many games, with its page there if it shall have one, and waits until it is connected.
    async fn daemon(&self, games: usize, page: Option<SocketAddr>) -> Result<Daemon, LatencyError> {
        let bot = AccountId::of(BOT);
        let gone = bot.clone();
        self.server.wait(move |state| (!state.is_online(&gone)).then_some(())).await?;
        let folder = tempfile::tempdir()?;
        let began = Instant::now();
        let mut command = Command::new(&self.program);
        command
            .args(["--log", "error", "run"])
            .args(["--set", "player.council.roster=trivial", "--set", "player.resign.enabled=false"])
            .args(["--set", "player.draw.offer=false", "--set", "player.draw.accept=false"])
            .args(["--set", &format!("challenge.concurrency={games}")])
            .args(["--set", &format!("challenge.max_games_per_opponent={games}")])
            .args(["--set", &format!("challenge.friends=[\"{SPARRING}\"]")])
            .env("CONCILIO_LICHESS_TOKEN", &self.token)
            .env("CONCILIO__SERVERS__PRACTICE__URL", self.server.url())
            .env("CONCILIO__JOURNAL__PATH", folder.path().join("journal.db"))
            .env("CONCILIO__JOURNAL__PGN_DIRECTORY", folder.path().join("pgn"))
            .stdout(Stdio::null());
        if let Some(page) = page {
            command.args(["--set", &format!("web.address={page}"), "--set", "web.watchers=1000"]);
        }
        let process = OwnProcess::start(&mut command)?;
        self.server.wait(move |state| state.is_online(&bot).then_some(())).await?;
        Ok(Daemon { process, connected_after: began.elapsed(), _folder: folder })
    }

    async fn play(&self, games: usize, watchers: usize) -> Result<MoveDelays, LatencyError> {
        let page = free_address().await?;
        let daemon = self.daemon(games, (watchers > 0).then_some(page)).await?;
        let mut watching: JoinSet<_> = (0..watchers).map(|_| watch(page)).collect();
        let terms = GameTerms {
            variant: Variant::Standard,
            time_control: TimeControl::real_time(CLOCK, Duration::ZERO),
            rated: false,
        };
        let mut delays = Vec::new();
        while delays.len() < ENOUGH {
            delays.extend(self.round(games, terms).await?);
        }
        if watching.try_join_next().is_some() {
            return Err(LatencyError::Unwatched);
        }
        drop(daemon);
        delays.sort_unstable();
        Ok(MoveDelays { games, watchers, delays })
    }

    /// Plays so many games at once and gives the delays of all moves.
    async fn round(&self, games: usize, terms: GameTerms) -> Result<Vec<Duration>, LatencyError> {
        let before = self.server.games().await?.len();
        for index in 0..games {
            let color = if (before + index) % 2 == 0 { Color::White } else { Color::Black };
            self.server.challenge(SPARRING, BOT, ChallengeTerms::new(terms).with_color(color)).await?;
        }
        let reports =
            timeout(LONGEST, self.server.wait_for_games(before + games)).await.map_err(|_| LatencyError::Stuck)??;
        Ok(reports.iter().rev().take(games).flat_map(delays_of).collect())
    }
}

/// An address of this machine where nobody listens.
async fn free_address() -> io::Result<SocketAddr> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?.local_addr()
}

/// Reads the events of the page there, and forgets them.
async fn watch(page: SocketAddr) -> io::Result<u64> {
    let mut stream = TcpStream::connect(page).await?;
    stream.write_all(format!("GET /api/events HTTP/1.1\r\nHost: {page}\r\n\r\n").as_bytes()).await?;
    io::copy(&mut stream, &mut io::sink()).await
}

/// What each move of ours took on the server's clock, from the second on: the first ones are free.
fn delays_of(game: &GameReport) -> Vec<Duration> {
    let Some(ours) = game.color_of(BOT) else { return Vec::new() };
    let first = usize::from(ours == Color::Black);
    let shown: Vec<Duration> = game.clocks_after.iter().skip(first).step_by(2).map_while(|clock| *clock).collect();
    shown.windows(2).map(|pair| pair[0].saturating_sub(pair[1])).collect()
}
