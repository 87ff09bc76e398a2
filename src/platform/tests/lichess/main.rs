//! The Lichess adapter against a server that misbehaves on demand, over real sockets.

extern crate concilio_platform as platform;

mod scripted;
mod secrecy;

use std::{
    str::FromStr,
    time::{Duration, Instant},
};

use domain::{
    Action, ActionError, ChallengeId, ChallengeRequest, ChatRoom, Color, DeclineReason, Done, GameId, GameInfo,
    GameStatus, GameTerms, KnownGame, Player, ServerEvent, TimeControl, UciMove, Variant,
};
use platform::{
    Server,
    lichess::{self, LichessServer, LichessSettings, Token},
};
use scripted::{Lines, Request, ScriptedServer};
use testkit::{StoppedClock, within};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

const ACCOUNT: &str =
    r#"{"id":"bob","username":"Bob","title":"BOT","perfs":{"blitz":{"games":9,"rating":1500}},"count":{"all":9}}"#;
const OK: &str = r#"{"ok":true}"#;
/// Test request of a token, and the answer for one that lets a bot play.
const TOKEN_TEST: &str = "POST /api/token/test";
const GOOD_TOKEN: &str = r#"{"lip_secret":{"userId":"bob","scopes":"bot:play,challenge:read","expires":null}}"#;
const STREAM: &str = "GET /api/bot/game/stream/game0001";
const MOVE: &str = "POST /api/bot/game/game0001/move/e2e4";
const CHAT: &str = "POST /api/bot/game/game0001/chat";
const EVENTS: &str = "GET /api/stream/event";
const PLAYING: &str = "GET /api/account/playing";
const SECOND: Duration = Duration::from_secs(1);

