//! A stage for the stories: the page in front of a bus and a journal; and a bot on a practice server, where one is wanted.

use std::sync::Arc;

use bot::{
    journal::{Journal, JournalSettings},
    session::{self, AccountPolicy, Control, EventBus, LimitSettings, PlayerSettings, PreparedPlayer, Runtime},
};
use concilio_web::{HealthChecks, WebContext, WebServer, WebSettings, connect_to_practice, serve};
use council::{CouncilSettings, electors::Pool};
use domain::{GameTerms, Variant};
use practice::{ChallengeTerms, GameReport, PracticeServer, PracticeSettings, SparringKind};
use reqwest::{Client, RequestBuilder, StatusCode};
use tempfile::TempDir;
pub(crate) use testkit::within;
use tokio::sync::watch;
use util::Shutdown;

pub(crate) const SECRET: &str = "open sesame";

/// A client for plain requests; it wants a provider of encryption all the same.
pub(crate) fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().build().expect("a client")
}

/// Sends a request, and returns the status of the answer.
pub(crate) async fn status(request: RequestBuilder) -> StatusCode {
    request.send().await.expect("an answer").status()
}

/// The page, and what it is in front of.
pub(crate) struct PlayStage {
    pub(crate) web: WebServer,
    pub(crate) bus: EventBus,
    pub(crate) journal: Journal,
    pub(crate) folder: TempDir,
    pub(crate) shutdown: Shutdown,
    pub(crate) client: Client,
    pool: Pool,
    player: PlayerSettings,
    pub(crate) page_player: watch::Sender<PlayerSettings>,
    pub(crate) control: Control,
    pub(crate) context: WebContext,
}

impl PlayStage {
    pub(crate) async fn open() -> Self {
        Self::with(|_, _| ()).await
    }

    pub(crate) async fn with_secret(public: bool) -> Self {
        Self::with(|settings, folder| {
            settings.secret_file = folder.path().join("secret");
            settings.public = public;
            std::fs::write(&settings.secret_file, format!("{SECRET}\n")).expect("a file");
        })
        .await
    }

    pub(crate) async fn with(change: impl FnOnce(&mut WebSettings, &TempDir)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::open(&JournalSettings::in_folder(folder.path()));
        let journal = journal.expect("a journal");
        let mut settings = WebSettings { address: "127.0.0.1:0".to_owned(), ..WebSettings::default() };
        change(&mut settings, &folder);
        let council = CouncilSettings { roster: "mp ma mxpa".to_owned(), hash: 1, ..CouncilSettings::default() };
        let limits = LimitSettings { nodes: Some(2000), ..LimitSettings::default() };
        let player = PlayerSettings { council, limits, ponder: 0, takebacks: 5, ..PlayerSettings::default() };
        let (shutdown, bus, pool) = (Shutdown::default(), EventBus::new(), Pool::new(0));
        let control = Control::new(shutdown.clone());
        let (page_player, in_page) = watch::channel(player.clone());
        let (parts, routes) = crate::parts(&pool, &journal, &shutdown);
        let context = WebContext {
            event_bus: bus.clone(),
            journal: journal.clone(),
            pool: pool.clone(),
            player: in_page,
            control: Some(control.clone()),
            health: HealthChecks {
                metrics: Some(Arc::new(|| "concilio_games 0\n".to_owned())),
                ..HealthChecks::default()
            },
            another_game: None,
            parts,
            routes,
        };
        let socket = folder.path().join("control.sock");
        let served = serve(&settings, context.clone(), Some(&socket), shutdown.now.child_token()).await;
        let web = served.expect("a page");
        Self { web, bus, journal, folder, shutdown, client: client(), pool, player, page_player, control, context }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{}", self.web.url().expect("an address"), path.trim_start_matches('/'))
    }

    pub(crate) fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.url(path))
    }

    pub(crate) fn post(&self, path: &str, body: &serde_json::Value) -> RequestBuilder {
        self.client.post(self.url(path)).json(body)
    }

    /// Sets the roster of new councils, with time by the clock.
    pub(crate) fn seat(&mut self, roster: &str) {
        self.player.council.roster = roster.to_owned();
        self.player.limits = LimitSettings::default();
    }

    /// Connects a bot to a practice server, with a partner there.
    pub(crate) async fn bot(&self, partner: SparringKind) -> PracticeServer {
        let server = PracticeServer::start(PracticeSettings::default()).await.expect("a free port");
        let token = server.add_account("Concilio", true).await.expect("a new account");
        server.sparring("Sparring", partner).await.expect("a new account");
        let player = Arc::new(PreparedPlayer::new(self.player.clone()).expect("a roster"));
        let runtime = Runtime {
            pool: self.pool.clone(),
            event_bus: self.bus.clone(),
            policy: Arc::new(AccountPolicy::among_friends("Sparring", 8)),
            control: self.control.clone(),
            ..Runtime::new(self.journal.clone(), Arc::new(move |_| Arc::clone(&player)))
        };
        let stop = self.shutdown.now.child_token();
        let connection = connect_to_practice("practice", &server, &token, stop).expect("a client");
        tokio::spawn(session::play(connection, runtime, self.shutdown.clone()));
        within("the bot to be online", server.wait_until_online("Concilio")).await.expect("a server");
        server
    }
}

impl Drop for PlayStage {
    fn drop(&mut self) {
        self.shutdown.now.cancel();
    }
}

/// The partner challenges the bot on this server; the game has begun when this returns.
pub(crate) async fn game(server: &PracticeServer, time_control: &str) -> domain::GameId {
    let time_control = time_control.parse().expect("a time control");
    let terms = GameTerms { variant: Variant::Standard, time_control, rated: true };
    let begun = server.game_between("Sparring", "Concilio", ChallengeTerms::new(terms));
    within("a game", begun).await.expect("a game")
}

pub(crate) async fn whole_game(server: &PracticeServer, time_control: &str) -> GameReport {
    let game = game(server, time_control).await;
    within("the end of a game", server.wait_for_end(&game)).await.expect("a game")
}
