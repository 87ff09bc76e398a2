//! `concilio demo`: the whole program on one machine. A practice server on loopback, the daemon connected to it through the
//! same adapters that talk to Lichess and FICS, and a sparring partner that challenges it.

use std::{
    io::{self, IsTerminal as _},
    net::SocketAddr,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use tokio::{
    sync::{mpsc, watch},
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use web::{AnotherGame, HealthChecks, WebServer, WebSettings, connect_to_practice};

use super::{
    Failure, idle_study,
    other_games::DemoGame,
    page, runtime,
    signals::Signals,
    view::{Viewer, result_in_words},
};
use bot::{
    journal::{Archive, Filter, Journal, JournalSettings},
    session::{
        self, AccountPolicy, Connection, Control, ControlCommand, EventBus, PlayerSettings, PreparedPlayer, Runtime,
        ShutdownGames,
    },
};
use cluster::ClusterSettings;
use council::{CouncilSettings, electors::Pool};
use domain::{GameTerms, TimeControl, Variant};
use platform::fics::{self, FicsSettings, Password, Timeseal};
use practice::{ChallengeTerms, FicsEndpoint, PracticeServer, SparringKind, faults::FaultPlan};
use report::ReportSettings;
use util::{Shutdown, outln};

/// Nodes of the sparring partner for a move: enough for a game worth watching, usually too little
/// to win it.
const SPARRING_NODES: u64 = 500;

/// The bots of the demo, one for each protocol, and their opponent.
const BOT: &str = "Concilio";
const FICS_BOT: &str = "ConcilioOnFics";
const SPARRING: &str = "Sparring";

/// Name of the accounts in the journal and on the page.
const ACCOUNT: &str = "practice";
const FICS_ACCOUNT: &str = "practice-fics";

/// Time in which running games are resigned before the daemon leaves them as they are.
const GIVE_UP_WITHIN: Duration = Duration::from_secs(5);
const GIVE_UP_AGAIN: Duration = Duration::from_millis(200);

/// Protocols of the practice server in the demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Faces {
    /// The Lichess Bot API.
    Lichess,
    /// The Free Internet Chess Server's language.
    Fics,
    /// Both at once, with one account each and one journal.
    Both,
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio demo                        one game of a minute and a second a move, and what comes next
  concilio demo --tc 10+0.1 --exit     a quick one, and no more
  concilio demo --roster balanced-7    seven specialists instead of the engine's copies
  concilio demo --server both          an account on Lichess and one on FICS at once
  concilio demo --games 8 --concurrency 4 --faults cut=3s,429=5%

On a terminal, the program stays after the game: Enter plays another one, and the page replays, reports, and takes you on.
It ends with Ctrl-C; with --games, with --exit, or without a terminal it ends after the last game. Ctrl-C resigns running
games, or aborts them before the second move; twice ends at once.")]
pub(super) struct DemoCommand {
    /// Game to play; of the other options, games beside chess accept only --tc and --data
    #[arg(long, value_enum, default_value_t = DemoGame::Chess)]
    game: DemoGame,
    /// Protocol of the practice server; with both, games are played on each
    #[arg(long, value_enum, default_value_t = Faces::Lichess)]
    server: Faces,
    /// Seconds on each clock and seconds added with every move
    #[arg(long, default_value = "60+1", value_name = "TIME")]
    tc: TimeControl,
    /// Number of games to play before the program ends by itself
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    games: Option<u32>,
    /// End after the game instead of waiting for Ctrl-C
    #[arg(long)]
    exit: bool,
    /// Number of simultaneous games (on FICS it is always one)
    #[arg(short = 'c', long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100))]
    concurrency: u32,
    /// Electors: auto as everywhere, a roster such as balanced-7, or knowledge letters such as
    /// "mbxkcpar mp ma"
    #[arg(long, default_value = "auto")]
    roster: String,
    /// NATS server of remote workers (see concilio worker)
    #[arg(long, env = "CONCILIO_NATS_URL", default_value = "", value_name = "URL")]
    nats: String,
    /// The key by which that server knows the daemon called "daemon" (see concilio cluster add-worker)
    #[arg(long, env = "CONCILIO_NATS_NKEY_FILE", value_name = "FILE", requires = "nats")]
    nkey_file: Option<PathBuf>,
    /// Faults of the practice server, such as cut=3s,delay=50ms,429=5%
    #[arg(long, default_value = "", value_name = "PLAN")]
    faults: FaultPlan,
    /// Address of the page in the browser; 127.0.0.1:8080 or, if that is taken, any free port
    #[arg(long, value_name = "ADDRESS", conflicts_with = "no_web")]
    web: Option<SocketAddr>,
    /// Serve no page
    #[arg(long)]
    no_web: bool,
    /// Folder of the journal and the games
    #[arg(long, default_value = "data/demo", value_name = "FOLDER")]
    data: PathBuf,
}

impl DemoCommand {
    pub(super) async fn run(self) -> Result<(), Failure> {
        if let Some(played) = self.game.play(self.tc, &self.data).await {
            return played;
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
        let began = Timestamp::now();
        let event_bus = EventBus::new();
        let shutdown = Shutdown::default();
        let control = Control::new(shutdown.clone());
        let runtime = self.runtime(journal, event_bus.clone(), player, self.pool(&shutdown).await?, control);
        let serving = CancellationToken::new();
        let connections = self.connections(&server).await?;
        let health = page::health(&runtime, connections.iter().map(|connection| connection.name.clone()));
        let mut wishes = self.stays().then(Wishes::listen);
        let another_game = wishes.as_ref().map(Wishes::button);
        let page = self.page(&runtime, played_by, health, another_game, serving.clone()).await?;
        if wishes.is_some() {
            // Between games, finished ones are judged, so that the page has a report.
            let settings =
                ReportSettings { when_idle: true, output: self.data.join("report"), ..ReportSettings::default() };
            idle_study::start(&settings, &journal_settings, &event_bus)?;
        }
        let viewer = Viewer::start(event_bus.listen());
        let mut daemons = JoinSet::new();
        for connection in connections {
            daemons.spawn(session::play(connection, runtime.clone(), shutdown.clone()));
        }

        let mut signals = Signals::listen();
        let played = tokio::select! {
            played = self.play(&server, &viewer, wishes.as_mut(), page.url(), &journal_settings) => played,
            () = told_to_stop(&mut signals) => Ok(()),
        };
        shutdown.drain.cancel();
        let stopped_again = tokio::select! {
            () = async { while daemons.join_next().await.is_some() {} } => false,
            () = give_up(&server, &runtime.control, &shutdown) => false,
            () = told_to_stop(&mut signals) => true,
        };
        while !stopped_again && daemons.join_next().await.is_some() {}
        viewer.close().await;
        serving.cancel();
        page.closed().await;
        if stopped_again {
            return Err(Failure::failed("stopped at once; played games are in the journal"));
        }
        let journal = runtime.journal.clone();
        drop(runtime);
        journal.close().await?;
        self.report(&journal_settings, began)?;
        played
    }

    /// Returns true if the program goes on after the last game until it is stopped.
    fn stays(&self) -> bool {
        self.games.is_none() && !self.exit && io::stdout().is_terminal()
    }

    /// Plays the games; if the program stays, it plays another one for each request.
    async fn play(
        &self,
        server: &PracticeServer,
        viewer: &Viewer,
        wishes: Option<&mut Wishes>,
        url: Option<String>,
        journal: &JournalSettings,
    ) -> Result<(), Failure> {
        self.challenge_and_wait(server, 1).await?;
        let Some(wishes) = wishes else { return Ok(()) };
        for round in 2.. {
            viewer.hint(self.what_next(server, url.as_deref(), journal).await?);
            wishes.another_game().await;
            viewer.begin_anew();
            self.challenge_and_wait(server, round).await?;
        }
        Ok(())
    }

    /// Returns the hints for the person at the terminal after a game.
    async fn what_next(
        &self,
        server: &PracticeServer,
        url: Option<&str>,
        journal: &JournalSettings,
    ) -> Result<Vec<String>, Failure> {
        let journal = journal.path.display();
        let mut lines = vec![" What next?".to_owned(), "   another game      press Enter".to_owned()];
        match (url, server.games().await?.last()) {
            (Some(url), Some(game)) => {
                let account = if self.server == Faces::Fics { FICS_ACCOUNT } else { ACCOUNT };
                lines.push(format!("   replay, votes     {url}#/games/{account}/{}", game.id));
                lines.push(format!("   report            {url}#/games/{account}/{}?report", game.id));
                lines.push(format!("   play against it   {url}#/play"));
            }
            _ => {
                lines.push(format!("   replay, votes     concilio games --votes -n 1 --journal {journal}"));
                lines.push(format!("   report            concilio report --journal {journal}"));
            }
        }
        lines.push("   end               Ctrl-C".to_owned());
        Ok(lines)
    }

    async fn page(
        &self,
        runtime: &Runtime,
        player: watch::Receiver<PlayerSettings>,
        health: HealthChecks,
        another_game: Option<AnotherGame>,
        stop: CancellationToken,
    ) -> Result<WebServer, Failure> {
        let serve = async |address: Option<SocketAddr>| {
            let address = address.map_or_else(String::new, |address| address.to_string());
            let settings = WebSettings { address, ..WebSettings::default() };
            let (health, another_game) = (health.clone(), another_game.clone());
            page::serve(&settings, runtime, player.clone(), None, health, another_game, stop.clone()).await
        };
        let page = match self.web {
            _ if self.no_web => serve(None).await?,
            Some(address) => serve(Some(address)).await?,
            None => page::near_the_usual_address(async |address| serve(Some(address)).await).await?,
        };
        if let Some(url) = page.url() {
            outln!("the page is at {url}");
        }
        Ok(page)
    }

    /// Checks the clock: FICS counts in minutes.
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
            let token = server.add_account(BOT, true).await?;
            connections.push(connect_to_practice(ACCOUNT, server, &token, CancellationToken::new())?);
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
            connections.push(Connection { name: FICS_ACCOUNT.into(), server: Arc::new(fics), events, stop });
        }
        Ok(connections)
    }

    /// Creates the pool of local and remote cores. Workers have a moment to connect before the
    /// first game.
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
        let mut policy = AccountPolicy::among_friends(SPARRING, self.concurrency as usize);
        policy.challenge.max_waiting = self.games.unwrap_or(1) as usize;
        policy.games_at_shutdown = ShutdownGames::Resign;
        Runtime {
            pool,
            event_bus,
            policy: Arc::new(policy),
            control,
            ..Runtime::new(journal, Arc::new(move |_| Arc::clone(&player)))
        }
    }

    /// Lets the sparring partner challenge for as many games as are wanted, and waits for the end of the last one of this
    /// round; rounds count from 1.
    async fn challenge_and_wait(&self, server: &PracticeServer, round: usize) -> Result<(), Failure> {
        let terms = GameTerms { variant: Variant::Standard, time_control: self.tc, rated: false };
        let games = self.games.unwrap_or(1);
        if self.server != Faces::Fics {
            for _ in 0..games {
                server.challenge(SPARRING, BOT, ChallengeTerms::new(terms)).await?;
            }
        }
        if self.server != Faces::Lichess {
            // There an account plays one game at a time.
            for _ in 0..games {
                let game = server.game_between(SPARRING, FICS_BOT, ChallengeTerms::new(terms)).await?;
                server.wait_for_end(&game).await?;
            }
        }
        let faces = if self.server == Faces::Both { 2 } else { 1 };
        server.wait_for_games(games as usize * faces * round).await?;
        Ok(())
    }

    /// Prints how the games since `began` ended, as the journal has them, and where to read more.
    fn report(&self, journal: &JournalSettings, began: Timestamp) -> Result<(), Failure> {
        let path = journal.path.display();
        outln!();
        let filter = Filter { since: Some(began), ..Filter::default() };
        for game in Archive::open(&journal.path)?.games(&filter)? {
            let result = match game.ended_at {
                Some(_) => result_in_words(&game.status, game.winner),
                None => "not finished".to_owned(),
            };
            outln!("  {}  {result}", game.game);
        }
        outln!("  games    {}", journal.pgn_directory.display());
        outln!("  journal  {path}");
        outln!("  replay   concilio web --journal {path}");
        outln!("  votes    concilio games --votes -n 1 --journal {path}");
        outln!("  report   concilio report --journal {path}");
        Ok(())
    }
}

