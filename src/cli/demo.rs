//! `concilio demo`: the whole program on one machine. A practice server on loopback, the daemon connected to it through the
//! same adapters that talk to Lichess and FICS, and a sparring partner that challenges it.

use std::{net::SocketAddr, path::PathBuf, sync::Arc};

use clap::{Args, ValueEnum};
use tokio::{sync::watch, task::JoinSet};
use tokio_util::sync::CancellationToken;
use web::{HealthChecks, WebServer, WebSettings};

use super::{Failure, draughts::play_demo, page, runtime, signals::Signals, view::Viewer};
use bot::{
    journal::{Journal, JournalSettings},
    policy::{ChallengeSettings, NameLists, challenge::Names},
    session::{
        self, AccountPolicy, Connection, Control, EventBus, PlayerSettings, PreparedPlayer, Runtime, ShutdownGames,
    },
};
use chess::{GameTerms, Shutdown, TimeControl, Variant, outln};
use cluster::ClusterSettings;
use council::{CouncilSettings, pool::Pool};
use practice::{ChallengeTerms, FicsEndpoint, PracticeServer, SparringKind, faults::FaultPlan};
use server::{
    fics::{self, FicsSettings, Password, Timeseal},
    lichess::{self, LichessSettings, Token},
};

/// What the sparring partner searches for a move: enough for a game worth watching, too little to win it usually.
const SPARRING_NODES: u64 = 500;

/// The bots of the demo, one for each protocol, and who spars with them.
const BOT: &str = "Concilio";
const FICS_BOT: &str = "ConcilioOnFics";
const SPARRING: &str = "Sparring";

/// Which of the practice server's faces the demo plays on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Faces {
    /// The Lichess Bot API.
    Lichess,
    /// The Free Internet Chess Server's language.
    Fics,
    /// Both at once, with one account each and one journal.
    Both,
}

/// The games that can be watched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DemoGame {
    /// The whole program against a practice server.
    Chess,
    /// One game of Italian draughts: the council against a strategy, without servers.
    Draughts,
}

/// Watch the whole program play against a practice server on this machine
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio demo                        one game of a minute and a second a move
  concilio demo --tc 10+0.1            a quick one
  concilio demo --game draughts        Italian draughts: the council against fully-guarded
  concilio demo --server both          an account on Lichess and one on FICS at once
  concilio demo --games 8 --concurrency 4 --faults cut=3s,429=5%

Ctrl-C aborts or resigns the running games and ends; twice ends at once.")]
pub(super) struct DemoCommand {
    /// Which game is played; of the other options, draughts knows only --tc and --data
    #[arg(long, value_enum, default_value_t = DemoGame::Chess)]
    game: DemoGame,
    /// Whose protocol is spoken with the practice server; with both, the games are played on each
    #[arg(long, value_enum, default_value_t = Faces::Lichess)]
    server: Faces,
    /// Seconds on each clock and seconds added with every move
    #[arg(long, default_value = "60+1", value_name = "TIME")]
    tc: TimeControl,
    /// How many games to play
    #[arg(short = 'n', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    games: u32,
    /// How many games to play at the same time (on FICS it is always one)
    #[arg(short = 'c', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    concurrency: u32,
    /// Who proposes: auto as everywhere, a roster such as balanced-7, or knowledge letters such as "mbxkcpar mp ma"
    #[arg(long, default_value = "auto")]
    roster: String,
    /// A NATS server whose workers lend their cores (see concilio worker)
    #[arg(long, env = "CONCILIO_NATS_URL", default_value = "", value_name = "URL")]
    nats: String,
    /// The key by which that server knows the daemon called "daemon" (see concilio cluster add-worker)
    #[arg(long, env = "CONCILIO_NATS_NKEY_FILE", value_name = "FILE", requires = "nats")]
    nkey_file: Option<PathBuf>,
    /// What the practice server lets go wrong, such as cut=3s,delay=50ms,429=5%
    #[arg(long, default_value = "", value_name = "PLAN")]
    faults: FaultPlan,
    /// Where the page in the browser is; 127.0.0.1:8080 or, where that is taken, any that is free
    #[arg(long, value_name = "ADDRESS", conflicts_with = "no_web")]
    web: Option<SocketAddr>,
    /// Serve no page
    #[arg(long)]
    no_web: bool,
    /// Where the journal and the games are written
    #[arg(long, default_value = "data/demo", value_name = "FOLDER")]
    data: PathBuf,
}

