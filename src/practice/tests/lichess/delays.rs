//! Tests of slow networks: late, fragmented and limited streams.

use std::time::{Duration, Instant};

use practice::{
    PracticeSettings,
    faults::{StreamFault, Streams, When},
};
use reqwest::Method;

use crate::{
    client::{PATIENCE, server_with},
    play::{BULLET, Pair, pair},
};

/// Long enough to be told from no time at all.
const DELAY: Duration = Duration::from_millis(100);
/// Time without a line after which a test concludes that none comes.
const NOTHING: Duration = Duration::from_millis(100);

/// A game whose server has this plan of faults from then on.
async fn pair_under(plan: &str) -> (practice::PracticeServer, Pair) {
    let (server, pair) = pair().await;
    server.faults().set_plan(plan.parse().expect("a plan"));
    (server, pair)
}

#[testkit::test]
async fn slow_stream_arrives_completely() {
    let (_server, pair) = pair_under("slow=4000B/s").await;
    let path = format!("/api/bot/game/stream/{}", pair.id);
    let mut response = pair.white.request(Method::GET, &path).send().await.expect("an answer");
    let mut line = Vec::new();
    let mut pieces = 0;
    while !line.ends_with(b"\n") {
        let piece = response.chunk().await.expect("a stream").expect("more of it");
        pieces += 1;
        line.extend_from_slice(&piece);
    }
    let full: serde_json::Value = serde_json::from_slice(&line).expect("a whole line");
    assert_eq!(full["type"], "gameFull");
    assert!(pieces > 1, "{} bytes came in one piece", line.len());
}

#[testkit::test]
async fn trickling_stream_can_be_cut() {
    let (_server, pair) = pair_under("slow=40B/s,cut=1ms").await;
    let path = format!("/api/bot/game/stream/{}", pair.id);
    // By lot, some are cut in the middle of a line, whose first half trickles.
    for _ in 0..8 {
        let ended = async {
            if let Ok(mut response) = pair.white.request(Method::GET, &path).send().await {
                while let Ok(Some(_)) = response.chunk().await {}
            }
        };
        tokio::time::timeout(PATIENCE, ended).await.expect("its end");
    }
}

#[testkit::test]
async fn streams_may_open_late() {
    let (server, pair) = pair_under("open=100ms").await;
    let asked = Instant::now();
    let mut board = pair.white.board(&pair.id).await;
    assert!(asked.elapsed() >= DELAY, "the headers are late");
    board.next_of("gameFull").await;

    server.faults().set_plan("first-line=100ms".parse().expect("a plan"));
    let asked = Instant::now();
    let mut board = pair.black.board(&pair.id).await;
    board.next_of("gameFull").await;
    assert!(asked.elapsed() >= DELAY, "the first line is late");
    assert_eq!(board.keep_alives, 0, "and nothing comes before it");
}

#[testkit::test]
async fn late_lines_keep_their_spacing() {
    let (_server, pair) = pair_under("late=100ms").await;
    let mut board = pair.white.board(&pair.id).await;
    board.next_of("gameFull").await;
    let played = Instant::now();
    pair.white.play(&pair.id, "e2e4").await.ok();
    pair.black.play(&pair.id, "e7e5").await.ok();
    for moves in ["e2e4", "e2e4 e7e5"] {
        assert_eq!(board.next_of("gameState").await["moves"], moves);
    }
    assert!(played.elapsed() >= DELAY);
}

#[testkit::test]
async fn echo_may_be_late_or_lost() {
    let (server, pair) = pair_under("").await;
    let mut board = pair.white.board(&pair.id).await;
    board.next_of("gameFull").await;
    server.faults().set_plan("echo=100ms".parse().expect("a plan"));
    let played = Instant::now();
    pair.white.play(&pair.id, "e2e4").await.ok();
    assert_eq!(board.next_of("gameState").await["moves"], "e2e4");
    assert!(played.elapsed() >= DELAY);
    pair.black.play(&pair.id, "e7e5").await.ok();
    assert_eq!(board.next_of("gameState").await["moves"], "e2e4 e7e5", "another's move is no echo");

    server.faults().set_plan("echo=never".parse().expect("a plan"));
    pair.white.play(&pair.id, "g1f3").await.ok();
    pair.black.play(&pair.id, "b8c6").await.ok();
    assert_eq!(board.next_of("gameState").await["moves"], "e2e4 e7e5 g1f3 b8c6", "the reply shows both");

    server.faults().set_plan("".parse().expect("a plan"));
    let white = Streams::Board(pair.id.as_str().into(), "White".to_owned());
    server.faults().break_stream(white, When::OwnMove, StreamFault::Drop);
    pair.play_all("f1b5 a7a6").await;
    assert_eq!(board.next_of("gameState").await["moves"], "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6", "once, by arrangement");
}

#[testkit::test]
async fn a_move_stalls_and_is_never_made() {
    let (server, pair) = pair_under("stall-move=100%").await;
    let path = format!("/api/bot/game/{}/move/e2e4", pair.id);
    let stalled = pair.white.request(Method::POST, &path).timeout(NOTHING).send().await;
    assert!(stalled.expect_err("no answer").is_timeout());
    pair.white.get("/api/account").await.ok();
    assert_eq!(server.game(&pair.id.as_str().into()).await.expect("a report").line.ply(), 0);
}

#[testkit::test]
async fn http2_streams_are_limited() {
    let server =
        server_with(PracticeSettings { faults: "streams=2".parse().expect("a plan"), ..PracticeSettings::default() })
            .await;
    let pair = Pair::start(&server, &BULLET).await;
    let connection = || reqwest::Client::builder().http2_prior_knowledge();
    let (one, other) = (pair.white.over(connection()), pair.white.over(connection()));
    // Its first answer tells the client of the limit.
    one.get("/api/account").await.ok();
    let (_events, board) = (one.events().await, one.board(&pair.id).await);
    let mut waiting = std::pin::pin!(one.play(&pair.id, "e2e4"));
    assert!(tokio::time::timeout(NOTHING, &mut waiting).await.is_err(), "both streams are taken");
    other.get("/api/account").await.ok();
    drop(board);
    waiting.await.ok();
}
