//! A stage for the stories: a practice server with a FICS face, people at telnets, and daemons.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use bot::{
    journal::{Archive, Filter, GameRecord, Journal, JournalSettings},
    policy::{ChallengeSettings, NameLists, challenge::Names},
    session::{
        self, AccountEnd, AccountPolicy, Connection, Control, EventBus, LimitSettings, PlayerSettings, PreparedPlayer,
        Runtime, ShutdownGames,
    },
};
use council::{CouncilSettings, CriterionName, electors::Pool};
use domain::{Color, GameId, GameTerms, TimeControl, Variant};
use platform::fics::{self, FicsSettings, Password, Timeseal};
use practice::{AccountId, ChallengeTerms, FicsEndpoint, GameReport, PracticeServer, SparringKind, faults::FaultPlan};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use util::Shutdown;

// The package's own tests sit at the same telnet.
#[path = "../../../src/practice/tests/fics/telnet.rs"]
mod telnet;

pub(super) use crate::lichess::harness::was_played_out;
pub(super) use telnet::{PASSWORD, Telnet};
pub(super) use testkit::{seen, within};

/// The account that the daemon plays, where there is one.
pub(super) const BOT: &str = "Concilio";
/// Sparring partner.
pub(super) const PARTNER: &str = "Partner";

pub(super) async fn server(faults: &str) -> PracticeServer {
    server_with(faults.parse().expect("a plan of faults"), 0).await
}

pub(super) async fn server_with(faults: FaultPlan, noise: u32) -> PracticeServer {
    testkit::show_log();
    let fics = FicsEndpoint { noise, ..FicsEndpoint::at(SocketAddr::from(([127, 0, 0, 1], 0))) };
    let settings =
        practice::PracticeSettings { faults, fics: Some(fics), seed: Some(1), ..practice::PracticeSettings::default() };
    PracticeServer::start(settings).await.expect("a free port")
}

/// The adapter's settings for an account.
pub(super) fn settings(server: &PracticeServer, name: &str) -> FicsSettings {
    let address = server.fics_address().expect("a FICS face");
    FicsSettings {
        host: address.ip().to_string(),
        port: address.port(),
        fallback_port: 0,
        username: name.to_owned(),
        timeseal: Timeseal::V2,
        ping_after: 1,
        ping_timeout: 1,
        reconnect_max: 1,
        ..FicsSettings::default()
    }
}

/// Minutes and seconds, unrated.
pub(super) fn terms(minutes: u64, increment: u64) -> GameTerms {
    let time_control = TimeControl::real_time(Duration::from_secs(60 * minutes), Duration::from_secs(increment));
    GameTerms { variant: Variant::Standard, time_control, rated: false }
}

pub(super) struct Daemon {
    pub name: String,
    /// Takes commands of an operator.
    pub control: Control,
    pub events: EventBus,
    folder: TempDir,
    shutdown: Shutdown,
    task: JoinHandle<AccountEnd>,
}

impl Daemon {
    /// Opens an account and lets the daemon play it; returns when it takes challenges.
    pub(super) async fn start(server: &PracticeServer, name: &str) -> Self {
        Self::start_with(server, name, settings(server, name)).await
    }

    /// Starts a daemon with other settings of the adapter.
    pub(super) async fn start_with(server: &PracticeServer, name: &str, settings: FicsSettings) -> Self {
        server.add_fics_account(name, true, PASSWORD).await.expect("a new account");
        let folder = tempfile::tempdir().expect("a folder");
        let journal = JournalSettings::in_folder(folder.path());
        let council = CouncilSettings {
            roster: "mp ma".to_owned(),
            criterion: CriterionName::ReSearch,
            hash: 1,
            ..CouncilSettings::default()
        };
        let limits = LimitSettings { nodes: Some(1000), ..LimitSettings::default() };
        let played = PlayerSettings { council, limits, ponder: 0, takebacks: 1, ..PlayerSettings::default() };
        let player = Arc::new(PreparedPlayer::new(played).expect("a roster"));
        // Friends are played on any terms.
        let friends: Vec<String> =
            ["Ann".to_owned(), PARTNER.to_owned()].into_iter().chain((0..20).map(partner_of)).collect();
        let lists = NameLists { friends: Names::parse(&friends.join("\n")), ..NameLists::default() };
        let shutdown = Shutdown::default();
        let control = Control::new(shutdown.clone());
        let events = EventBus::new();
        let runtime = Runtime {
            journal: Journal::open(&journal).expect("a journal"),
            pool: Pool::new(0),
            event_bus: events.clone(),
            player: Arc::new(move |_| Arc::clone(&player)),
            policy: Arc::new(AccountPolicy {
                challenge: ChallengeSettings::default(),
                lists,
                games_at_shutdown: ShutdownGames::Resign,
                ..AccountPolicy::default()
            }),
            control: control.clone(),
            background: session::BackgroundTurns::default(),
        };
        let stop = CancellationToken::new();
        let (fics, told) = fics::connect(settings, Some(Password::new(PASSWORD)), stop.clone());
        let connection = Connection { name: "fics".into(), server: Arc::new(fics), events: told, stop };
        let task = tokio::spawn(session::play(connection, runtime, shutdown.clone()));
        within("the daemon to be online", server.wait_until_online(name)).await.expect("a server");
        Self { name: name.to_owned(), control, events, folder, shutdown, task }
    }

    /// Returns the daemon's name for its newest game: this server has no names for games.
    pub(super) async fn its_game(&self) -> GameId {
        let journal = self.folder.path().join("journal.db");
        let newest = || Archive::open(&journal).ok()?.games(&Filter::default()).ok()?.pop().map(|record| record.game);
        seen("a game in the journal", newest).await
    }

    /// Finishes its games and ends; its journal and games are in the folder.
    pub(super) async fn closes(self) -> TempDir {
        self.shutdown.drain.cancel();
        self.ends().await
    }

    pub(super) async fn stops_at_once(self) -> TempDir {
        self.shutdown.now.cancel();
        self.ends().await
    }

    async fn ends(self) -> TempDir {
        let end = within("the daemon to end", self.task).await.expect("no panic");
        assert_eq!(end, AccountEnd::Closed);
        self.folder
    }
}

/// The journal of a daemon that has ended, and its games.
pub(super) fn games_in(folder: &TempDir) -> (Archive, Vec<GameRecord>) {
    let archive = Archive::open(&folder.path().join("journal.db")).expect("a journal");
    let games = archive.games(&Filter::default()).expect("readable");
    (archive, games)
}

/// A name for one of several partners: names have letters only.
pub(super) fn partner_of(number: u8) -> String {
    format!("{PARTNER}{}", char::from(b'A' + number))
}

/// Lets one challenge the other to a game of a minute and a second a move.
pub(super) async fn game_between(server: &PracticeServer, from: &str, to: &str, color: Option<Color>) -> GameId {
    let terms = ChallengeTerms { color, ..ChallengeTerms::new(terms(1, 1)) };
    within("a game", server.game_between(from, to, terms)).await.expect("a game")
}

pub(super) async fn ended(server: &PracticeServer, game: &GameId) -> GameReport {
    within(&format!("the end of {game}"), server.wait_for_end(game)).await.expect("a report")
}

pub(super) async fn partner(server: &PracticeServer, name: &str, kind: SparringKind) {
    server.sparring(name, kind).await.expect("a new account");
}

pub(super) async fn game_of(server: &PracticeServer, name: &str) -> GameId {
    let id = AccountId::of(name);
    let game = server.wait(move |state| state.games_of(&id).first().map(|view| view.pairing.id.clone()));
    within("a game", game).await.expect("a server")
}
