//! Tests of an account with a scripted server.

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use tokio_util::sync::CancellationToken;

use super::{memory::memory_key, requests::ask, *};
use crate::{
    journal::{Archive, GameKey, Journal, JournalSettings},
    policy::MatchmakingSettings,
    session::{BotEvent, ChoosePlayer, Control, PlayerSettings, PreparedPlayer, lobby::LobbyMemory},
};
use council::CouncilSettings;
use domain::{
    Account, ActionError, ChallengeId, ChallengeRequest, ChatLine, ChatRoom, Clock, Clocks, Color, DeclineReason, Done,
    GameInfo, GameState, GameStatus, GameTerms, KnownGame, Line, Offers, Player, ServerName, TimeControl, Tournament,
    TournamentEntry, UciMove, Variant,
};

/// Refuses and answers as it is told, and notes what was asked of it.
#[derive(Default)]
pub(in crate::session) struct ScriptedServer {
    asked: Mutex<Vec<Action>>,
    /// True if it keeps the limits of Lichess.
    is_lichess: bool,
    all_are_busy: bool,
    aborts_nothing: bool,
    /// True if it refuses resignations.
    keeps_us: bool,
    finished: Option<(GameInfo, GameState)>,
    /// Games that were looked up, as we knew them.
    looked_up: Mutex<Vec<Option<KnownGame>>>,
    /// Its first answers to look-ups, the last one first.
    lookup_refusals: Mutex<Vec<ActionError>>,
    /// Its first answers to a decline, the last one first.
    decline_refusals: Mutex<Vec<ActionError>>,
    /// Its first answer to a challenge.
    challenge_refusal: Mutex<Option<ActionError>>,
    resyncs: AtomicUsize,
    /// Games that it was told of at the beginning.
    remembered: Mutex<Vec<GameId>>,
    seeks: Mutex<Vec<bool>>,
}

#[async_trait::async_trait]
impl Server for ScriptedServer {
    async fn perform(&self, action: Action) -> Result<Done, ActionError> {
        let refused = || Some(ActionError::Refused("both have moved".to_owned()));
        let refusal = match &action {
            Action::Abort(_) if self.aborts_nothing => refused(),
            Action::Resign(_) if self.keeps_us => refused(),
            Action::Decline(..) => self.decline_refusals.lock().expect("no panic").pop(),
            Action::Challenge(_) => self.challenge_refusal.lock().expect("no panic").take(),
            _ => None,
        };
        let challenged = matches!(action, Action::Challenge(_)).then(|| ChallengeId::new("ours0001"));
        self.asked.lock().expect("no panic").push(action);
        refusal.map_or_else(|| Ok(challenged.map_or(Done::Taken, Done::Challenged)), Err)
    }

    async fn resync(&self, _: &GameId) {
        self.resyncs.fetch_add(1, Ordering::Relaxed);
    }

    fn keeps_lichess_limits(&self) -> bool {
        self.is_lichess
    }

    async fn remember(&self, games: &[KnownGame]) {
        self.remembered.lock().expect("no panic").extend(games.iter().map(|game| game.info.id.clone()));
    }

    async fn seek_games(&self, wanted: bool) {
        self.seeks.lock().expect("no panic").push(wanted);
    }

    async fn online_bots(&self) -> Result<Vec<Account>, ActionError> {
        Ok(Vec::new())
    }

    async fn players_available(&self, ids: &[String]) -> Result<Vec<bool>, ActionError> {
        Ok(vec![!self.all_are_busy; ids.len()])
    }

    async fn finished_game(
        &self,
        game: &GameId,
        known: Option<&KnownGame>,
    ) -> Result<(GameInfo, GameState), ActionError> {
        self.looked_up.lock().expect("no panic").push(known.cloned());
        if let Some(refusal) = self.lookup_refusals.lock().expect("no panic").pop() {
            return Err(refusal);
        }
        let known = self.finished.clone().filter(|(info, _)| info.id == *game);
        known.ok_or_else(|| ActionError::NotFound(game.to_string()))
    }
}

fn terms() -> GameTerms {
    let time_control = TimeControl::real_time(Duration::from_secs(180), Duration::from_secs(2));
    GameTerms { variant: Variant::Standard, time_control, rated: true }
}