impl DemoCommand {
    /// Plays the games and prints how they ended.
    pub(super) async fn run(self) -> Result<(), Failure> {
        if self.game == DemoGame::Draughts {
            return play_demo(self.tc, &self.data).await;
        }
        let council = CouncilSettings { roster: self.roster.clone(), ..CouncilSettings::default() };
        let player = PlayerSettings { council, ponder: 0, ..PlayerSettings::default() };
        let player = Arc::new(PreparedPlayer::new(player).map_err(Failure::usage)?);
        let (_, played_by) = watch::channel(player.settings.clone());
        self.check_time_control()?;
        let server = self.server().await?;
        server.sparring(SPARRING, SparringKind::Engine { nodes: SPARRING_NODES }).await?;

        let journal_settings = JournalSettings::in_folder(&self.data);
        let journal = Journal::open(&journal_settings)?;
        let event_bus = EventBus::new();
        let shutdown = Shutdown::default();
        let control = Control::new(shutdown.clone());
        let runtime = self.runtime(journal, event_bus.clone(), player, self.pool(&shutdown).await?, control);
        let serving = CancellationToken::new();
        let connections = self.connections(&server).await?;
        let health = page::health(&runtime, connections.iter().map(|connection| connection.name.clone()));
        let page = self.page(&runtime, played_by, health, serving.clone()).await?;
        let viewer = Viewer::start(event_bus.listen());
        let mut daemons = JoinSet::new();
        for connection in connections {
            daemons.spawn(session::play(connection, runtime.clone(), shutdown.clone()));
        }

        let mut signals = Signals::listen();
        let (played, stopped) = tokio::select! {
            played = self.challenge_and_wait(&server) => (played, false),
            () = told_to_stop(&mut signals) => (Ok(()), true),
        };
        if stopped {
            shutdown.now.cancel();
        } else {
            shutdown.drain.cancel();
        }
        let stopped_again = tokio::select! {
            () = async { while daemons.join_next().await.is_some() {} } => false,
            () = told_to_stop(&mut signals) => true,
        };
        viewer.close().await;
        serving.cancel();
        page.closed().await;
        if stopped_again {
            return Err(Failure::failed("stopped at once; the journal holds what was played"));
        }
        let journal = runtime.journal.clone();
        drop(runtime);
        journal.close().await?;
        self.report(&server, &journal_settings).await?;
        played
    }

    /// The page, unless none is wanted; its address is printed.
    async fn page(
        &self,
        runtime: &Runtime,
        player: watch::Receiver<PlayerSettings>,
        health: HealthChecks,
        stop: CancellationToken,
    ) -> Result<WebServer, Failure> {
        let usual = SocketAddr::from(([127, 0, 0, 1], 8080));
        let serve = async |address: Option<SocketAddr>| {
            let address = address.map_or_else(String::new, |address| address.to_string());
            let settings = WebSettings { address, ..WebSettings::default() };
            page::serve(&settings, runtime, player.clone(), None, health.clone(), stop.clone()).await
        };
        let page = match self.web {
            _ if self.no_web => serve(None).await?,
            Some(address) => serve(Some(address)).await?,
            None => match serve(Some(usual)).await {
                Ok(page) => page,
                Err(_taken) => serve(Some(SocketAddr::from(([127, 0, 0, 1], 0)))).await?,
            },
        };
        if let Some(url) = page.url() {
            outln!("the page is at {url}");
        }
        Ok(page)
    }

    /// On FICS clocks are set in minutes.
    fn check_time_control(&self) -> Result<(), Failure> {
        let TimeControl::RealTime { initial, increment } = self.tc else { return Ok(()) };
        let whole = increment.subsec_nanos() == 0 && initial.subsec_nanos() == 0;
        let shortest = initial.as_secs() == 10 && !increment.is_zero();
        if self.server == Faces::Lichess || whole && (shortest || initial.as_secs() % 60 == 0) {
            return Ok(());
        }
        Err(Failure::usage(format_args!(
            "--tc {}: FICS counts in whole minutes and seconds, such as 60+1 or 180+2 (10+1 is its shortest)",
            self.tc
        )))
    }

    async fn server(&self) -> Result<PracticeServer, Failure> {
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let fics = (self.server != Faces::Lichess).then(|| FicsEndpoint::at(anywhere));
        let settings =
            practice::PracticeSettings { faults: self.faults.clone(), fics, ..practice::PracticeSettings::default() };
        Ok(PracticeServer::start_on(anywhere, settings).await?)
    }

