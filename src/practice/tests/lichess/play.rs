//! Whole games, and what players can do in them.

use domain::{Color, GameTerms, Variant};
use practice::{ChallengeTerms, End, SparringKind};
use reqwest::StatusCode;

use crate::client::{Client, Lines, StreamEnd, server};

pub(crate) struct Pair {
    pub white: Client,
    pub black: Client,
    pub id: String,
}

impl Pair {
    /// Opens two accounts and starts a game between them.
    pub(crate) async fn start(server: &practice::PracticeServer, form: &[(&str, &str)]) -> Self {
        let (white, black) = (Client::bot(server, "White").await, Client::bot(server, "Black").await);
        let id = start_game(&white, &black, "black", form).await;
        Self { white, black, id }
    }

    /// Opens both streams and reads their first lines.
    pub(crate) async fn boards(&self) -> (Lines, Lines) {
        let (mut white, mut black) = (self.white.board(&self.id).await, self.black.board(&self.id).await);
        white.next_of("gameFull").await;
        black.next_of("gameFull").await;
        (white, black)
    }

    pub(crate) async fn play_all(&self, moves: &str) {
        for (ply, uci) in moves.split(' ').enumerate() {
            let mover = if ply % 2 == 0 { &self.white } else { &self.black };
            mover.play(&self.id, uci).await.ok();
        }
    }
}

pub(crate) async fn pair() -> (practice::PracticeServer, Pair) {
    let server = server().await;
    let pair = Pair::start(&server, &BULLET).await;
    (server, pair)
}

pub(crate) async fn start_game(white: &Client, black: &Client, black_name: &str, form: &[(&str, &str)]) -> String {
    let mut fields = vec![("color", "white")];
    fields.extend(form);
    let challenge = white.post_form(&format!("/api/challenge/{black_name}"), &fields).await.ok().json();
    let id = challenge["id"].as_str().expect("an id").to_owned();
    black.post(&format!("/api/challenge/{id}/accept")).await.ok();
    id
}

pub(crate) const BULLET: [(&str, &str); 2] = [("clock.limit", "60"), ("clock.increment", "1")];

pub(crate) fn terms(time_control: &str) -> ChallengeTerms {
    let time_control = time_control.parse().expect("a time control");
    ChallengeTerms::new(GameTerms { variant: Variant::Standard, time_control, rated: true })
}

#[testkit::test]
async fn two_bots_play_scholars_mate() {
    let server = server().await;
    let (white, black) = (Client::bot(&server, "White").await, Client::bot(&server, "Black").await);
    let mut black_events = black.events().await;
    let id = start_game(&white, &black, "BLACK", &[("clock.limit", "60"), ("rated", "true")]).await;
    assert_eq!(black_events.next_of("challenge").await["challenge"]["id"], *id);
    assert_eq!(black_events.next_of("gameStart").await["game"]["gameId"], *id);

    let pair = Pair { white, black, id };
    let (mut white_board, mut black_board) = pair.boards().await;
    let moves = "e2e4 e7e5 d1h5 b8c6 f1c4 g8f6 h5f7";
    pair.play_all(moves).await;
    for board in [&mut white_board, &mut black_board] {
        for ply in 1..=7 {
            let played = moves.split(' ').take(ply).collect::<Vec<_>>().join(" ");
            assert_eq!(board.next_of("gameState").await["moves"], played);
        }
        assert_eq!(board.end().await, StreamEnd::Clean(String::new()));
    }
    let finish = black_events.next_of("gameFinish").await;
    assert_eq!((&finish["game"]["winner"], &finish["game"]["status"]["name"]), (&"white".into(), &"mate".into()));
    let lost = finish["game"]["ratingDiff"].as_i64().expect("a rated game");
    assert!(lost < 0 && finish["game"]["opponent"]["ratingDiff"] == -lost, "{finish}");
    let report = server.wait_for_end(&pair.id.as_str().into()).await.expect("a report");
    assert_eq!((report.winner(), report.loser()), (Some("White"), Some("Black")));
    assert_eq!(report.end(), Some(End::Checkmate));
    assert_eq!(pair.white.get("/api/account").await.ok().json()["perfs"]["bullet"]["rating"], 1500 - lost);

    let late = pair.black.play(&pair.id, "e8f7").await;
    assert_eq!((late.status, late.error().as_str()), (StatusCode::BAD_REQUEST, "Not your turn, or game already over"));
    let pgn = pair.white.get(&format!("/game/export/{}", pair.id)).await.ok().text;
    assert!(pgn.contains("4. Qxf7# { [%clk 0:01:00] }") || pgn.contains("4. Qxf7# { [%clk 0:00:59] }"), "{pgn}");
}