fn game(moves: &str, status: GameStatus, winner: Option<Color>) -> (GameInfo, GameState) {
    let info = GameInfo::from_start("abcdefgh", terms(), Player::named("Concilio"), Player::named("Ann"));
    let state = GameState {
        moves: moves.to_owned(),
        clocks: Some(Clocks::both(Clock { remaining: Duration::from_secs(180), increment: Duration::from_secs(2) })),
        status,
        winner,
        draw_offers: Offers::default(),
        takeback_offers: Offers::default(),
        received: Instant::now(),
    };
    (info, state)
}

/// A game of an earlier process, with these moves so far.
fn ran(journal: &Journal, moves: &str) {
    let (info, _) = game("", GameStatus::Started, None);
    journal.game_started(&"made-up".into(), &info);
    let mut line = Line::start(Variant::Standard);
    line.play_all(moves).expect("legal");
    journal.line_seen(&GameKey::new(&"made-up".into(), &info.id), &Arc::new(line), None);
}

fn player() -> ChoosePlayer {
    let council = CouncilSettings { roster: "trivial".to_owned(), hash: 1, ..CouncilSettings::default() };
    let settings = PlayerSettings { council, ponder: 0, ..PlayerSettings::default() };
    let player = Arc::new(PreparedPlayer::new(settings).expect("a roster"));
    Arc::new(move |_: &GameInfo| Arc::clone(&player))
}

pub(in crate::session) fn runtime(journal: Journal, shutdown: &Shutdown) -> Runtime {
    Runtime {
        policy: Arc::new(AccountPolicy::among_friends("Friend", 1)),
        control: Control::new(shutdown.clone()),
        ..Runtime::new(journal, player())
    }
}

struct Story {
    server: Arc<ScriptedServer>,
    journal: Journal,
    events: mpsc::Sender<ServerEvent>,
    shutdown: Shutdown,
    control: Control,
    events_seen: tokio::sync::broadcast::Receiver<Arc<BotEvent>>,
    account: tokio::task::JoinHandle<AccountEnd>,
    folder: tempfile::TempDir,
}

impl Story {
    async fn usual() -> Self {
        Self::begin(ScriptedServer::default(), |_| ()).await
    }

    async fn begin(server: ScriptedServer, before: impl FnOnce(&Journal)) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = JournalSettings::in_folder(folder.path());
        let journal = Journal::open(&settings).expect("a journal");
        before(&journal);
        let shutdown = Shutdown::default();
        let runtime = runtime(journal.clone(), &shutdown);
        let (control, events_seen) = (runtime.control.clone(), runtime.event_bus.listen());
        let server = Arc::new(server);
        let (events, inbox) = mpsc::channel(100);
        let connection = Connection {
            name: ServerName::from("made-up"),
            server: Arc::clone(&server) as _,
            events: inbox,
            stop: CancellationToken::new(),
        };
        let account = tokio::spawn(play(connection, runtime, shutdown.clone()));
        let story = Self { server, journal, events, shutdown, control, events_seen, account, folder };
        let us = Account { player: Player::named("Concilio"), is_bot: true, ratings: Vec::new(), games_played: 1 };
        story.tells(ServerEvent::Connected(us)).await;
        story
    }

    fn asked(&self) -> Vec<Action> {
        self.server.asked.lock().expect("no panic").clone()
    }

    async fn is_asked(&self, is_wanted: impl Fn(&Action) -> bool) {
        happens(|| self.asked().iter().any(&is_wanted).then_some(())).await;
    }

    /// Waits until the server was asked for finished games this number of times.
    async fn looks_up(&self, times: usize) {
        happens(|| (self.server.looked_up.lock().expect("no panic").len() == times).then_some(())).await;
    }

    async fn does(&self, json: &str) -> Result<String, String> {
        let command = serde_json::from_str(json).expect(json);
        self.control.perform(command).await.map_err(|error| error.to_string())
    }

    async fn tells(&self, event: ServerEvent) {
        self.events.send(event).await.expect("the account listens");
    }

    async fn plays(&self, moves: &str) {
        let (info, state) = game(moves, GameStatus::Started, None);
        self.tells(ServerEvent::Game(Box::new(info), state)).await;
    }

    async fn closes(self) {
        self.shutdown.now.cancel();
        assert_eq!(self.ends().await.0, AccountEnd::Closed);
    }

    async fn ends(self) -> (AccountEnd, tempfile::TempDir) {
        drop((self.journal, self.events));
        (self.account.await.expect("no panic"), self.folder)
    }

    /// Waits until the journal says that the game is over; its moves, status and PGN file.
    async fn record(&self) -> (String, GameStatus, Option<Color>) {
        let key = GameKey::new(&"made-up".into(), &GameId::new("abcdefgh"));
        happens(|| {
            let archive = Archive::open(self.journal.path()).ok()?;
            let record = archive.game(&key).ok()??;
            record.pgn_path.as_ref()?;
            let moves: Vec<UciMove> = archive.moves(&record).ok()?.iter().map(|played| played.uci).collect();
            Some((domain::moves_text(&moves), record.status, record.winner))
        })
        .await
    }
}