    /// An account on each face, connected through the adapter that talks to the real server.
    async fn connections(&self, server: &PracticeServer) -> Result<Vec<Connection>, Failure> {
        let mut connections = Vec::new();
        if self.server != Faces::Fics {
            let token = Token::parse(&server.add_account(BOT, true).await?, "the practice server")?;
            let settings = LichessSettings { url: server.url().parse()?, ..LichessSettings::default() };
            let stop = CancellationToken::new();
            let (lichess, events) = lichess::connect(settings, token, stop.clone())?;
            connections.push(Connection { name: "practice".into(), server: Arc::new(lichess), events, stop });
        }
        if let Some(address) = server.fics_address() {
            server.add_fics_account(FICS_BOT, true, "practice").await?;
            let settings = FicsSettings {
                host: address.ip().to_string(),
                port: address.port(),
                fallback_port: 0,
                username: FICS_BOT.to_owned(),
                timeseal: Timeseal::V2,
                ping_after: 5,
                ping_timeout: 5,
                reconnect_max: 5,
                ..FicsSettings::default()
            };
            let password = Password::new("practice");
            let stop = CancellationToken::new();
            let (fics, events) = fics::connect(settings, Some(password), stop.clone());
            connections.push(Connection { name: "practice-fics".into(), server: Arc::new(fics), events, stop });
        }
        Ok(connections)
    }

    /// Our cores and those that workers lend. Workers that are there have a moment to say so before the first game.
    async fn pool(&self, shutdown: &Shutdown) -> Result<Pool, Failure> {
        let cluster = ClusterSettings {
            nats: self.nats.clone(),
            name: "daemon".to_owned(),
            nkey_file: self.nkey_file.clone().unwrap_or_default(),
            ..ClusterSettings::default()
        };
        if cluster.is_on() && cluster.servers().is_none() {
            return Err(Failure::usage(format_args!("--nats {}: expected nats://HOST:4222", self.nats)));
        }
        let remote_pool = runtime::remote_pool(&cluster, shutdown.now.child_token());
        runtime::hear_from(remote_pool.as_ref()).await;
        Ok(Pool::with_remote(0, remote_pool))
    }

    fn runtime(
        &self,
        journal: Journal,
        event_bus: EventBus,
        player: Arc<PreparedPlayer>,
        pool: Pool,
        control: Control,
    ) -> Runtime {
        let challenge = ChallengeSettings {
            concurrency: self.concurrency as usize,
            max_games_per_opponent: self.concurrency as usize,
            max_waiting: self.games as usize,
            ..ChallengeSettings::default()
        };
        // A friend is played on any terms.
        let lists = NameLists { friends: Names::parse(SPARRING), ..NameLists::default() };
        let variants = vec![Variant::Standard, Variant::Chess960, Variant::FromPosition];
        Runtime {
            journal,
            pool,
            event_bus,
            player: Arc::new(move |_| Arc::clone(&player)),
            policy: Arc::new(AccountPolicy {
                challenge,
                lists,
                variants,
                games_at_shutdown: ShutdownGames::Resign,
                ..AccountPolicy::default()
            }),
            control,
        }
    }

    /// Lets the sparring partner challenge for as many games as are wanted, and waits for the end of the last.
    async fn challenge_and_wait(&self, server: &PracticeServer) -> Result<(), Failure> {
        let terms = GameTerms { variant: Variant::Standard, time_control: self.tc, rated: false };
        if self.server != Faces::Fics {
            for _ in 0..self.games {
                server.challenge(SPARRING, BOT, ChallengeTerms::new(terms)).await?;
            }
        }
        if self.server != Faces::Lichess {
            // There an account plays one game at a time.
            for _ in 0..self.games {
                let game = server.game_between(SPARRING, FICS_BOT, ChallengeTerms::new(terms)).await?;
                server.wait_for_end(&game).await?;
            }
        }
        let faces = if self.server == Faces::Both { 2 } else { 1 };
        server.wait_for_games(self.games as usize * faces).await?;
        Ok(())
    }

    async fn report(&self, server: &PracticeServer, journal: &JournalSettings) -> Result<(), Failure> {
        outln!();
        for game in server.games().await? {
            if let Some(outcome) = &game.outcome {
                outln!("  {}  {}", game.id, outcome);
            }
        }
        outln!("  games    {}", journal.pgn_directory.display());
        outln!("  journal  {}  (look at it with: concilio games --journal {0})", journal.path.display());
        outln!("  study them with: concilio report --journal {}", journal.path.display());
        Ok(())
    }
}

/// Waits for a signal to stop; for ever where none can be heard.
async fn told_to_stop(signals: &mut Option<Signals>) {
    match signals {
        Some(signals) => signals.told_to_stop().await,
        None => std::future::pending().await,
    }
}
