use std::{path::Path, sync::Arc};

use bot::{
    journal::{Journal, JournalSettings},
    session::{
        self, AccountEnd, AccountPolicy, ChoosePlayer, Connection, Control, PlayerSettings, PreparedPlayer, Runtime,
    },
};
use council::electors::Pool;
use platform::{
    fics::{self, FicsSettings, Password},
    lichess::{self, LichessSettings, Token},
};
use testkit::within;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use util::Shutdown;

/// A daemon with one account, put together as `concilio run` does.
pub struct DaemonUnderTest {
    shutdown: Shutdown,
    account: JoinHandle<AccountEnd>,
}

impl DaemonUnderTest {
    pub fn start(connection: Connection, runtime: Runtime, shutdown: Shutdown) -> Self {
        let account = tokio::spawn(session::play(connection, runtime, shutdown.clone()));
        Self { shutdown, account }
    }

    /// Finishes its games and ends.
    pub async fn closes(self) {
        self.shutdown.drain.cancel();
        self.ends().await;
    }

    pub async fn stops_at_once(self) {
        self.shutdown.now.cancel();
        self.ends().await;
    }

    async fn ends(self) {
        let end = within("the daemon to end", self.account).await.expect("no panic");
        assert_eq!(end, AccountEnd::Closed);
    }
}

/// The parts of a daemon that runs until `shutdown`, with a journal in `folder`.
pub fn runtime(folder: &Path, player: PlayerSettings, policy: AccountPolicy, shutdown: &Shutdown) -> Runtime {
    let journal = Journal::open(&JournalSettings::in_folder(folder)).expect("a journal");
    Runtime {
        pool: Pool::new(0),
        policy: Arc::new(policy),
        control: Control::new(shutdown.clone()),
        ..Runtime::new(journal, prepared(player))
    }
}

pub fn prepared(player: PlayerSettings) -> ChoosePlayer {
    let player = Arc::new(PreparedPlayer::new(player).expect("a roster"));
    Arc::new(move |_| Arc::clone(&player))
}

/// A connection to the practice server at `url`.
pub fn lichess_connection(url: &str, token: &str, settings: LichessSettings, stop: CancellationToken) -> Connection {
    let settings = LichessSettings { url: url.parse().expect("an address"), ..settings };
    let token = Token::parse(token, "the practice server").expect("a token");
    let (server, events) = lichess::connect(settings, token, stop.clone()).expect("a client");
    Connection { name: "practice".into(), server: Arc::new(server), events, stop }
}

pub fn fics_connection(settings: FicsSettings, password: &str) -> Connection {
    let stop = CancellationToken::new();
    let (server, events) = fics::connect(settings, Some(Password::new(password)), stop.clone());
    Connection { name: "fics".into(), server: Arc::new(server), events, stop }
}