#[testkit::test]
async fn sparring_plays_many_games_at_once() {
    let server = server().await;
    server.sparring("lots", SparringKind::Random).await.expect("a player");
    server.sparring("greed", SparringKind::Greedy).await.expect("a player");
    for _ in 0..20 {
        server.challenge("lots", "greed", terms("60+0")).await.expect("a challenge");
    }
    let reports = server.wait_for_games(20).await.expect("reports");
    assert!(reports.iter().all(|report| report.outcome.is_some() && report.refused.is_empty()), "{reports:#?}");
}

#[testkit::test]
async fn illegal_moves_get_lichess_errors() {
    let (server, pair) = pair().await;
    let stranger = Client::bot(&server, "Stranger").await;
    for (who, game, uci, status, words) in [
        (&pair.white, pair.id.as_str(), "nonsense", StatusCode::BAD_REQUEST, "Invalid UCI: nonsense"),
        (&pair.white, &pair.id, "e2e5", StatusCode::BAD_REQUEST, "Illegal move: move \"e2e5\" (ply 0) is not legal"),
        (&pair.black, &pair.id, "e7e5", StatusCode::BAD_REQUEST, "Not your turn, or game already over"),
        (&stranger, &pair.id, "e2e4", StatusCode::NOT_FOUND, "Not your game"),
        (&pair.white, "nowhere0", "e2e4", StatusCode::NOT_FOUND, "No such game"),
    ] {
        let reply = who.play(game, uci).await;
        assert!(reply.status == status && reply.error().starts_with(words), "{uci}: {reply:?}");
    }
    let report = server.game(&pair.id.as_str().into()).await.expect("a report");
    assert_eq!(report.refused.len(), 2, "what was sent and not taken is remembered");
}

#[testkit::test]
async fn offer_precedes_its_move() {
    let (_server, pair) = pair().await;
    let (_white_board, mut black_board) = pair.boards().await;
    pair.play_all("e2e4 e7e5").await;
    pair.white.post(&format!("/api/bot/game/{}/move/g1f3?offeringDraw=true", pair.id)).await.ok();
    let mut told = Vec::new();
    for _ in 0..4 {
        let state = black_board.next_of("gameState").await;
        told.push((state["moves"].as_str().unwrap_or_default().split(' ').count(), state["wdraw"] == true));
    }
    assert_eq!(told, [(1, false), (2, false), (2, true), (3, true)]);
    // The answering offer ends the game before its move lands, and is no error.
    pair.black.post(&format!("/api/bot/game/{}/move/b8c6?offeringDraw=true", pair.id)).await.ok();
    let last = black_board.next_of("gameState").await;
    assert_eq!((&last["status"], &last["moves"]), (&"draw".into(), &"e2e4 e7e5 g1f3".into()));
}

#[testkit::test]
async fn takeback_is_requested_and_granted() {
    let (_server, pair) = pair().await;
    let (_white_board, mut black_board) = pair.boards().await;
    pair.play_all("e2e4 e7e5 g1f3").await;
    pair.white.post(&format!("/api/bot/game/{}/takeback/yes", pair.id)).await.ok();
    while black_board.next_of("gameState").await["wtakeback"] != true {}
    pair.black.post(&format!("/api/bot/game/{}/takeback/yes", pair.id)).await.ok();
    let state = black_board.next_of("gameState").await;
    assert_eq!((&state["moves"], &state["wtakeback"]), (&"e2e4 e7e5".into(), &serde_json::Value::Null));
}

