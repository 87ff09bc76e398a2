//! The page in front of a bus and a journal; and a bot on a practice server, where one is wanted.

use std::sync::Arc;

use axum::Router;
use bot::session::{AccountPolicy, LimitSettings, PlayerSettings, Runtime};
use council::CouncilSettings;
use domain::{GameTerms, Variant};
use platform::lichess::LichessSettings;
use practice::{ChallengeTerms, GameReport, PracticeServer, PracticeSettings, SparringKind};
use reqwest::{Client, RequestBuilder, StatusCode};
use tempfile::TempDir;
use testkit::within;
use tokio::sync::watch;
use util::Shutdown;
use web::{HealthChecks, PagePart, WebContext, WebServer, WebSettings, serve};

use crate::{
    DaemonUnderTest,
    daemon::{lichess_connection, prepared, runtime},
};

pub const SECRET: &str = "open sesame";

/// A client for plain requests; it wants a provider of encryption all the same.
pub fn client() -> Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    Client::builder().no_proxy().build().expect("a client")
}

/// Sends a request, and returns the status of the answer.
pub async fn status(request: RequestBuilder) -> StatusCode {
    request.send().await.expect("an answer").status()
}

/// A change of the settings by which the page has a secret.
pub fn secret(public: bool) -> impl FnOnce(&mut WebSettings, &TempDir) {
    move |settings, folder| {
        settings.secret_file = folder.path().join("secret");
        settings.public = public;
        std::fs::write(&settings.secret_file, format!("{SECRET}\n")).expect("a file");
    }
}

/// The page, and what it is in front of.
pub struct PlayStage {
    pub web: WebServer,
    pub runtime: Runtime,
    pub folder: TempDir,
    pub shutdown: Shutdown,
    pub client: Client,
    pub page_player: watch::Sender<PlayerSettings>,
    pub context: WebContext,
}

impl PlayStage {
    pub async fn open() -> Self {
        Self::with(|_, _| ()).await
    }

    pub async fn with_secret(public: bool) -> Self {
        Self::with(secret(public)).await
    }

    pub async fn with(change: impl FnOnce(&mut WebSettings, &TempDir)) -> Self {
        Self::with_parts(change, |_, _| Default::default()).await
    }

    /// The page with parts and routes of another package.
    pub async fn with_parts(
        change: impl FnOnce(&mut WebSettings, &TempDir),
        parts: impl FnOnce(&Runtime, &Shutdown) -> (Vec<PagePart>, Router),
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut settings = WebSettings { address: "127.0.0.1:0".to_owned(), ..WebSettings::default() };
        change(&mut settings, &folder);
        let council = CouncilSettings { roster: "mp ma mxpa".to_owned(), hash: 1, ..CouncilSettings::default() };
        let limits = LimitSettings { nodes: Some(2000), ..LimitSettings::default() };
        let player = PlayerSettings { council, limits, ponder: 0, takebacks: 5, ..PlayerSettings::default() };
        let (page_player, in_page) = watch::channel(player.clone());
        let shutdown = Shutdown::default();
        let runtime = runtime(folder.path(), player, AccountPolicy::among_friends("Sparring", 8), &shutdown);
        let (parts, routes) = parts(&runtime, &shutdown);
        let context = WebContext {
            event_bus: runtime.event_bus.clone(),
            journal: runtime.journal.clone(),
            pool: runtime.pool.clone(),
            player: in_page,
            control: Some(runtime.control.clone()),
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
        Self { web, runtime, folder, shutdown, client: client(), page_player, context }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{}", self.web.url().expect("an address"), path.trim_start_matches('/'))
    }

    pub fn get(&self, path: &str) -> RequestBuilder {
        self.client.get(self.url(path))
    }

    pub fn post(&self, path: &str, body: &serde_json::Value) -> RequestBuilder {
        self.client.post(self.url(path)).json(body)
    }

    /// Sets the roster of the bot's new councils, with time by the clock.
    pub fn seat(&mut self, roster: &str) {
        let mut player = self.page_player.borrow().clone();
        player.council.roster = roster.to_owned();
        player.limits = LimitSettings::default();
        self.runtime.player = prepared(player);
    }

    /// Connects a bot to a practice server, with a partner there.
    pub async fn bot(&self, partner: SparringKind) -> PracticeServer {
        let server = PracticeServer::start(PracticeSettings::default()).await.expect("a free port");
        let token = server.add_account("Concilio", true).await.expect("a new account");
        server.sparring("Sparring", partner).await.expect("a new account");
        let stop = self.shutdown.now.child_token();
        let connection = lichess_connection(&server.url(), &token, LichessSettings::default(), stop);
        DaemonUnderTest::start(connection, self.runtime.clone(), self.shutdown.clone());
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
pub async fn game(server: &PracticeServer, time_control: &str) -> domain::GameId {
    let time_control = time_control.parse().expect("a time control");
    let terms = GameTerms { variant: Variant::Standard, time_control, rated: true };
    let begun = server.game_between("Sparring", "Concilio", ChallengeTerms::new(terms));
    within("a game", begun).await.expect("a game")
}

pub async fn whole_game(server: &PracticeServer, time_control: &str) -> GameReport {
    let game = game(server, time_control).await;
    within("the end of a game", server.wait_for_end(&game)).await.expect("a game")
}