async fn connected(watcher: &mut tokio::sync::broadcast::Receiver<Arc<BotEvent>>) {
    let is_told = |event: &BotEvent| matches!(event, BotEvent::Account(_, AccountEvent::Connected { .. }));
    while !is_told(&watcher.recv().await.expect("an event")) {}
}

/// Waits until a game is told to be over: which colour we had, if that is known, how it ended, who won, and after how many moves.
async fn told_over(
    watcher: &mut tokio::sync::broadcast::Receiver<Arc<BotEvent>>,
) -> (Option<Color>, GameStatus, Option<Color>, usize) {
    loop {
        let event = watcher.recv().await.expect("an event");
        if let BotEvent::Game(_, GameEvent::Over { info, status, winner, plies, .. }) = &*event {
            return (info.as_ref().map(|info| info.our_color), status.clone(), *winner, *plies);
        }
    }
}

async fn happens<T>(look: impl Fn() -> Option<T>) -> T {
    let began = Instant::now();
    loop {
        if let Some(seen) = look() {
            return seen;
        }
        assert!(began.elapsed() < Duration::from_secs(120), "it does not happen");
        sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn busy_player_is_not_challenged() {
    let request = ChallengeRequest { opponent: "ann".to_owned(), terms: terms(), our_color: None, initial_fen: None };
    let (answers, mut inbox) = mpsc::unbounded_channel();
    let server = ScriptedServer { all_are_busy: true, ..ScriptedServer::default() };
    ask(&server, Action::Challenge(request.clone()), false, &answers, &CancellationToken::new())
        .await
        .expect("the lobby is told");
    assert_eq!(*server.asked.lock().expect("no panic"), []);
    match inbox.recv().await {
        Some(LobbyInput::Challenged(asked, Err(ActionError::Limited { opponent: true, retry_after: Some(_), .. }))) => {
            assert_eq!(asked, request);
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn decline_is_retried() {
    let limited = |seconds| {
        let retry_after = Some(Duration::from_secs(seconds));
        ActionError::Limited { retry_after, key: None, opponent: false, detail: "Too many requests".to_owned() }
    };
    let decline = Action::Decline(ChallengeId::new("chal0001"), DeclineReason::Later);
    let (answers, _inbox) = mpsc::unbounded_channel();
    for (refusals, times, is_heard) in [
        (vec![limited(60), ActionError::Unavailable("no answer in time".to_owned())], 3, true),
        (vec![limited(3600)], 1, false),
        (vec![limited(1); 10], 5, false),
        (vec![ActionError::NotFound("No such challenge".to_owned())], 1, false),
    ] {
        let server = ScriptedServer { decline_refusals: Mutex::new(refusals), ..ScriptedServer::default() };
        assert_eq!(ask(&server, decline.clone(), false, &answers, &CancellationToken::new()).await.is_ok(), is_heard);
        assert_eq!(*server.asked.lock().expect("no panic"), vec![decline.clone(); times]);
    }
}

#[test]
fn limits_follow_the_server() {
    let policy = Arc::new(AccountPolicy { keep_limits: true, ..AccountPolicy::default() });
    let elsewhere = ScriptedServer::default();
    assert!(!policy_with(&elsewhere, &policy).keep_limits);
    let lichess = ScriptedServer { is_lichess: true, ..ScriptedServer::default() };
    assert!(policy_with(&lichess, &policy).keep_limits);
}

/// Promise 8: an account that the server will not have, or not any more, is not played; what was written is safe.
#[tokio::test]
async fn rejected_account_ends_with_a_reason() {
    let story = Story::usual().await;
    story.plays("").await;
    story.tells(ServerEvent::Rejected { reason: "the token was revoked".to_owned() }).await;
    let (end, folder) = story.ends().await;
    assert_eq!(end, AccountEnd::Rejected("the token was revoked".to_owned()));
    let archive = Archive::open(&folder.path().join("journal.db")).expect("a journal");
    assert!(archive.games(&crate::journal::Filter::default()).is_ok());
}

/// A game whose rules we do not know is not left to be lost on time.
#[tokio::test]
async fn unplayable_game_is_aborted_or_resigned() {
    let id = GameId::new("abcdefgh");
    for aborts_nothing in [false, true] {
        let server = ScriptedServer { aborts_nothing, ..ScriptedServer::default() };
        let story = Story::begin(server, |_| ()).await;
        story.tells(ServerEvent::GameStarted(id.clone())).await;
        let reason = "unknown variant \"fogOfWar\"".to_owned();
        story.tells(ServerEvent::GameUnplayable { id: id.clone(), reason }).await;
        let last = if aborts_nothing { Action::Resign(id.clone()) } else { Action::Abort(id.clone()) };
        story.is_asked(|action| *action == last).await;
        story.closes().await;
    }
}

/// A variant that no engine here plays is not left to a player that knows no better.
#[tokio::test]
async fn a_game_without_an_engine_is_left_politely() {
    let story = Story::usual().await;
    let (mut info, state) = game("", GameStatus::Started, None);
    info.terms.variant = Variant::Atomic;
    info.start = Line::start(Variant::Atomic);
    let id = info.id.clone();
    story.tells(ServerEvent::GameStarted(id.clone())).await;
    story.tells(ServerEvent::Game(Box::new(info), state)).await;
    let sorry = "Sorry, none of my engines plays atomic.".to_owned();
    for expected in [Action::Chat(id.clone(), ChatRoom::Player, sorry), Action::Abort(id)] {
        story.is_asked(|action| *action == expected).await;
    }
    story.closes().await;
}

#[tokio::test]
async fn friends_order_challenges_in_chat() {
    let story = Story::usual().await;
    let says = |name: &str, text: &str| ServerEvent::Tell { from: Player::named(name), text: text.to_owned() };
    story.tells(says("Stranger", "!challenge Robot 3+2")).await;
    story.tells(says("Friend", "!challenge Robot 5+3 rated")).await;
    story.is_asked(|action| matches!(action, Action::Challenge(_))).await;
    let mut asked = story.asked();
    asked.retain(|action| matches!(action, Action::Challenge(_)));
    let [Action::Challenge(request)] = asked.as_slice() else { panic!("{asked:?}") };
    assert_eq!((request.opponent.as_str(), request.terms.rated), ("Robot", true));
    assert_eq!(request.terms.time_control.in_minutes(), "5+3");
    story.closes().await;
}

/// Promise 5: a game that ended without us is looked up.
#[tokio::test]
async fn game_ended_while_down_is_completed() {
    let finished = game("e2e4 e7e5 g1f3", GameStatus::OutOfTime, Some(Color::Black));
    let server = ScriptedServer { finished: Some(finished), ..ScriptedServer::default() };
    let story = Story::begin(server, |journal| ran(journal, "")).await;
    assert_eq!(story.record().await, ("e2e4 e7e5 g1f3".to_owned(), GameStatus::OutOfTime, Some(Color::Black)));
}

/// A server without names for games finds one by the known moves; one in trouble is asked again.
#[tokio::test(start_paused = true)]
async fn look_up_is_retried_until_answered() {
    let finished = game("e2e4 e7e5 g1f3", GameStatus::OutOfTime, Some(Color::Black));
    let trouble = [ActionError::NotFound("no such game".to_owned()), ActionError::Unavailable("a cable".to_owned())];
    let server =
        ScriptedServer { finished: Some(finished), lookup_refusals: Mutex::new(trouble.into()), ..Default::default() };
    let story = Story::begin(server, |journal| ran(journal, "e2e4 e7e5")).await;
    assert_eq!(story.record().await.0, "e2e4 e7e5 g1f3");
    assert_eq!(*story.server.remembered.lock().expect("no panic"), [GameId::new("abcdefgh")]);
    let looked_up = story.server.looked_up.lock().expect("no panic").clone();
    assert_eq!(looked_up.len(), 3);
    let known = looked_up[0].as_ref().expect("the journal knows it");
    assert_eq!((known.info.opponent().name.as_str(), domain::moves_text(&known.shown).as_str()), ("Ann", "e2e4 e7e5"));
}

/// A server keeps no game in which not both sides moved: one that it does not know was aborted. Of any other nothing is claimed.
#[tokio::test(start_paused = true)]
async fn vanished_new_game_was_aborted() {
    for (shown, status) in
        [("", GameStatus::Aborted), ("e2e4", GameStatus::Aborted), ("e2e4 e7e5", GameStatus::UnknownFinish)]
    {
        // It ended while we were away, and while its connection was cut.
        for was_seen in [false, true] {
            let story = Story::begin(ScriptedServer::default(), |journal| ran(journal, shown)).await;
            if was_seen {
                story.plays(shown).await;
                story.tells(ServerEvent::GameGone(GameId::new("abcdefgh"))).await;
            }
            assert_eq!(story.record().await, (shown.to_owned(), status.clone(), None), "{shown}");
        }
    }
}

/// Some servers know a game only when it is over: what is played again after a restart has an end of its own.
#[tokio::test(start_paused = true)]
async fn running_game_survives_a_restart() {
    let story = Story::begin(ScriptedServer::default(), |journal| ran(journal, "")).await;
    story.plays("e2e4").await;
    story.looks_up(2).await;
    let (info, state) = game("e2e4", GameStatus::Resign, Some(Color::White));
    story.tells(ServerEvent::Game(Box::new(info), state)).await;
    assert_eq!(story.record().await, ("e2e4".to_owned(), GameStatus::Resign, Some(Color::White)));
}

/// A game that goes on after a restart, and that ends before the server has said what became of it, is told to be over once.
#[tokio::test(start_paused = true)]
async fn resumed_game_ends_once() {
    let (info, over) = game("e2e4", GameStatus::Resign, Some(Color::White));
    let lookup_refusals = Mutex::new(vec![ActionError::Unavailable("a cable".to_owned())]);
    let server = ScriptedServer { finished: Some((info.clone(), over.clone())), lookup_refusals, ..Default::default() };
    let story = Story::begin(server, |journal| journal.game_started(&"made-up".into(), &info)).await;
    let mut watcher = story.events_seen.resubscribe();
    let (_, running) = game("e2e4", GameStatus::Started, None);
    story.tells(ServerEvent::Game(Box::new(info.clone()), running)).await;
    story.tells(ServerEvent::Game(Box::new(info), over)).await;
    told_over(&mut watcher).await;
    story.looks_up(2).await;
    story.closes().await;
    while let Ok(event) = watcher.try_recv() {
        assert!(!matches!(&*event, BotEvent::Game(_, GameEvent::Over { .. })), "it is told twice");
    }
}

/// The stream may end with the game and never show its last moves.
#[tokio::test]
async fn announced_end_is_looked_up() {
    for told in [Some(GameStatus::Mate), None] {
        let finished = game("f2f3 e7e5 g2g4 d8h4", GameStatus::Mate, Some(Color::Black));
        let (id, server) = (finished.0.id.clone(), ScriptedServer { finished: Some(finished), ..Default::default() });
        let story = Story::begin(server, |_| ()).await;
        story.plays("f2f3 e7e5").await;
        let (winner, rating_change) = (Some(Color::Black), None);
        let event = match told {
            Some(_) => ServerEvent::GameFinished { id, status: told, winner, rating_change },
            None => ServerEvent::GameGone(id),
        };
        story.tells(event).await;
        assert_eq!(story.record().await, ("f2f3 e7e5 g2g4 d8h4".to_owned(), GameStatus::Mate, Some(Color::Black)));
    }
}

/// A limit on requests that lasts for a minute costs no game its last moves.
#[tokio::test(start_paused = true)]
async fn look_up_waits_for_the_rate_limit() {
    let limited = ActionError::Limited {
        retry_after: Some(Duration::from_secs(60)),
        key: None,
        opponent: false,
        detail: "not sent: the server's wait has not passed".to_owned(),
    };
    let finished = game("f2f3 e7e5 g2g4 d8h4", GameStatus::Mate, Some(Color::Black));
    let lookup_refusals = Mutex::new(vec![limited; 5]);
    let server = ScriptedServer { finished: Some(finished), lookup_refusals, ..ScriptedServer::default() };
    let story = Story::begin(server, |_| ()).await;
    let mut watcher = story.events_seen.resubscribe();
    story.plays("f2f3 e7e5 g2g4").await;
    story.tells(ServerEvent::GameGone("abcdefgh".into())).await;
    let lost = (Some(Color::White), GameStatus::Mate, Some(Color::Black), 4);
    assert_eq!(told_over(&mut watcher).await, lost);
    assert_eq!(story.server.looked_up.lock().expect("no panic").len(), 6);
}

/// The loser is known even if the server never says more. If nothing is known, the next start asks again.
#[tokio::test(start_paused = true)]
async fn failed_look_up_reports_what_is_known() {
    for told in [true, false] {
        let lookup_refusals = Mutex::new(vec![ActionError::Unavailable("a cable".to_owned()); 20]);
        let story = Story::begin(ScriptedServer { lookup_refusals, ..Default::default() }, |_| ()).await;
        let mut watcher = story.events_seen.resubscribe();
        story.plays("e2e4 e7e5 g1f3").await;
        let mut over = (Some(Color::White), GameStatus::UnknownFinish, None, 3);
        if told {
            let (status, winner) = (Some(GameStatus::OutOfTime), Some(Color::Black));
            story.tells(ServerEvent::GameFinished { id: "abcdefgh".into(), status, winner, rating_change: None }).await;
            over = (Some(Color::White), GameStatus::OutOfTime, winner, 3);
        }
        // Its own stream shows no end.
        story.tells(ServerEvent::GameGone("abcdefgh".into())).await;
        assert_eq!(told_over(&mut watcher).await, over);
        let unfinished = story.journal.unfinished(&"made-up".into()).await.expect("readable");
        assert_eq!(unfinished.len(), usize::from(!told));
    }
}

#[tokio::test]
async fn look_up_does_not_delay_a_stop() {
    let lookup_refusals = Mutex::new(vec![ActionError::Unavailable("a cable".to_owned()); 20]);
    let story = Story::begin(ScriptedServer { lookup_refusals, ..Default::default() }, |_| ()).await;
    story.plays("e2e4 e7e5 g1f3").await;
    story.tells(ServerEvent::GameGone("abcdefgh".into())).await;
    story.looks_up(2).await;
    let journal = story.journal.clone();
    story.shutdown.now.cancel();
    let (end, _folder) = story.ends().await;
    assert_eq!(end, AccountEnd::Closed);
    assert_eq!(journal.unfinished(&"made-up".into()).await.expect("readable").len(), 1);
}

/// Outside the hours of challenges no seek stands, whose answers would all be declined; a reload may change the hours.
#[tokio::test]
async fn seeks_follow_the_challenge_hours() {
    let story = Story::usual().await;
    let mut watcher = story.events_seen.resubscribe();
    connected(&mut watcher).await;
    let hour = Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC).hour();
    let hours = format!("{:02}:00-{:02}:00", (hour + 2) % 24, (hour + 3) % 24);
    let mut resting = AccountPolicy::default();
    resting.challenge.hours = vec![hours.parse().expect("hours")];
    let seeks = || story.server.seeks.lock().expect("no panic").clone();
    for (policy, told) in [(resting, vec![false]), (AccountPolicy::default(), vec![false, true])] {
        story.control.adopt(player(), Arc::new(policy)).await;
        happens(|| (seeks() == told).then_some(())).await;
    }
}

/// The operator hears what comes of an ordered challenge; one that cannot be made yet is made later.
#[tokio::test]
async fn operator_gets_the_servers_answer() {
    let later = ActionError::Limited { retry_after: None, key: None, opponent: true, detail: "too many".to_owned() };
    let order = r#"{"command":"challenge","name":"Ann","time_control":"3+2"}"#;
    for (refusal, expected) in [
        (None, Ok("challenge sent to Ann: 3+2 casual")),
        (Some(later), Ok("cannot challenge Ann now, retrying later")),
        (Some(ActionError::NotFound("No such user: Ann".to_owned())), Err("No such user: Ann")),
    ] {
        let challenge_refusal = Mutex::new(refusal);
        let server = ScriptedServer { all_are_busy: true, challenge_refusal, ..ScriptedServer::default() };
        let story = Story::begin(server, |_| ()).await;
        connected(&mut story.events_seen.resubscribe()).await;
        match (story.does(order).await, expected) {
            (Ok(said), Ok(words)) | (Err(said), Err(words)) => assert!(said.contains(words), "{said}"),
            (said, _) => panic!("{said:?}"),
        }
        assert!(matches!(story.asked()[..], [Action::Challenge(_)]));
    }
}

/// Events of a flooded game are requested again; chat is not.
#[tokio::test]
async fn flooded_game_is_resynchronised() {
    let server = Arc::new(ScriptedServer::default());
    let requests = TaskTracker::new();
    let (inbox, mut read) = mpsc::channel(2);
    let mut handle = GameHandle { inbox, catching_up: None };
    let id = GameId::new("abcdefgh");
    let mut tell = |input| handle.tell(&id, input, &(Arc::clone(&server) as Arc<dyn Server>), &requests);
    let line = ChatLine { username: "Ann".to_owned(), room: domain::ChatRoom::Player, text: "hello".to_owned() };
    let chat = || GameInput::Chat(line.clone(), Vec::new());
    let (_, state) = game("e2e4", GameStatus::Started, None);
    for input in [chat(), chat(), chat(), GameInput::State(state.clone()), GameInput::State(state), chat()] {
        tell(input);
    }
    tokio::task::yield_now().await;
    assert_eq!(server.resyncs.load(Ordering::Relaxed), 0, "there is no room yet");
    assert!(matches!(read.recv().await, Some(GameInput::Chat(..))));
    happens(|| (server.resyncs.load(Ordering::Relaxed) == 1).then_some(())).await;
}

#[test]
fn finished_games_are_bounded() {
    let mut over = VecDeque::new();
    for number in 0..10_000 {
        remember_over(&mut over, GameId::new(format!("{number}")));
        remember_over(&mut over, GameId::new(format!("{number}")));
    }
    assert_eq!(over.len(), MOST_OVER);
    assert!(over.contains(&GameId::new("9999")) && over.contains(&GameId::new("9800")));
}

#[tokio::test]
async fn operator_gets_the_result() {
    let story = Story::usual().await;
    let mut watcher = story.events_seen.resubscribe();
    let does = async |json: &str| story.does(json).await;
    // The account is there as soon as it has told of its connection.
    connected(&mut watcher).await;
    assert_eq!(
        does(r#"{"command":"challenge","name":"Ann","time_control":"3+2","rated":true}"#).await.as_deref(),
        Ok("made-up: challenge sent to Ann: 3+2 rated blitz (challenge ours0001)")
    );
    let unknown = does(r#"{"command":"resign","game":"abcdefgh"}"#).await.expect_err("nothing runs");
    assert!(unknown.contains("abcdefgh"), "{unknown}");
    story.plays("e2e4 e7e5").await;
    while !matches!(&*watcher.recv().await.expect("an event"), BotEvent::Game(_, GameEvent::Started { .. })) {}
    let tournament: Tournament = "swiss/abcd1234".parse().expect("a tournament");
    let entry = TournamentEntry { pair_now: true, ..TournamentEntry::open(tournament.clone()) };
    for (json, action) in [
        (
            r#"{"command":"chat","game":"abcdefgh","text":"hello"}"#,
            Action::Chat("abcdefgh".into(), domain::ChatRoom::Player, "hello".to_owned()),
        ),
        (r#"{"command":"join","tournament":"swiss/abcd1234"}"#, Action::Join(entry)),
        (r#"{"command":"leave"}"#, Action::Leave(tournament)),
        (r#"{"command":"resign","game":"abcdefgh"}"#, Action::Resign("abcdefgh".into())),
    ] {
        // What was joined is known when the answer of the server has come back to the account.
        let mut said = does(json).await;
        while matches!(&said, Err(why) if why.contains("no joined tournament is known")) {
            said = does(json).await;
        }
        assert!(said.is_ok(), "{json}: {said:?}");
        assert!(story.asked().contains(&action), "{json}");
    }
    assert!(does(r#"{"command":"reload"}"#).await.is_err(), "no reload is configured");
    assert!(does(r#"{"command":"drain"}"#).await.is_ok());
    let (id, status) = ("abcdefgh".into(), Some(GameStatus::Aborted));
    story.tells(ServerEvent::GameFinished { id, status, winner: None, rating_change: None }).await;
    assert_eq!(story.ends().await.0, AccountEnd::Closed);
}

/// A draw offer goes with the next move, chat counts for the flood limit, and a resigned game is not played on.
#[tokio::test]
async fn game_obeys_its_operator() {
    let story = Story::usual().await;
    let mut watcher = story.events_seen.resubscribe();
    let does = async |json: &str| story.does(json).await;
    story.plays("e2e4 e7e5 g1f3").await;
    while !matches!(&*watcher.recv().await.expect("an event"), BotEvent::Game(_, GameEvent::Started { .. })) {}

    let draw = r#"{"command":"draw","game":"abcdefgh"}"#;
    assert_eq!(does(draw).await.as_deref(), Ok("made-up: draw offered in game abcdefgh"), "they think");
    assert!(story.asked().contains(&Action::Draw("abcdefgh".into(), true)));
    let says = |text: &str| format!(r#"{{"command":"chat","game":"abcdefgh","text":"{text}"}}"#);
    assert!(does(&says("hello")).await.is_ok());
    let why = does(&says("hello")).await.expect_err("twice the same");
    assert!(why.contains("would drop this"), "{why}");

    let resign = r#"{"command":"resign","game":"abcdefgh"}"#;
    assert_eq!(does(resign).await.as_deref(), Ok("made-up: game abcdefgh was resigned or aborted"));
    let (_, state) = game("e2e4 e7e5 g1f3 b8c6", GameStatus::Started, None);
    story.tells(ServerEvent::GameState("abcdefgh".into(), state)).await;
    let why = does(draw).await.expect_err("it is given up");
    assert!(why.contains("no longer be offered"), "{why}");
    let (_, state) = game("e2e4 e7e5 g1f3 b8c6", GameStatus::Resign, Some(Color::Black));
    story.tells(ServerEvent::GameState("abcdefgh".into(), state)).await;
    while !matches!(&*watcher.recv().await.expect("an event"), BotEvent::Game(_, GameEvent::Over { .. })) {}
    let asked = story.asked();
    assert!(!asked.iter().any(|action| matches!(action, Action::Move { .. })), "{asked:?}");
}

/// A server that does not let us give a game up gets our move after all, and the operator hears of it.
#[tokio::test]
async fn failed_resignation_keeps_the_game() {
    let server = ScriptedServer { aborts_nothing: true, keeps_us: true, ..ScriptedServer::default() };
    let story = Story::begin(server, |_| ()).await;
    let mut watcher = story.events_seen.resubscribe();
    story.plays("e2e4 e7e5 g1f3").await;
    while !matches!(&*watcher.recv().await.expect("an event"), BotEvent::Game(_, GameEvent::Started { .. })) {}
    let why = story.does(r#"{"command":"resign","game":"abcdefgh"}"#).await.expect_err("refused");
    assert!(why.contains("both have moved"), "{why}");
    story.plays("e2e4 e7e5 g1f3 b8c6").await;
    story.is_asked(|action| matches!(action, Action::Move { .. })).await;
}

/// `concilio journal decliners` reads them while no daemon runs.
#[tokio::test]
async fn decliners_are_read_from_the_journal() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = JournalSettings { path: folder.path().join("journal.db"), ..JournalSettings::default() };
    let journal = Journal::open(&settings).expect("a journal");
    let (mut memory, now) = (LobbyMemory::default(), Timestamp::UNIX_EPOCH);
    let id = ChallengeId::new("ours0001");
    memory.matchmaker.made(id.clone(), "Anna", terms(), now);
    memory.matchmaker.declined(&id, DeclineReason::Later, &MatchmakingSettings::default(), now);
    let text = serde_json::to_string(&memory).expect("JSON");
    journal.set_state(&memory_key(&"lichess".into()), text).await.expect("written");
    let archive = Archive::open(&settings.path).expect("the journal again");
    let found = decliners(&archive).expect("readable");
    let [(account, player, until, times)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!((account.as_str(), player.as_str(), *times), ("lichess", "anna", 1));
    assert!(*until > now);
}