fn game_start(id: &str) -> String {
    format!(r#"{{"type":"gameStart","game":{{"gameId":"{id}","id":"{id}","color":"white","new field":[]}}}}"#)
}

fn game_finish(id: &str) -> String {
    format!(r#"{{"type":"gameFinish","game":{{"gameId":"{id}","status":{{"id":30,"name":"mate"}},"winner":"white"}}}}"#)
}

fn state(moves: &str, status: &str) -> String {
    format!(
        r#"{{"type":"gameState","moves":"{moves}","wtime":60000,"btime":60000,"winc":1000,"binc":1000,"status":"{status}"}}"#
    )
}

fn full(id: &str, moves: &str, status: &str) -> String {
    format!(
        r#"{{"type":"gameFull","id":"{id}","variant":{{"key":"standard"}},"clock":{{"initial":60000,"increment":1000}},"rated":true,"white":{{"id":"bob","name":"Bob"}},"black":{{"id":"ann","name":"Ann"}},"initialFen":"startpos","state":{}}}"#,
        state(moves, status)
    )
}

/// A bot and the server it believes to be Lichess.
struct Story {
    server: ScriptedServer,
    bot: LichessServer,
    events: mpsc::Receiver<ServerEvent>,
    cancel: CancellationToken,
}

impl Story {
    fn settings(server: &ScriptedServer) -> LichessSettings {
        LichessSettings { url: server.url.parse().expect("an address"), ..LichessSettings::default() }
    }

    /// Begins before the first request is answered.
    async fn begin(change: impl FnOnce(&mut LichessSettings)) -> Self {
        let server = ScriptedServer::start().await;
        let mut settings = Self::settings(&server);
        change(&mut settings);
        let cancel = CancellationToken::new();
        let token = Token::parse("lip_secret", "the test").expect("a token");
        let (bot, events) = lichess::connect(settings, token, cancel.clone()).expect("a client");
        Self { server, bot, events, cancel }
    }

    /// Connected, with the event stream open.
    async fn connected(change: impl FnOnce(&mut LichessSettings)) -> (Self, Lines) {
        let mut story = Self::begin(change).await;
        story.tells_who_we_are().await;
        let events = story.server.expect(EVENTS).await.stream().await;
        let ServerEvent::Connected(account) = story.event().await else { panic!("not connected") };
        assert!(account.is_bot && account.player.id == "bob");
        (story, events)
    }

    async fn ends(&mut self) {
        assert!(within("the end", self.events.recv()).await.is_none());
    }

    /// The game's stream ends in good order, and that is told.
    async fn game_stream_ends(&mut self, game: Lines) {
        game.end().await;
        assert_eq!(self.fault().await, "the server closed the stream");
    }

    async fn connects(&mut self) -> Lines {
        let events = self.server.expect(EVENTS).await.stream().await;
        assert!(matches!(self.event().await, ServerEvent::Connected(_)));
        events
    }

    async fn disconnects(&mut self, events: Lines) {
        events.end().await;
        assert!(matches!(self.event().await, ServerEvent::Disconnected { .. }));
    }

    async fn game_starts(&mut self, events: &mut Lines, id: &str) {
        events.line(&game_start(id)).await;
        assert!(matches!(self.event().await, ServerEvent::GameStarted(started) if started.as_str() == id));
    }

    /// The list of games that are played tells of the one game, and so do we.
    async fn game_is_listed(&mut self) {
        self.server.expect(PLAYING).await.ok(r#"{"nowPlaying":[{"gameId":"game0001"}]}"#).await;
        assert!(matches!(self.event().await, ServerEvent::GameStarted(_)));
    }

    /// The server knows the token and the account.
    async fn tells_who_we_are(&mut self) {
        self.server.expect(TOKEN_TEST).await.ok(GOOD_TOKEN).await;
        self.server.expect("GET /api/account").await.ok(ACCOUNT).await;
    }

    /// The next question who we are. Which games we play may be asked in between: none.
    async fn asks_who_we_are(&mut self) -> Request {
        loop {
            let request = self.server.expect("GET /api/account").await;
            if request.line == "GET /api/account" {
                return request;
            }
            request.ok(r#"{"nowPlaying":[]}"#).await;
        }
    }

    async fn in_game(change: impl FnOnce(&mut LichessSettings)) -> (Self, Lines, Lines) {
        let (mut story, mut events) = Self::connected(change).await;
        story.game_starts(&mut events, "game0001").await;
        let game = story.open_game("").await;
        (story, events, game)
    }

    /// Answers the next opening of the game's stream with this line.
    async fn opened(&mut self, line: &str) -> Lines {
        let mut game = self.server.expect(STREAM).await.stream().await;
        game.line(line).await;
        game
    }

    /// Answers the next opening of the game's stream, and the game is told.
    async fn open_game(&mut self, moves: &str) -> Lines {
        let game = self.opened(&full("game0001", moves, "started")).await;
        let event = self.event().await;
        let ServerEvent::Game(info, state) = &event else { panic!("not the game: {event:?}") };
        assert_eq!((info.id.as_str(), state.moves.as_str()), ("game0001", moves));
        game
    }

    async fn event(&mut self) -> ServerEvent {
        within("an event", self.events.recv()).await.expect("the adapter lives")
    }

    async fn fault(&mut self) -> String {
        let event = self.event().await;
        let ServerEvent::Fault { what, .. } = &event else { panic!("no fault: {event:?}") };
        what.clone()
    }

    /// The next fault of a game's stream, whatever else happens: where silence is short, the event stream falls silent too.
    async fn fault_in_game(&mut self) -> String {
        loop {
            if let ServerEvent::Fault { game: Some(_), what } = self.event().await {
                return what;
            }
        }
    }

    /// The moves of the next whole state, whatever else happens.
    async fn whole_state(&mut self) -> String {
        loop {
            if let ServerEvent::Game(_, state) = self.event().await {
                return state.moves;
            }
        }
    }

    async fn rejection(&mut self) -> String {
        let event = self.event().await;
        let ServerEvent::Rejected { reason } = &event else { panic!("not rejected: {event:?}") };
        reason.clone()
    }

    async fn moves(&mut self) -> String {
        let event = self.event().await;
        let ServerEvent::GameState(_, state) = &event else { panic!("no state: {event:?}") };
        state.moves.clone()
    }

    /// Starts an action; the request it makes can then be expected.
    fn act(&self, action: Action) -> tokio::task::JoinHandle<Result<Done, ActionError>> {
        let bot = self.bot.clone();
        tokio::spawn(async move { bot.perform(action).await })
    }

    /// Returns the result of an action whose request begins with `start` and gets this answer.
    async fn answered(
        &mut self,
        action: Action,
        start: &str,
        answer: impl AsyncFnOnce(Request),
    ) -> Result<Done, ActionError> {
        let done = self.act(action);
        answer(self.server.expect(start).await).await;
        within("the end of the action", done).await.expect("no panic")
    }

    async fn takes(&mut self, action: Action, start: &str) {
        let done = self.answered(action, start, async |request| request.ok(OK).await).await;
        assert_eq!(done, Ok(Done::Taken), "{start}");
    }

    /// Returns the error of an action whose request gets this answer.
    async fn refused(&mut self, action: Action, start: &str, status: u16, body: &str) -> ActionError {
        let done = self.answered(action, start, async |request| request.answer(status, "", body).await);
        done.await.expect_err("refused")
    }
}

fn play(uci: &str) -> Action {
    Action::Move { game: GameId::from("game0001"), uci: UciMove::from_str(uci).expect("a move"), offer_draw: false }
}

fn say(text: &str) -> Action {
    Action::Chat(GameId::from("game0001"), ChatRoom::Player, text.to_owned())
}

fn bullet() -> GameTerms {
    let time_control = TimeControl::real_time(Duration::from_secs(60), Duration::from_secs(1));
    GameTerms { variant: Variant::Standard, time_control, rated: true }
}

fn challenge_ann() -> Action {
    Action::Challenge(ChallengeRequest {
        opponent: "ann".to_owned(),
        terms: bullet(),
        our_color: None,
        initial_fen: None,
    })
}

#[tokio::test]
async fn game_is_followed_to_its_end() {
    let (mut story, mut events) = Story::connected(|_| {}).await;
    events
        .line(r#"{"type":"challenge","challenge":{"id":"game0001","challenger":{"id":"ann","name":"Ann"},"destUser":{"id":"bob","name":"Bob"},"variant":{"key":"standard"},"rated":true,"timeControl":{"type":"clock","limit":60,"increment":1},"color":"random"}}"#)
        .await;
    let ServerEvent::Challenge(challenge) = story.event().await else { panic!("no challenge") };
    assert_eq!(challenge.terms.time_control.to_string(), "60+1");
    story.takes(Action::Accept(challenge.id), "POST /api/challenge/game0001/accept").await;

    story.game_starts(&mut events, "game0001").await;
    let mut game = story.open_game("").await;
    let offer = Action::Move { game: GameId::from("game0001"), uci: "e2e4".parse().expect("a move"), offer_draw: true };
    story.takes(offer, "POST /api/bot/game/game0001/move/e2e4?offeringDraw=true").await;
    game.line(&state("e2e4", "started")).await;
    assert_eq!(story.moves().await, "e2e4");
    game.line(r#"{"type":"chatLine","username":"ann","text":"good luck","room":"player"}"#).await;
    assert!(matches!(story.event().await, ServerEvent::Chat(_, line) if line.text == "good luck"));
    game.line(r#"{"type":"opponentGone","gone":true,"claimWinInSeconds":8}"#).await;
    assert!(matches!(story.event().await, ServerEvent::OpponentGone { gone: true, .. }));
    game.line(&state("e2e4", "resign")).await;
    assert!(matches!(story.event().await, ServerEvent::GameState(_, state) if state.status == GameStatus::Resign));
    game.end().await;
    events.line(&game_finish("game0001")).await;
    assert!(matches!(story.event().await, ServerEvent::GameFinished { .. }));

    story.cancel.cancel();
    story.ends().await;
}

#[tokio::test]
async fn each_action_sends_one_request() {
    let (mut story, _events) = Story::connected(|_| {}).await;
    let game = || GameId::from("game0001");
    let challenge = || ChallengeId::from("chal0001");
    let api = "POST /api/bot/game/game0001/";
    for (action, start, body) in [
        (Action::Cancel(challenge()), "POST /api/challenge/chal0001/cancel".to_owned(), ""),
        (
            Action::Decline(challenge(), DeclineReason::TooFast),
            "POST /api/challenge/chal0001/decline".to_owned(),
            "reason=tooFast",
        ),
        (play("e7e8q"), format!("{api}move/e7e8q"), ""),
        (Action::Abort(game()), format!("{api}abort"), ""),
        (Action::Resign(game()), format!("{api}resign"), ""),
        (Action::Draw(game(), true), format!("{api}draw/yes"), ""),
        (Action::Draw(game(), false), format!("{api}draw/no"), ""),
        (Action::Takeback(game(), true), format!("{api}takeback/yes"), ""),
        (Action::Takeback(game(), false), format!("{api}takeback/no"), ""),
        (Action::ClaimVictory(game()), format!("{api}claim-victory"), ""),
        (Action::ClaimDraw(game()), format!("{api}claim-draw"), ""),
        (say("gl & hf"), format!("{api}chat"), "room=player&text=gl+%26+hf"),
    ] {
        let done = story
            .answered(action, &start, async |request| {
                assert_eq!((request.line.as_str(), request.body.as_str()), (start.as_str(), body));
                assert_eq!(request.header("authorization"), "Bearer lip_secret");
                assert_eq!(request.header("user-agent"), concat!("concilio/", env!("CARGO_PKG_VERSION"), " user:bob"));
                request.ok(OK).await;
            })
            .await;
        assert_eq!(done, Ok(Done::Taken), "{start}");
    }
    let challenged = story
        .answered(challenge_ann(), "POST /api/challenge/ann", async |request| {
            assert_eq!(request.body, "rated=true&variant=standard&color=random&clock.limit=60&clock.increment=1");
            request.ok(r#"{"id":"chal0002","status":"created"}"#).await;
        })
        .await;
    assert_eq!(challenged, Ok(Done::Challenged(ChallengeId::from("chal0002"))));
}

#[tokio::test]
async fn fragmented_stream_reads_alike() {
    let (mut story, mut events) = Story::connected(|_| {}).await;
    story.game_starts(&mut events, "game0001").await;
    let mut game = story.server.expect(STREAM).await.stream().await;
    let text = format!(
        "\n{}\r\n\r\n\n{}\n",
        full("game0001", "e2e4", "started").replace("Ann", "Änn"),
        state("e2e4 e7e5", "started")
    );
    for byte in text.as_bytes() {
        game.bytes(&[*byte]).await;
    }
    assert!(matches!(story.event().await, ServerEvent::Game(info, _) if info.opponent().name == "Änn"));
    assert_eq!(story.moves().await, "e2e4 e7e5");
}

#[tokio::test]
async fn a_bad_line_costs_only_itself() {
    let (mut story, mut events, mut game) = Story::in_game(|_| {}).await;
    game.line("{\"type\":\"gameState\",").await;
    assert!(story.fault().await.contains("cannot read"));
    game.line(r#"{"error":"Please slow down"}"#).await;
    assert_eq!(story.fault().await, "the server says: Please slow down");
    game.line(&"x".repeat(300_000)).await;
    assert!(story.fault().await.contains("dropped"));
    game.line(r#"{"type":"somethingNew","moves":7}"#).await;
    game.line(&state("e2e4", "started")).await;
    assert_eq!(story.moves().await, "e2e4");
    events.line(r#"{"type":"challenge","challenge":{"variant":{"key":"standard"}}}"#).await;
    assert!(story.fault().await.contains("cannot read challenge"));
    story.game_starts(&mut events, "game0002").await;
}

#[tokio::test]
async fn game_survives_a_clean_end() {
    let (mut story, _events, game) = Story::in_game(|_| {}).await;
    story.game_stream_ends(game).await;
    story.open_game("e2e4 e7e5").await;
}

#[tokio::test]
async fn disordered_stream_is_reopened() {
    let (mut story, _events, game) = Story::in_game(|_| {}).await;
    story.game_stream_ends(game).await;
    let mut game = story.server.expect(STREAM).await.stream().await;
    // The whole state is one ply behind by the time it comes, and would look like a takeback.
    game.line(&state("e2e4 e7e5", "started")).await;
    game.line(&full("game0001", "e2e4", "started")).await;
    assert_eq!(story.fault().await, "the stream did not begin with the whole state");
    story.open_game("e2e4 e7e5").await;
}

#[tokio::test]
async fn stateless_stream_is_reopened() {
    let (mut story, _events, game) = Story::in_game(|settings| settings.idle_timeout = Duration::from_secs(1)).await;
    game.end().await;
    assert_eq!(story.fault_in_game().await, "the server closed the stream");
    let mut game = story.server.expect(STREAM).await.stream().await;
    let alive = async {
        let mut tick = tokio::time::interval(Duration::from_millis(100));
        loop {
            tick.tick().await;
            game.line("").await;
        }
    };
    tokio::select! {
        fault = story.fault_in_game() => assert_eq!(fault, "the whole state did not come"),
        () = alive => unreachable!("it goes on for ever"),
    }
    story.server.expect(STREAM).await.stream().await;
}

#[tokio::test]
async fn game_survives_a_reset_connection() {
    let (mut story, _events, mut game) = Story::in_game(|_| {}).await;
    game.bytes(b"{\"type\":\"gameSta").await;
    game.reset();
    assert!(story.fault().await.contains("the stream broke"));
    let game = story.open_game("e2e4 e7e5").await;
    game.reset();
    story.fault().await;
    story.open_game("e2e4 e7e5 g1f3").await;
}

#[tokio::test]
async fn game_survives_half_open_connection() {
    let (mut story, _events, _silent) = Story::in_game(|settings| settings.idle_timeout = Duration::from_secs(1)).await;
    let what = story.fault_in_game().await;
    assert!(what.contains("silent"), "{what}");
    story.server.expect(STREAM).await.stream().await;
}

#[tokio::test]
async fn game_survives_server_errors() {
    let (mut story, _events, game) = Story::in_game(|_| {}).await;
    story.game_stream_ends(game).await;
    for (status, body) in
        [(502, "<html>Bad Gateway</html>"), (429, r#"{"error":"Too many requests"}"#), (401, ""), (404, "")]
    {
        story.server.expect(STREAM).await.answer(status, "", body).await;
        if status == 401 {
            // A token that is still good is no reason to end.
            story.server.expect("GET /api/account").await.ok(ACCOUNT).await;
        }
        if status == 404 {
            let playing = story.server.expect(PLAYING).await;
            playing.ok(r#"{"nowPlaying":[{"gameId":"game0001"}]}"#).await;
        }
        story.fault().await;
    }
    story.open_game("e2e4 e7e5").await;
}

#[tokio::test]
async fn the_whole_state_can_be_asked_for() {
    let (mut story, _events, game) = Story::in_game(|_| {}).await;
    story.bot.resync(&GameId::from("game0001")).await;
    game.closed().await;
    let _game = story.open_game("e2e4 e7e5").await;
    story.bot.resync(&GameId::from("game0002")).await;
    story.server.expect("GET /api/bot/game/stream/game0002").await;
}

/// A single answer of a proxy is not the server's last word.
#[tokio::test]
async fn game_survives_an_early_refusal() {
    let (mut story, mut events) = Story::connected(|_| {}).await;
    story.game_starts(&mut events, "game0001").await;
    for (status, body) in [(302, ""), (400, ""), (409, ""), (404, "<html>Not Found</html>")] {
        story.server.expect(STREAM).await.answer(status, "", body).await;
        story.fault().await;
    }
    // A page that comes as a stream is none.
    let page = "<html>Please log in</html>";
    story.server.expect(STREAM).await.answer(200, "Content-Type: text/html; charset=utf-8\r\n", page).await;
    assert!(story.fault().await.contains("a page came instead"));
    story.open_game("e2e4").await;
}

#[tokio::test]
async fn unknown_game_is_gone() {
    let (mut story, _events, game) = Story::in_game(|_| {}).await;
    story.game_stream_ends(game).await;
    story.server.expect(STREAM).await.answer(404, "", r#"{"error":"No such game"}"#).await;
    story.server.expect(PLAYING).await.ok(r#"{"nowPlaying":[{"gameId":"other001"}]}"#).await;
    assert!(matches!(story.event().await, ServerEvent::GameGone(id) if id.as_str() == "game0001"));
}

#[tokio::test]
async fn finished_game_is_read_again() {
    let (mut story, mut events, game) = Story::in_game(|_| {}).await;
    story.game_stream_ends(game).await;
    let stream = story.server.expect(STREAM).await;
    events.line(&game_finish("game0001")).await;
    assert!(matches!(story.event().await, ServerEvent::GameFinished { .. }));
    stream.answer(502, "", "").await;
    story.fault().await;
    let last = story.opened(&full("game0001", "e2e4 e7e5", "mate")).await;
    assert!(matches!(story.event().await, ServerEvent::Game(_, state) if state.status == GameStatus::Mate));
    last.closed().await;
}

/// The game as an earlier process left it.
fn known_game() -> KnownGame {
    let info = GameInfo::from_start("game0001", bullet(), Player::named("Bob"), Player::named("Ann"));
    KnownGame { info, shown: Vec::new(), decided: None, started: None, is_adjourned: false }
}

/// Promise 1: a server that will not say for a minute who we are, after a restart of ours, costs a running game nothing.
#[tokio::test]
async fn running_game_precedes_the_account() {
    let mut story = Story::begin(|_| {}).await;
    story.bot.remember(&[known_game()]).await;
    story.server.expect(TOKEN_TEST).await.answer(429, "", "").await;
    assert!(matches!(story.event().await, ServerEvent::Disconnected { .. }));
    story.game_is_listed().await;
    let _game = story.opened(&full("game0001", "", "started")).await;
    let event = story.event().await;
    let ServerEvent::Game(info, _) = &event else { panic!("not the game: {event:?}") };
    assert_eq!(info.our_color, Color::White);
}

#[tokio::test]
async fn fifty_games_open_one_stream_each() {
    let (mut story, mut events) = Story::connected(|_| {}).await;
    let ids: Vec<String> = (0..50).map(|number| format!("game{number:04}")).collect();
    let burst: String = ids.iter().chain(&ids).map(|id| game_start(id) + "\n").collect();
    events.bytes(burst.as_bytes()).await;
    let mut games = Vec::new();
    for id in &ids {
        let mut game = story.server.expect(&format!("GET /api/bot/game/stream/{id}")).await.stream().await;
        game.line(&full(id, "", "started")).await;
        games.push(game);
    }
    let (mut started, mut told) = (0, 0);
    while started < 100 || told < 50 {
        match story.event().await {
            ServerEvent::GameStarted(_) => started += 1,
            ServerEvent::Game(..) => told += 1,
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(story.server.count("GET /api/bot/game/stream"), 0, "no stream is opened twice");
}

#[tokio::test]
async fn event_stream_reopens_during_games() {
    let (mut story, events, mut game) = Story::in_game(|_| {}).await;
    events.end().await;
    assert!(matches!(story.event().await, ServerEvent::Disconnected { reason } if reason.contains("closed")));
    game.line(&state("e2e4", "started")).await;
    assert_eq!(story.moves().await, "e2e4");
    story.server.expect(EVENTS).await.answer(502, "", "<html>").await;
    assert!(story.fault().await.contains("502"));
    let mut events = story.connects().await;
    story.game_starts(&mut events, "game0001").await;
    events.reset();
    assert!(matches!(story.event().await, ServerEvent::Disconnected { .. }));
    assert_eq!(story.server.count("GET /api/bot/game/stream"), 0, "the game's stream is open already");
}

/// The end of a game is not told where it comes while the event stream is away; so the games that it told of before count no more.
#[tokio::test]
async fn newest_event_stream_lists_games() {
    let (mut story, events, _game) = Story::in_game(|_| {}).await;
    story.disconnects(events).await;
    story.server.expect(EVENTS).await.stream().await.end().await;
    assert!(matches!(story.event().await, ServerEvent::Connected(_)));
    assert!(matches!(story.event().await, ServerEvent::Disconnected { .. }));
    let mut found = None;
    // A question may be given up for the stream, and asked again.
    for _ in 0..5 {
        tokio::select! {
            event = story.events.recv() => {
                found = event;
                break;
            }
            asked = story.server.expect(PLAYING) => {
                asked.ok(r#"{"nowPlaying":[{"gameId":"game0001"}]}"#).await;
            }
        }
    }
    assert!(matches!(&found, Some(ServerEvent::GameStarted(id)) if id.as_str() == "game0001"), "{found:?}");
}

#[tokio::test]
async fn a_silent_event_stream_is_noticed() {
    let (mut story, _silent) = Story::connected(|settings| settings.idle_timeout = Duration::from_secs(1)).await;
    assert!(matches!(story.event().await, ServerEvent::Disconnected { reason } if reason.contains("silent")));
    story.connects().await;
}

#[tokio::test]
async fn game_begins_without_event_stream() {
    let (mut story, events) = Story::connected(|_| {}).await;
    story.disconnects(events).await;
    let poll = r#"{"error":"Please don't poll this endpoint, it is intended to be streamed."}"#;
    story.server.expect(EVENTS).await.answer(429, "", poll).await;
    assert!(story.fault().await.contains("don't poll"));
    story.game_is_listed().await;
    story.open_game("").await;
}

#[tokio::test]
async fn game_begins_before_event_stream() {
    let (mut story, events) = Story::connected(|settings| settings.idle_timeout = Duration::from_secs(60)).await;
    story.disconnects(events).await;
    let unanswered = story.server.expect(EVENTS).await;
    story.game_is_listed().await;
    let _game = story.open_game("").await;
    let _events = unanswered.stream().await;
    assert!(matches!(story.event().await, ServerEvent::Connected(_)));
}

#[tokio::test]
async fn game_begins_despite_slow_records() {
    for is_limited in [false, true] {
        let (mut story, events) = Story::connected(|_| {}).await;
        let bot = story.bot.clone();
        let record = tokio::spawn(async move { bot.finished_game(&GameId::from("game0000"), None).await });
        let mut unanswered = Some(story.server.expect("GET /game/export/game0000").await);
        if let Some(request) = unanswered.take_if(|_| is_limited) {
            request.answer(429, "", "").await;
            assert!(matches!(record.await.expect("no panic"), Err(ActionError::Limited { .. })));
        }
        story.disconnects(events).await;
        story.server.expect(EVENTS).await.answer(429, "", "").await;
        story.fault().await;
        story.game_is_listed().await;
    }
}

#[tokio::test]
async fn wrong_token_is_final() {
    let mut story = Story::begin(|_| {}).await;
    story.server.expect(TOKEN_TEST).await.ok(r#"{"lip_secret":null}"#).await;
    assert!(story.rejection().await.contains("does not know this token"));
    story.ends().await;
}

/// Promise 8: no move is made on a human's account.
#[tokio::test]
async fn a_humans_account_is_left_alone() {
    let mut story = Story::begin(|_| {}).await;
    story.server.expect(TOKEN_TEST).await.ok(GOOD_TOKEN).await;
    let human = r#"{"id":"bob","username":"Bob","count":{"all":7}}"#;
    story.server.expect("GET /api/account").await.ok(human).await;
    let reason = story.rejection().await;
    assert!(reason.contains("no bot account, and it has played 7 games"), "{reason}");
    story.ends().await;
    assert_eq!(story.server.count(""), 0, "nothing else was asked");
}

#[tokio::test]
async fn token_scopes_are_checked_first() {
    let mut story = Story::begin(|_| {}).await;
    story.server.expect(TOKEN_TEST).await.ok(&GOOD_TOKEN.replace("bot:play,", "")).await;
    story.server.expect("GET /api/account").await.ok(ACCOUNT).await;
    let reason = story.rejection().await;
    assert!(reason.contains("bot:play is missing; make a new token with it"), "{reason}");
}

/// A server in trouble refuses as well, and a daemon that starts then has games to go on with.
#[tokio::test]
async fn single_refusals_at_start_are_retried() {
    let refused = r#"{"error":"No such token"}"#;
    let mut story = Story::begin(|_| {}).await;
    story.server.expect(TOKEN_TEST).await.answer(401, "", refused).await;
    story.server.expect(TOKEN_TEST).await.ok(GOOD_TOKEN).await;
    story.asks_who_we_are().await.answer(403, "", refused).await;
    story.asks_who_we_are().await.ok(ACCOUNT).await;
    story.server.expect(EVENTS).await.answer(401, "", refused).await;
    // Whether the token still holds is asked besides.
    story.asks_who_we_are().await.ok(ACCOUNT).await;
    story.connects().await;
}

#[tokio::test]
async fn lasting_refusals_at_start_are_believed() {
    let mut story = Story::begin(|_| {}).await;
    for _ in 0..4 {
        story.server.expect(TOKEN_TEST).await.answer(401, "", r#"{"error":"No such token"}"#).await;
    }
    assert!(story.rejection().await.contains("No such token"));
    story.ends().await;

    let mut story = Story::begin(|_| {}).await;
    story.tells_who_we_are().await;
    for _ in 0..4 {
        story.server.expect(EVENTS).await.answer(403, "", r#"{"error":"Missing scope"}"#).await;
    }
    assert!(story.rejection().await.contains("Missing scope"));
    story.ends().await;
}

#[tokio::test]
async fn server_without_token_test_is_fine() {
    for words in ["", "<!doctype html><title>404 Not Found</title>"] {
        let mut story = Story::begin(|_| {}).await;
        story.server.expect(TOKEN_TEST).await.answer(404, "", words).await;
        story.server.expect("GET /api/account").await.ok(ACCOUNT).await;
        story.connects().await;
    }
}

/// The seconds that pass until the client makes the next request that begins with `start`.
async fn passes_until(clock: &StoppedClock, server: &mut ScriptedServer, start: &str) -> (u64, Request) {
    let mut waited = 0;
    while server.count(start) == 0 {
        clock.pass(1, SECOND).await;
        waited += 1;
        assert!(waited < 120, "it asks no more");
    }
    (waited, server.expect(start).await)
}

async fn passes_until_refused(clock: &StoppedClock, server: &mut ScriptedServer) -> u64 {
    let (waited, request) = passes_until(clock, server, "GET /api/account").await;
    request.answer(401, "", r#"{"error":"No such token"}"#).await;
    waited
}

#[tokio::test]
async fn token_fails_after_a_minute() {
    let (mut story, _events) = Story::connected(|settings| settings.idle_timeout = Duration::from_secs(3600)).await;
    let clock = StoppedClock::stop();
    assert!(matches!(story.refused(say("hello"), CHAT, 401, "").await, ActionError::Unauthorised(_)));
    let (mut waited, mut asked) = (0, 0);
    while waited < 60 {
        assert!(story.events.try_recv().is_err(), "given up after {waited} s");
        waited += passes_until_refused(&clock, &mut story.server).await;
        asked += 1;
    }
    assert!(asked >= 5, "{asked} tries in {waited} s");
    assert!(story.rejection().await.contains("no longer taken"));
    story.ends().await;
}

/// A game that is given up is lost, so it is played on for as long as the server may be in trouble.
#[tokio::test]
async fn games_survive_minutes_of_refusals() {
    let patience = |settings: &mut LichessSettings| settings.idle_timeout = Duration::from_secs(3600);
    let (mut story, _events, _game) = Story::in_game(patience).await;
    let clock = StoppedClock::stop();
    assert!(matches!(story.refused(play("e2e4"), MOVE, 401, "").await, ActionError::Unauthorised(_)));
    let mut waited = 0;
    while waited < 14 * 60 {
        waited += passes_until_refused(&clock, &mut story.server).await;
        assert!(story.events.try_recv().is_err(), "given up after {waited} s");
    }
    story.takes(play("e2e4"), MOVE).await;
    passes_until(&clock, &mut story.server, "GET /api/account").await.1.ok(ACCOUNT).await;
    clock.pass(300, SECOND).await;
    assert!(story.events.try_recv().is_err(), "the server has thought better of it");
}

#[tokio::test]
async fn restart_in_a_game_is_patient() {
    let mut story = Story::begin(|_| {}).await;
    story.bot.remember(&[known_game()]).await;
    let clock = StoppedClock::stop();
    for _ in 0..6 {
        let (_, request) = passes_until(&clock, &mut story.server, TOKEN_TEST).await;
        request.answer(401, "", r#"{"error":"No such token"}"#).await;
    }
    assert!(story.events.try_recv().is_err());
}

#[tokio::test]
async fn opening_lives_while_bytes_come() {
    let patience = Duration::from_secs(1);
    let (mut story, mut events) = Story::connected(|settings| settings.idle_timeout = patience).await;
    events.line(&game_start("game0001")).await;
    let mut game = story.server.expect(STREAM).await.stream().await;
    // It takes three times as long as the patience with a stream that says nothing.
    let line = full("game0001", "e2e4", "started") + "\n";
    let pause = 3 * patience / u32::try_from(line.len()).expect("a short line");
    for byte in line.as_bytes() {
        game.bytes(&[*byte]).await;
        tokio::time::sleep(pause).await;
    }
    assert_eq!(story.whole_state().await, "e2e4");
    assert_eq!(story.server.count(STREAM), 0, "it was opened once");
}

#[tokio::test]
async fn resync_keeps_a_live_opening() {
    let (mut story, _events, game) = Story::in_game(|_| {}).await;
    let id = GameId::from("game0001");
    story.bot.resync(&id).await;
    game.closed().await;
    let mut game = story.server.expect(STREAM).await.stream().await;
    for _ in 0..3 {
        story.bot.resync(&id).await;
        game.line("").await;
    }
    game.line(&full("game0001", "e2e4", "started")).await;
    assert_eq!(story.whole_state().await, "e2e4");
    game.line(&state("e2e4 e7e5", "started")).await;
    assert_eq!(story.moves().await, "e2e4 e7e5");
    assert_eq!(story.server.count(STREAM), 0, "no stream was reopened");
}

#[tokio::test]
async fn game_by_unknown_rules_is_given_up() {
    let (mut story, mut events) = Story::connected(|_| {}).await;
    events.line(r#"{"type":"challenge","challenge":{"id":"chal0001","variant":{"key":"fogOfWar"}}}"#).await;
    assert!(matches!(story.event().await, ServerEvent::Challenge(challenge) if challenge.obstacle.is_some()));
    story.game_starts(&mut events, "game0001").await;
    let mut game = story.opened(&full("game0001", "", "started").replace("standard", "fogOfWar")).await;
    let ServerEvent::GameUnplayable { id, reason } = story.event().await else { panic!("not told") };
    assert!(id.as_str() == "game0001" && reason.contains("fogOfWar"), "{reason}");
    game.line(&state("e2e4", "aborted")).await;
    events.line(&game_finish("game0001")).await;
    assert!(matches!(story.event().await, ServerEvent::GameFinished { .. }));
    assert_eq!(story.server.count(STREAM), 0, "it was opened once");

    // The end of another one is shown by its own stream alone.
    story.game_starts(&mut events, "game0002").await;
    let mut game = story.server.expect("GET /api/bot/game/stream/game0002").await.stream().await;
    game.line(&full("game0002", "", "started").replace("standard", "fogOfWar")).await;
    assert!(matches!(story.event().await, ServerEvent::GameUnplayable { .. }));
    game.line(&state("", "aborted")).await;
    game.end().await;
    assert!(matches!(story.event().await, ServerEvent::GameGone(id) if id.as_str() == "game0002"));
}

/// A game with a minute on the clock may wait for half of it, and would be lost by waiting for an hour.
#[tokio::test]
async fn stream_obeys_retry_after_if_possible() {
    let (mut story, _events, game) = Story::in_game(|_| {}).await;
    story.game_stream_ends(game).await;
    let an_hour = r#"{"error":"Come back in an hour"}"#;
    story.server.expect(STREAM).await.answer(429, "Retry-After: 3600\r\n", an_hour).await;
    assert!(story.fault().await.contains("in an hour"));
    let (refused, a_moment) = (Instant::now(), r#"{"error":"Come back in a moment"}"#);
    story.server.expect(STREAM).await.answer(429, "Retry-After: 3\r\n", a_moment).await;
    assert!(story.fault().await.contains("in a moment"));
    story.open_game("e2e4").await;
    assert!(refused.elapsed() >= Duration::from_secs(3), "{:?}", refused.elapsed());
}

#[tokio::test]
async fn start_waits_for_the_server() {
    let mut story = Story::begin(|_| {}).await;
    for question in [TOKEN_TEST, "GET /api/account"] {
        story.server.expect(question).await.answer(503, "", "<html>").await;
    }
    assert!(matches!(story.event().await, ServerEvent::Disconnected { .. }));
    story.tells_who_we_are().await;
    story.connects().await;
}

#[tokio::test]
async fn errors_name_the_remedy() {
    let (mut story, _events) = Story::connected(|_| {}).await;
    let unavailable = |text: &str| ActionError::Unavailable(text.to_owned());
    let limited = |seconds: u64, key: Option<&str>, opponent: bool, detail: &str| ActionError::Limited {
        retry_after: Some(Duration::from_secs(seconds)),
        key: key.map(str::to_owned),
        opponent,
        detail: detail.to_owned(),
    };
    let daily = Some("bot.vsBot.day");
    for (status, headers, body, expected) in [
        (
            400,
            "",
            r#"{"error":"Not your turn, or game already over"}"#,
            ActionError::Refused("Not your turn, or game already over (400)".to_owned()),
        ),
        (401, "", r#"{"error":"No such token"}"#, ActionError::Unauthorised("No such token (401)".to_owned())),
        (403, "", r#"{"error":"Missing scope"}"#, ActionError::Unauthorised("Missing scope (403)".to_owned())),
        (404, "", r#"{"error":"No such game"}"#, ActionError::NotFound("No such game (404)".to_owned())),
        (302, "Location: https://example.org/\r\n", "", unavailable("302 Found")),
        (408, "", r#"{"error":"Too slow"}"#, unavailable("Too slow (408)")),
        (425, "", "", unavailable("425 Too Early")),
        (400, "", "<html><body>Bad Request</body></html>", unavailable("400 Bad Request")),
        (403, "", "<html><body>Forbidden</body></html>", unavailable("403 Forbidden")),
        (404, "", "\n<html><body>Not Found</body></html>", unavailable("404 Not Found")),
        (200, "", "<html><body>Please log in</body></html>", unavailable("a page came instead of the server's answer")),
        (502, "", "<html><body>Bad Gateway</body></html>", unavailable("502 Bad Gateway")),
        (500, "", "oops\nno", unavailable("oops no (500)")),
        (429, "Retry-After: 7\r\n", "", limited(7, None, false, "429 Too Many Requests")),
        (429, "Retry-After: 18446744073709551615\r\n", "", limited(7 * 86400, None, false, "429 Too Many Requests")),
        (
            429,
            "",
            r#"{"error":"You played 100 games against other bots today","ratelimit":{"key":"bot.vsBot.day","seconds":86398}}"#,
            limited(86398, daily, false, "You played 100 games against other bots today (429)"),
        ),
        (
            400,
            "",
            r#"{"error":"Ann played 100 games","ratelimit":{"key":"bot.vsBot.day","seconds":60}}"#,
            limited(60, daily, true, "Ann played 100 games (400)"),
        ),
    ] {
        let done = story.answered(play("e2e4"), MOVE, async |request| request.answer(status, headers, body).await);
        assert_eq!(done.await, Err(expected), "{status} {body}");
    }
    assert_eq!(story.server.count("POST"), 0, "nothing is repeated or redirected");
}

#[tokio::test]
async fn unanswered_move_is_not_repeated() {
    let (mut story, _events) = Story::connected(|settings| settings.move_timeout = Duration::from_secs(1)).await;
    let silent = story.act(play("e2e4"));
    let _unanswered = story.server.expect(MOVE).await;
    assert_eq!(silent.await.expect("no panic"), Err(ActionError::Unavailable("no answer in time".to_owned())));
    let cut = story.answered(play("e2e4"), MOVE, async |request| drop(request));
    assert!(matches!(cut.await, Err(ActionError::Unavailable(_))));
    assert_eq!(story.server.count("POST"), 0);
}

#[tokio::test]
async fn moves_wait_for_no_request() {
    let (mut story, _events) = Story::connected(|_| {}).await;
    let talk = story.act(say("hello"));
    let unanswered = story.server.expect(CHAT).await;
    let more_talk = story.act(say("how are you?"));
    story.takes(play("e2e4"), MOVE).await;
    assert_eq!(story.server.count(CHAT), 0, "ordinary requests go one at a time");
    unanswered.ok(OK).await;
    story.server.expect(CHAT).await.ok(OK).await;
    assert_eq!(talk.await.expect("no panic"), Ok(Done::Taken));
    assert_eq!(more_talk.await.expect("no panic"), Ok(Done::Taken));
}

/// A challenger waits for the answer, and nothing waits for a list of 600 kB.
#[tokio::test]
async fn challenge_answers_precede_lists() {
    let (mut story, _events) = Story::connected(|_| {}).await;
    let (bot, other) = (story.bot.clone(), story.bot.clone());
    let bots = tokio::spawn(async move { bot.online_bots().await });
    let _unanswered = story.server.expect("GET /api/bot/online").await;
    let tournaments = tokio::spawn(async move { other.team_tournaments("bots").await });
    let one = || ChallengeId::from("chal0001");
    for (action, start) in [
        (Action::Accept(one()), "POST /api/challenge/chal0001/accept"),
        (Action::Decline(one(), DeclineReason::Later), "POST /api/challenge/chal0001/decline"),
        (Action::Cancel(one()), "POST /api/challenge/chal0001/cancel"),
    ] {
        story.takes(action, start).await;
    }
    assert_eq!(story.server.count("GET /api/team"), 0, "lists go one at a time");
    bots.abort();
    tournaments.abort();
}

/// After a 429 on anything the API asks for a full minute; what nothing waits for is not asked for that long.
#[tokio::test]
async fn lists_rest_a_minute_after_limits() {
    let (mut story, _events) = Story::connected(|settings| settings.idle_timeout = Duration::from_secs(3600)).await;
    let clock = StoppedClock::stop();
    let limited = story.refused(play("e2e4"), MOVE, 429, "").await;
    assert!(matches!(limited, ActionError::Limited { .. }));
    for seconds in [0, 30, 29] {
        clock.pass(seconds, SECOND).await;
        assert!(matches!(story.bot.online_bots().await, Err(ActionError::Limited { retry_after: Some(_), .. })));
    }
    assert_eq!(story.server.count("GET /api/bot/online"), 0, "it was not sent");
    clock.pass(1, SECOND).await;
    let answer = async { story.server.expect("GET /api/bot/online").await.ok("").await };
    assert_eq!(tokio::join!(story.bot.online_bots(), answer).0, Ok(Vec::new()));
}

#[tokio::test]
async fn limited_topic_rests_a_minute() {
    let (mut story, _events) = Story::connected(|settings| settings.idle_timeout = Duration::from_secs(3600)).await;
    let clock = StoppedClock::stop();
    let too_many = r#"{"error":"Too many requests. Try again later."}"#;
    story.refused(challenge_ann(), "POST /api/challenge/ann", 429, too_many).await;
    clock.pass(59, SECOND).await;
    assert!(matches!(story.bot.perform(challenge_ann()).await, Err(ActionError::Limited { .. })));
    assert_eq!(story.server.count("POST /api/challenge"), 0, "it was not sent");
    clock.pass(1, SECOND).await;
    let challenged = story.answered(challenge_ann(), "POST /api/challenge/ann", async |request| {
        request.ok(r#"{"id":"chal0001"}"#).await;
    });
    assert_eq!(challenged.await, Ok(Done::Challenged(ChallengeId::from("chal0001"))));
}

#[tokio::test]
async fn limit_closes_only_its_topic() {
    let (mut story, _events) = Story::connected(|_| {}).await;
    let limited = |wait: Result<Done, ActionError>| match wait {
        Err(ActionError::Limited { retry_after: Some(wait), key: None, .. }) => wait,
        other => panic!("{other:?}"),
    };
    let too_many = r#"{"error":"Too many requests. Try again later."}"#;
    let refused = story.refused(challenge_ann(), "POST /api/challenge/ann", 429, too_many).await;
    assert!(matches!(refused, ActionError::Limited { retry_after: None, .. }), "no time was named: {refused:?}");
    assert!(limited(story.bot.perform(challenge_ann()).await) <= Duration::from_secs(60));
    assert_eq!(story.server.count("POST /api/challenge"), 0, "the second one was not sent");
    // Taking a challenge and declining one are counted apart.
    let one = || ChallengeId::from("chal0001");
    let decline = Action::Decline(one(), DeclineReason::Later);
    let declined = story.refused(decline, "POST /api/challenge/chal0001/decline", 429, "").await;
    assert!(matches!(declined, ActionError::Limited { .. }), "{declined:?}");
    story.takes(Action::Accept(one()), "POST /api/challenge/chal0001/accept").await;
    story.takes(say("hello"), CHAT).await;
    for _ in 0..2 {
        let limited = story.refused(play("e2e4"), MOVE, 429, "").await;
        assert!(matches!(limited, ActionError::Limited { retry_after: None, .. }), "a move is the session's to repeat");
    }
}

#[tokio::test]
async fn online_bots_and_their_games_are_read() {
    let (mut story, _events) = Story::connected(|_| {}).await;
    let closed = ACCOUNT.replace("bob", "dan").replace("\"title\"", "\"disabled\":true,\"title\"");
    let marked = closed.replace("disabled", "tosViolation");
    let carl = ACCOUNT.replace("bob", "carl").replace("1500", "1800");
    let lines = format!("{ACCOUNT}\n\nnot json\n{closed}\n{marked}\n{carl}\n");
    let answer = async { story.server.expect("GET /api/bot/online?nb=512").await.ok(&lines).await };
    let bots = tokio::join!(story.bot.online_bots(), answer).0.expect("bots");
    let rated: Vec<_> = bots.iter().map(|bot| (bot.player.id.as_str(), bot.ratings[0].1)).collect();
    assert_eq!(rated, [("bob", 1500), ("carl", 1800)]);

    let ids = ["Ann", "carl", "dan"].map(str::to_owned);
    let status =
        r#"[{"id":"carl","online":true,"playing":true},{"id":"ann","online":true},{"id":"eve","online":true}]"#;
    let answer = async { story.server.expect("GET /api/users/status?ids=Ann%2Ccarl%2Cdan").await.ok(status).await };
    assert_eq!(tokio::join!(story.bot.players_available(&ids), answer).0, Ok(vec![true, false, false]));
}

#[tokio::test]
async fn account_is_checked_and_upgraded() {
    let mut server = ScriptedServer::start().await;
    let settings = Story::settings(&server);
    let token = Token::parse("lip_secret", "the test").expect("a token");
    let answers = async {
        let test = server.expect(TOKEN_TEST).await;
        assert_eq!(test.body, "lip_secret");
        test.ok(GOOD_TOKEN).await;
        server.expect("GET /api/account").await.ok(r#"{"id":"bob","username":"Bob","count":{"all":0}}"#).await;
    };
    let report = tokio::join!(lichess::account_check(&settings, &token), answers).0.expect("a report");
    assert!(report.may_play() && report.can_upgrade() && !report.account.is_bot);
    assert_eq!(report.scopes, Some(vec!["bot:play".to_owned(), "challenge:read".to_owned()]));

    let words = r#"{"error":"You have played games"}"#;
    let answer = async { server.expect("POST /api/bot/account/upgrade").await.answer(400, "", words).await };
    let upgrade = tokio::join!(lichess::upgrade(&settings, &token), answer).0;
    assert_eq!(upgrade, Err(ActionError::Refused("You have played games (400)".to_owned())));
}

/// A whole state of a game of three days a move.
fn correspondence(id: &str, moves: &str) -> String {
    let clock = r#""clock":{"initial":60000,"increment":1000}"#;
    full(id, moves, "started").replace(clock, r#""daysPerTurn":3"#)
}

#[tokio::test]
async fn correspondence_games_hold_no_stream() {
    let (mut story, mut events) = Story::connected(|settings| {
        settings.attention = Duration::from_millis(100);
        settings.check_in = Duration::from_millis(200);
    })
    .await;
    story.game_starts(&mut events, "game0001").await;
    let mut game = story.server.expect(STREAM).await.stream().await;
    // While we are to move the stream stays open.
    game.line(&correspondence("game0001", "")).await;
    assert!(matches!(story.event().await, ServerEvent::Game(info, _) if !info.terms.time_control.is_real_time()));
    game.line(&state("e2e4", "started")).await;
    assert_eq!(story.moves().await, "e2e4");
    game.closed().await;
    let playing = |turn: bool| format!(r#"{{"nowPlaying":[{{"gameId":"game0001","isMyTurn":{turn}}}]}}"#);
    // What the event stream tells again opens nothing: the list does, when the opponent has moved.
    events.line(&game_start("game0001")).await;
    for _ in 0..3 {
        story.server.expect(PLAYING).await.ok(&playing(false)).await;
    }
    assert_eq!(story.server.count(STREAM), 0);
    story.server.expect(PLAYING).await.ok(&playing(true)).await;
    let mut game = story.opened(&correspondence("game0001", "e2e4 e7e5")).await;
    assert_eq!(story.whole_state().await, "e2e4 e7e5");
    game.line(&state("e2e4 e7e5 g1f3", "started")).await;
    game.closed().await;
    // A game that is in the list no more is looked at once: it has ended unseen.
    story.server.expect(PLAYING).await.ok(r#"{"nowPlaying":[]}"#).await;
    let _game = story.opened(&correspondence("game0001", "e2e4 e7e5 g1f3").replace("started", "resign")).await;
    assert_eq!(story.whole_state().await, "e2e4 e7e5 g1f3");
}

#[tokio::test]
async fn whole_states_of_parked_games_are_fetched() {
    let (mut story, mut events) = Story::connected(|settings| settings.attention = Duration::from_millis(100)).await;
    story.game_starts(&mut events, "game0001").await;
    let game = story.opened(&correspondence("game0001", "e2e4")).await;
    story.whole_state().await;
    game.closed().await;
    story.bot.resync(&GameId::from("game0001")).await;
    let _game = story.opened(&correspondence("game0001", "e2e4")).await;
    assert_eq!(story.whole_state().await, "e2e4");
}