#[testkit::test]
async fn early_end_aborts_late_end_resigns() {
    let (server, pair) = pair().await;
    pair.play_all("e2e4 e7e5").await;
    let abort = pair.white.post(&format!("/api/bot/game/{}/abort", pair.id)).await;
    assert_eq!((abort.status, abort.error().as_str()), (StatusCode::BAD_REQUEST, "This game can no longer be aborted"));
    pair.white.post(&format!("/api/bot/game/{}/resign", pair.id)).await.ok();
    let again = pair.white.post(&format!("/api/bot/game/{}/resign", pair.id)).await;
    assert_eq!(again.error(), "This game cannot be resigned");
    let report = server.wait_for_end(&pair.id.as_str().into()).await.expect("a report");
    assert_eq!((report.end(), report.streams_opened.white), (Some(End::Resignation), 0));

    let other = start_game(&pair.black, &pair.white, "white", &BULLET).await;
    pair.white.post(&format!("/api/bot/game/{other}/abort")).await.ok();
    let report = server.wait_for_end(&other.as_str().into()).await.expect("a report");
    assert_eq!(report.end(), Some(End::Aborted));
}

#[testkit::test]
async fn a_flag_falls_by_itself() {
    let server = server().await;
    let pair = Pair::start(&server, &[("clock.limit", "0.05"), ("clock.increment", "0")]).await;
    let (mut board, _black_board) = pair.boards().await;
    pair.play_all("e2e4 e7e5").await;
    let report = server.wait_for_end(&pair.id.as_str().into()).await.expect("a report");
    let outcome = report.outcome.expect("an end");
    assert_eq!((outcome.end, outcome.winner), (End::OutOfTime, Some(Color::Black)));
    let last = loop {
        let state = board.next_of("gameState").await;
        if state["status"] != "started" {
            break state;
        }
    };
    assert_eq!((&last["status"], &last["winner"], &last["wtime"]), (&"outoftime".into(), &"black".into(), &0.into()));
}

#[testkit::test]
async fn chess960_castles_king_to_rook() {
    let server = server().await;
    let fen = "bqnrkrnb/pppppppp/8/8/8/8/PPPPPPPP/BQNRKRNB w KQkq - 0 1";
    let pair = Pair::start(&server, &[("variant", "chess960"), ("fen", fen), ("clock.limit", "60")]).await;
    let mut board = pair.white.board(&pair.id).await;
    let full = board.next_of("gameFull").await;
    assert_eq!((&full["variant"]["key"], &full["initialFen"]), (&"chess960".into(), &fen.into()));
    pair.play_all("g1f3 g8f6 e1f1").await;
    for _ in 0..2 {
        board.next_of("gameState").await;
    }
    assert_eq!(board.next_of("gameState").await["moves"], "g1f3 g8f6 e1f1");
}

#[testkit::test]
async fn chat_is_delivered_except_floods() {
    let (server, pair) = pair().await;
    let (_white_board, mut black_board) = pair.boards().await;
    let path = format!("/api/bot/game/{}/chat", pair.id);
    let say = |room: &'static str, text: String| {
        let (white, path) = (pair.white.clone(), path.clone());
        async move { white.post_form(&path, &[("room", room), ("text", &text)]).await }
    };
    say("player", "Hello".to_owned()).await.ok();
    let heard = black_board.next_of("chatLine").await;
    assert_eq!(
        (&heard["username"], &heard["text"], &heard["room"]),
        (&"White".into(), &"Hello".into(), &"player".into())
    );
    say("player", "Hello".to_owned()).await.ok();
    for number in 0..9 {
        say("spectator", format!("line {number}")).await.ok();
    }
    let report = server.game(&pair.id.as_str().into()).await.expect("a report");
    assert_eq!(report.chat.len(), 4, "{:?}", report.chat);
    assert_eq!(pair.black.get(&path).await.ok().json(), serde_json::json!([{ "text": "Hello", "user": "White" }]));
    for text in [String::new(), "x".repeat(141)] {
        assert_eq!(say("player", text).await.status, StatusCode::BAD_REQUEST);
    }
}

#[testkit::test]
async fn the_servers_own_engine_plays() {
    let server = server().await;
    let bot = Client::bot(&server, "Bot").await;
    let mut events = bot.events().await;
    let form = [("level", "8"), ("color", "white"), ("clock.limit", "60")];
    let reply = bot.post_form("/api/challenge/ai", &form).await;
    assert_eq!(reply.status, StatusCode::CREATED);
    let id = reply.json()["id"].as_str().expect("an id").to_owned();
    let start = events.next_of("gameStart").await;
    assert_eq!((&start["game"]["opponent"]["ai"], &start["game"]["source"]), (&8.into(), &"ai".into()));
    bot.play(&id, "e2e4").await.ok();
    let report = server.wait_for_ply(&id.as_str().into(), 2).await.expect("a report");
    assert_eq!(report.black, "Stockfish level 8");
}
