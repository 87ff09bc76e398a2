//! A stage for the stories: a practice server, a partner who challenges, and the daemon, put together as `concilio run` does.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bot::{
    journal::{Archive, GameKey, MoveRecord},
    policy::{ChallengeSettings, NameLists, challenge::Names},
    session::{AccountPolicy, LimitSettings, PlayerSettings, Runtime},
};
use council::{CouncilSettings, CriterionName, clock::ClockSettings, electors::Pool};
use domain::{Color, GameId, GameInfo, GameTerms, TimeControl, UciMove, Variant};
use platform::lichess::LichessSettings;
use practice::{
    AccountId, ChallengeTerms, End, GameRefusal, GameReport, GameView, PracticeServer, Sparring, SparringKind,
};
use stage::{DaemonUnderTest, lichess_connection};
use tempfile::TempDir;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use util::Shutdown;

/// The account that the daemon plays.
pub(crate) const BOT: &str = "Concilio";
/// Sparring partner.
pub(crate) const PARTNER: &str = "Partner";
/// The daemon's name for the server.
pub(crate) const SERVER: &str = "practice";

pub(crate) use testkit::{seen, within};

pub(crate) struct Plan {
    pub practice: practice::PracticeSettings,
    pub lichess: LichessSettings,
    pub council: CouncilSettings,
    pub clock: ClockSettings,
    pub pool: Pool,
    /// Bounds on every search, so that games are short in time.
    pub limits: LimitSettings,
    pub online: sources::online::OnlineSettings,
    /// Expected replies that are thought about in the partner's time.
    pub ponder: usize,
    pub concurrency: usize,
    /// The task of the first game panics when it begins.
    pub panics_once: bool,
    pub time_control: TimeControl,
    pub variants: Vec<Variant>,
    pub partner: SparringKind,
    pub partner_thinks: Duration,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            practice: practice::PracticeSettings {
                keep_alive: Duration::from_millis(300),
                ..practice::PracticeSettings::default()
            },
            lichess: LichessSettings {
                idle_timeout: Duration::from_secs(2),
                limited_pause: Duration::from_secs(1),
                ..LichessSettings::default()
            },
            council: roster("mp ma"),
            clock: ClockSettings::default(),
            pool: Pool::new(0),
            limits: LimitSettings { nodes: Some(2000), ..LimitSettings::default() },
            online: sources::online::OnlineSettings::default(),
            ponder: 0,
            concurrency: 1,
            panics_once: false,
            time_control: tc("30+0.1"),
            variants: Variant::ALL.into_iter().filter(|variant| variant.is_standard_rules()).collect(),
            partner: SparringKind::Greedy,
            // Long enough for a story to arrange its faults in the middle of a game.
            partner_thinks: Duration::from_millis(40),
        }
    }
}

/// A roster by name or letters, with both phases and small tables.
pub(crate) fn roster(name: &str) -> CouncilSettings {
    CouncilSettings {
        roster: name.to_owned(),
        criterion: CriterionName::ReSearch,
        hash: 1,
        ..CouncilSettings::default()
    }
}

/// Sets up a game that the daemon begins with White, and can win in two moves. Without a mate or a
/// capture it is drawn after a hundred plies; `played` of them count as played.
pub(crate) fn soon_over(terms: &mut ChallengeTerms, played: u32) {
    terms.game.variant = Variant::FromPosition;
    terms.fen = Some(format!("4k3/8/8/8/8/8/R7/1R5K w - - {played} 80"));
    terms.color = Some(Color::Black);
}

/// Seconds and increment.
pub(crate) fn tc(text: &str) -> TimeControl {
    text.parse().expect("a time control")
}

/// A sparring player that takes its `time` for every move, and the first ply at which it makes none.
pub(crate) fn thoughtful(kind: SparringKind, time: Duration) -> (Arc<dyn Sparring>, watch::Sender<usize>) {
    let (sender, stops_at) = watch::channel(usize::MAX);
    (Arc::new(Thoughtful { player: kind.player(), time, stops_at }), sender)
}

struct Thoughtful {
    player: Arc<dyn Sparring>,
    time: Duration,
    stops_at: watch::Receiver<usize>,
}