/// Requests for another game: by Enter on the terminal, or by the page's button.
struct Wishes {
    sender: mpsc::Sender<()>,
    receiver: mpsc::Receiver<()>,
    /// True if a request counts now: it does not while a game runs.
    waiting: Arc<AtomicBool>,
}

impl Wishes {
    fn listen() -> Self {
        let (sender, receiver) = mpsc::channel(1);
        let wishes = Self { sender, receiver, waiting: Arc::default() };
        let wish = wishes.button();
        if io::stdin().is_terminal() {
            // The thread ends with the program or with the input.
            thread::spawn(move || io::stdin().lines().map_while(Result::ok).for_each(|_| _ = wish()));
        }
        wishes
    }

    /// Wishes for another game; returns whether one begins.
    fn button(&self) -> AnotherGame {
        let (sender, waiting) = (self.sender.clone(), Arc::clone(&self.waiting));
        Arc::new(move || waiting.swap(false, Relaxed) && sender.try_send(()).is_ok())
    }

    async fn another_game(&mut self) {
        self.waiting.store(true, Relaxed);
        // The channel stays open: this side holds a sender.
        let _ = self.receiver.recv().await;
    }
}

/// Resigns or aborts every game of the bots until the accounts have ended, so that the journal knows how each game ended. After
/// a while the daemon leaves the games as they are.
async fn give_up(server: &PracticeServer, control: &Control, shutdown: &Shutdown) {
    let give_up_all = async {
        loop {
            let games = server.games().await.unwrap_or_default();
            for game in games.into_iter().filter(|game| game.outcome.is_none()) {
                // A game that has not reached its account yet is given up in the next round.
                let _ = control.perform(ControlCommand::Resign { game: game.id, account: None }).await;
            }
            sleep(GIVE_UP_AGAIN).await;
        }
    };
    let _ = timeout(GIVE_UP_WITHIN, give_up_all).await;
    shutdown.now.cancel();
}

/// Waits for a signal to stop; for ever where none can be heard.
async fn told_to_stop(signals: &mut Option<Signals>) {
    match signals {
        Some(signals) => signals.told_to_stop().await,
        None => std::future::pending().await,
    }
}
