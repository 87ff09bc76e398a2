//! A stage for the stories: a practice server with a FICS face, people at telnets, and daemons.

use std::time::Duration;

use bot::{
    journal::{Archive, Filter, GameRecord},
    policy::{NameLists, challenge::Names},
    session::{AccountPolicy, Control, EventBus, LimitSettings, PlayerSettings, ShutdownGames},
};
use council::{CouncilSettings, CriterionName};
use domain::{Color, GameId, GameTerms, TimeControl, Variant};
use platform::fics::{FicsSettings, Timeseal};
use practice::{ChallengeTerms, GameReport, PracticeServer, SparringKind};
use stage::{DaemonUnderTest, fics_connection};
use tempfile::TempDir;
use util::Shutdown;

pub(super) use crate::lichess::harness::was_played_out;
pub(super) use stage::fics::{connect, game_of, login, newcomer, server};
pub(super) use testkit::{
    seen,
    telnet::{PASSWORD, Telnet},
    within,
};

/// The account that the daemon plays, where there is one.
pub(super) const BOT: &str = "Concilio";
/// Sparring partner.
pub(super) const PARTNER: &str = "Partner";

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
    account: DaemonUnderTest,
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
        let council = CouncilSettings {
            roster: "mp ma".to_owned(),
            criterion: CriterionName::ReSearch,
            hash: 1,
            ..CouncilSettings::default()
        };
        let limits = LimitSettings { nodes: Some(1000), ..LimitSettings::default() };
        let played = PlayerSettings { council, limits, ponder: 0, takebacks: 1, ..PlayerSettings::default() };
        // Friends are played on any terms.
        let friends: Vec<String> =
            ["Ann".to_owned(), PARTNER.to_owned()].into_iter().chain((0..20).map(partner_of)).collect();
        let lists = NameLists { friends: Names::parse(&friends.join("\n")), ..NameLists::default() };
        let policy = AccountPolicy { lists, games_at_shutdown: ShutdownGames::Resign, ..AccountPolicy::default() };
        let shutdown = Shutdown::default();
        let runtime = stage::runtime(folder.path(), played, policy, &shutdown);
        let (control, events) = (runtime.control.clone(), runtime.event_bus.clone());
        let account = DaemonUnderTest::start(fics_connection(settings, PASSWORD), runtime, shutdown);
        within("the daemon to be online", server.wait_until_online(name)).await.expect("a server");
        Self { name: name.to_owned(), control, events, folder, account }
    }

    /// Returns the daemon's name for its newest game: this server has no names for games.
    pub(super) async fn its_game(&self) -> GameId {
        let journal = self.folder.path().join("journal.db");
        let newest = || Archive::open(&journal).ok()?.games(&Filter::default()).ok()?.pop().map(|record| record.game);
        seen("a game in the journal", newest).await
    }

    /// Finishes its games and ends; its journal and games are in the folder.
    pub(super) async fn closes(self) -> TempDir {
        self.account.closes().await;
        self.folder
    }

    pub(super) async fn stops_at_once(self) -> TempDir {
        self.account.stops_at_once().await;
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