#[async_trait]
impl Sparring for Thoughtful {
    async fn choose(&self, game: &GameView) -> Option<UciMove> {
        tokio::time::sleep(self.time).await;
        let mut stops_at = self.stops_at.clone();
        stops_at.wait_for(|ply| game.line.ply() < *ply).await.ok()?;
        self.player.choose(game).await
    }

    fn accepts_draw(&self, game: &GameView) -> bool {
        self.player.accepts_draw(game)
    }
}

/// A practice server with a partner on it, and the daemon if it runs.
pub(crate) struct Story {
    pub server: PracticeServer,
    pub plan: Plan,
    pub token: String,
    pub folder: TempDir,
    daemon: Option<DaemonUnderTest>,
    partner_stops_at: watch::Sender<usize>,
}

impl Story {
    /// A server and a partner, without the daemon.
    pub(crate) async fn set_the_stage(change: impl FnOnce(&mut Plan)) -> Self {
        // RUST_LOG=concilio=debug shows the steps of a story.
        testkit::show_log();
        let mut plan = Plan::default();
        change(&mut plan);
        let server = PracticeServer::start(plan.practice.clone()).await.expect("a free port");
        let token = server.add_account(BOT, true).await.expect("a new account");
        let (partner, partner_stops_at) = thoughtful(plan.partner.clone(), plan.partner_thinks);
        server.sparring_with(PARTNER, partner).await.expect("a new account");
        let folder = tempfile::tempdir().expect("a folder");
        Self { server, plan, token, folder, daemon: None, partner_stops_at }
    }

    /// Begins with the daemon online.
    pub(crate) async fn begin(change: impl FnOnce(&mut Plan)) -> Self {
        let mut story = Self::set_the_stage(change).await;
        story.daemon_starts();
        within("the daemon to be online", story.server.wait_until_online(BOT)).await.expect("a server");
        story
    }

    pub(crate) fn daemon_starts(&mut self) {
        let plan = &self.plan;
        let settings = PlayerSettings {
            council: plan.council.clone(),
            clock: plan.clock.clone(),
            limits: plan.limits.clone(),
            online: plan.online.clone(),
            ponder: plan.ponder,
            ..PlayerSettings::default()
        };
        let challenge = ChallengeSettings {
            concurrency: plan.concurrency,
            correspondence_games: 200,
            max_games_per_opponent: 100,
            max_waiting: 1000,
            ..ChallengeSettings::default()
        };
        // A friend is played on any terms.
        let lists = NameLists { friends: Names::parse(PARTNER), ..NameLists::default() };
        let policy = AccountPolicy { challenge, lists, variants: plan.variants.clone(), ..AccountPolicy::default() };
        let shutdown = Shutdown::default();
        let runtime = stage::runtime(self.folder.path(), settings, policy, &shutdown);
        let (player, panics) = (runtime.player, AtomicBool::new(plan.panics_once));
        let player = Arc::new(move |game: &GameInfo| {
            assert!(!panics.swap(false, Ordering::SeqCst), "a defect of ours, on purpose");
            player(game)
        });
        let runtime = Runtime { pool: plan.pool.clone(), player, ..runtime };
        let stop = CancellationToken::new();
        let connection = lichess_connection(&self.server.url(), &self.token, plan.lichess.clone(), stop);
        self.daemon = Some(DaemonUnderTest::start(connection, runtime, shutdown));
    }

    /// The partner challenges the daemon; the game will have the name that is returned.
    pub(crate) async fn challenge(&self) -> GameId {
        self.challenge_with(|_| ()).await
    }

    pub(crate) async fn challenge_with(&self, change: impl FnOnce(&mut ChallengeTerms)) -> GameId {
        let game = GameTerms { variant: Variant::Standard, time_control: self.plan.time_control, rated: false };
        let mut terms = ChallengeTerms::new(game);
        change(&mut terms);
        GameId::from(&self.server.challenge(PARTNER, BOT, terms).await.expect("a challenge"))
    }

    /// The partner makes no move from this ply of each game on, until the next call: no game ends
    /// while a story arranges something.
    pub(crate) fn partner_stops_at(&self, ply: usize) {
        self.partner_stops_at.send_replace(ply);
    }

    /// The partner gives a game up, unless it is over already.
    pub(crate) async fn partner_resigns(&self, game: &GameId) {
        let id = game.clone();
        let _ = self.server.ask(move |state| state.resign(&id, &AccountId::of(PARTNER))).await.expect("a server");
        within(&format!("the end of {game}"), self.server.wait_for_end(game)).await.expect("a report");
    }

    /// Begins a game over the daemon's head.
    pub(crate) async fn game_begins(&self) -> GameId {
        let game = self.challenge().await;
        let id = game.as_str().into();
        let accepted = self.server.ask(move |state| state.accept(&id, &AccountId::of(BOT))).await.expect("a server");
        accepted.expect("a game")
    }

    pub(crate) async fn ply(&self, game: &GameId, ply: usize) -> GameReport {
        within(&format!("ply {ply} of {game}"), self.server.wait_for_ply(game, ply)).await.expect("a report")
    }

    /// Waits for the end of a game, and looks whether it was played to its end.
    pub(crate) async fn played(&self, game: &GameId) -> GameReport {
        let report = within(&format!("the end of {game}"), self.server.wait_for_end(game)).await.expect("a report");
        was_played_out(&report);
        report
    }

    /// Asserts that no place was lost: another game, a short one, is played; and the daemon ends on
    /// request.
    pub(crate) async fn goes_on_and_closes(mut self) -> Self {
        let game = self.challenge_with(|terms| soon_over(terms, 92)).await;
        self.played(&game).await;
        self.closes().await;
        self
    }

    /// The daemon finishes its games and ends; then the record of all its games is complete.
    pub(crate) async fn closes(&mut self) {
        self.daemon.take().expect("a daemon").closes().await;
        for report in self.server.games().await.expect("reports").iter().filter(|report| report.line.ply() >= 2) {
            let written: Vec<_> = self.journal_of(&report.id).iter().map(|record| record.uci).collect();
            assert_eq!(written, report.line.moves(), "{} in the journal", report.id);
        }
    }

    /// Returns the path of the daemon's journal.
    pub(crate) fn journal_path(&self) -> PathBuf {
        self.folder.path().join("journal.db")
    }

    /// The moves of a game that stand in the journal.
    pub(crate) fn journal_of(&self, game: &GameId) -> Vec<MoveRecord> {
        archived(&self.journal_path(), game).1
    }
}

/// A journal, and the moves of a game in it.
pub(crate) fn archived(journal: &Path, game: &GameId) -> (Archive, Vec<MoveRecord>) {
    let archive = Archive::open(journal).expect("a journal");
    let record = archive.game(&GameKey::new(&SERVER.into(), game)).expect("readable").expect("the game");
    let moves = archive.moves(&record).expect("readable");
    (archive, moves)
}

/// Fails unless a game ended on the board: not on time, not by an absent player, and without an
/// illegal move.
#[track_caller]
pub(crate) fn was_played_out(report: &GameReport) {
    let end = report.outcome.as_ref().expect("it is over").end;
    let on_the_board = matches!(
        end,
        End::Checkmate
            | End::Stalemate
            | End::VariantRule
            | End::Repetition
            | End::FiftyMoves
            | End::InsufficientMaterial
            | End::Agreement
    );
    assert!(on_the_board, "{end:?}: {report:#?}");
    let illegal = report.refused.iter().find(|refused| matches!(refused.refusal, GameRefusal::Illegal(_)));
    assert!(illegal.is_none(), "{illegal:?} was sent: {report:#?}");
}

/// Returns the number of moves that the daemon made in a game.
pub(crate) fn our_moves(report: &GameReport) -> u64 {
    let we_began = report.color_of(BOT) == Some(Color::White);
    let plies = report.line.ply() + usize::from(we_began);
    u64::try_from(plies / 2).expect("a small number")
}

/// Returns the number of times that the daemon opened the stream of a game.
pub(crate) fn openings(report: &GameReport) -> u32 {
    *report.streams_opened.get(report.color_of(BOT).expect("a player"))
}
