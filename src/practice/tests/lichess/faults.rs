//! Every fault that a client must survive can be arranged, and does what it says.

use std::time::Duration;

use practice::{
    End, PracticeSettings, SparringKind,
    faults::{RequestFault, RequestKind, Span, StreamFault, Streams, When},
};
use reqwest::{Method, StatusCode};

use crate::{
    client::{Client, StreamEnd, server, server_with},
    play::{BULLET, Pair, pair, terms},
};

#[testkit::test]
async fn game_stream_breaks_in_every_way() {
    let (server, pair) = pair().await;
    let game = || Streams::Board(pair.id.as_str().into(), "Black".to_owned());
    for (ply, fault) in [
        (1, StreamFault::CleanEnd),
        (2, StreamFault::CutMidLine),
        (3, StreamFault::Abort),
        (4, StreamFault::AbortMidLine),
    ] {
        let mut board = pair.black.board(&pair.id).await;
        let full = board.next_of("gameFull").await;
        assert_eq!(full["state"]["moves"].as_str().unwrap_or_default().split_whitespace().count(), ply - 1);
        server.faults().break_stream(game(), When::AtPly(ply), fault);
        let mover = if ply % 2 == 1 { &pair.white } else { &pair.black };
        mover.play(&pair.id, ["e2e4", "e7e5", "g1f3", "b8c6"][ply - 1]).await.ok();
        match (fault, board.end().await) {
            (StreamFault::CleanEnd, StreamEnd::Clean(rest)) => assert_eq!(rest, ""),
            (StreamFault::CutMidLine, StreamEnd::Clean(rest)) => {
                assert!(rest.starts_with("{\"type\":\"gameState\",\"moves\":\"e2e4") && !rest.ends_with('}'), "{rest}");
            }
            (StreamFault::Abort | StreamFault::AbortMidLine, StreamEnd::Broken) => {}
            (fault, end) => panic!("{fault:?} ended the stream as {end:?}"),
        }
    }
}

#[testkit::test]
async fn an_event_stream_breaks_at_once() {
    let server = server().await;
    let bot = Client::bot(&server, "Bot").await;
    for (fault, expected) in [
        (StreamFault::CleanEnd, StreamEnd::Clean(String::new())),
        (StreamFault::CutMidLine, StreamEnd::Clean("{\"type\":\"gameSta".to_owned())),
        (StreamFault::Abort, StreamEnd::Broken),
        (StreamFault::AbortMidLine, StreamEnd::Broken),
    ] {
        let mut events = bot.events().await;
        assert_eq!(server.faults().break_stream(Streams::Events("bot".to_owned()), When::Now, fault), 1);
        assert_eq!(events.end().await, expected, "{fault:?}");
    }
}

#[testkit::test]
async fn silenced_stream_stays_silent() {
    let server =
        server_with(PracticeSettings { keep_alive: Duration::from_millis(5), ..PracticeSettings::default() }).await;
    let pair = Pair::start(&server, &BULLET).await;
    let (mut white_board, mut black_board) = pair.boards().await;
    let silenced = Streams::Board(pair.id.as_str().into(), "Black".to_owned());
    server.faults().break_stream(silenced, When::AtPly(1), StreamFault::Silence);
    pair.play_all("e2e4 e7e5").await;
    while white_board.next_of("gameState").await["moves"] != "e2e4 e7e5" {}
    let pause = Duration::from_millis(100);
    let heard = tokio::time::timeout(pause, black_board.next()).await;
    assert!(heard.is_err(), "{heard:?}");
    // Empty lines from before the silence have been read by now.
    let before = black_board.keep_alives;
    let heard = tokio::time::timeout(pause, black_board.next()).await;
    assert!(heard.is_err() && black_board.keep_alives == before, "not even an empty line: {heard:?}");
    // The connection stands, and a new stream works.
    pair.black.board(&pair.id).await.next_of("gameFull").await;
}

#[testkit::test]
async fn lines_are_repeated_swapped_lost() {
    let (server, pair) = pair().await;
    let mut board = pair.black.board(&pair.id).await;
    board.next_of("gameFull").await;
    let black = || Streams::Board(pair.id.as_str().into(), "Black".to_owned());
    for (ply, fault) in [(1, StreamFault::Duplicate), (2, StreamFault::Reorder), (4, StreamFault::Drop)] {
        server.faults().break_stream(black(), When::AtPly(ply), fault);
    }
    pair.play_all("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6").await;
    let mut plies = Vec::new();
    while plies.last() != Some(&6) {
        let state = board.next_of("gameState").await;
        plies.push(state["moves"].as_str().unwrap_or_default().split(' ').count());
    }
    assert_eq!(plies.len(), 6, "{plies:?}");
    assert_eq!(plies[..2], [1, 1], "doubled");
    assert!(!plies.contains(&4), "lost: {plies:?}");
    assert_eq!(plies.iter().filter(|ply| **ply == 2).count(), 1, "late, perhaps, but once: {plies:?}");
}

#[testkit::test]
async fn move_is_refused_once() {
    let (server, pair) = pair().await;
    for status in [429, 500, 502, 503] {
        server.faults().fail_requests(RequestKind::Move, Span::Times(2), RequestFault::Answer(status));
        for _ in 0..2 {
            assert_eq!(pair.white.play(&pair.id, "e2e4").await.status.as_u16(), status);
        }
    }
    pair.white.play(&pair.id, "e2e4").await.ok();
    assert_eq!(server.faults().requests_seen(RequestKind::Move), 9);
}

#[testkit::test]
async fn move_answer_may_be_late_or_lost() {
    let (server, pair) = pair().await;
    let path = format!("/api/bot/game/{}/move", pair.id);
    let game = pair.id.as_str().into();

    let late = RequestFault::DelayAnswer(Duration::from_secs(6));
    server.faults().fail_requests(RequestKind::Move, Span::Times(1), late);
    let impatient = pair.white.request(Method::POST, &format!("{path}/e2e4")).timeout(Duration::from_millis(50));
    assert!(impatient.send().await.expect_err("too late").is_timeout());
    assert_eq!(server.game(&game).await.expect("a report").line.ply(), 1, "done all the same");

    server.faults().fail_requests(RequestKind::Move, Span::Times(1), RequestFault::LoseAnswer);
    pair.black.request(Method::POST, &format!("{path}/e7e5")).send().await.expect_err("no answer");
    assert_eq!(server.game(&game).await.expect("a report").line.ply(), 2, "done all the same");

    server.faults().fail_requests(RequestKind::Move, Span::Times(1), RequestFault::LoseRequest);
    pair.white.request(Method::POST, &format!("{path}/g1f3")).send().await.expect_err("no answer");
    assert_eq!(server.game(&game).await.expect("a report").line.ply(), 2, "never done");

    server.faults().fail_requests(RequestKind::Move, Span::Times(1), RequestFault::Ignore);
    let ignored = pair.white.request(Method::POST, &format!("{path}/g1f3")).timeout(Duration::from_millis(50));
    assert!(ignored.send().await.expect_err("no answer").is_timeout());
    server.faults().fail_requests(RequestKind::Move, Span::Times(1), RequestFault::Delay(Duration::from_millis(20)));
    pair.white.play(&pair.id, "g1f3").await.ok();
}

#[testkit::test]
async fn event_stream_fails_for_a_while() {
    let server = server().await;
    let bot = Client::bot(&server, "Bot").await;
    let outage = Duration::from_millis(200);
    server.faults().fail_requests(RequestKind::EventStream, Span::For(outage), RequestFault::Answer(502));
    let mut refused = 0;
    loop {
        let reply = bot.request(Method::GET, "/api/stream/event").send().await.expect("an answer");
        if reply.status() == StatusCode::OK {
            break;
        }
        assert_eq!(reply.status(), StatusCode::BAD_GATEWAY);
        assert!(reply.text().await.expect("a page").starts_with("<html>"));
        refused += 1;
    }
    assert!(refused > 0);
}

#[testkit::test]
async fn restart_keeps_all_games() {
    let (server, pair) = pair().await;
    let (mut white_board, mut black_board) = pair.boards().await;
    pair.play_all("e2e4 e7e5").await;
    server.restart(Duration::from_millis(10)).await.expect("a server that comes back");
    assert_eq!(white_board.end().await, StreamEnd::Broken);
    assert_eq!(black_board.end().await, StreamEnd::Broken);
    let full = pair.white.board(&pair.id).await.next_of("gameFull").await;
    assert_eq!(full["state"]["moves"], "e2e4 e7e5");
    pair.white.play(&pair.id, "g1f3").await.ok();
}

#[testkit::test]
async fn fault_plan_is_a_line_of_text() {
    let plan = "seed=7,429=50%,502=20%,duplicate=50%,restart=50ms";
    let settings = PracticeSettings { faults: plan.parse().expect("a plan"), ..PracticeSettings::default() };
    let server = server_with(settings).await;
    server.sparring("one", SparringKind::Greedy).await.expect("a player");
    server.sparring("other", SparringKind::Random).await.expect("a player");
    let bot = Client::bot(&server, "Bot").await;
    let mut seen = std::collections::BTreeSet::new();
    while seen.len() < 4 {
        // Connections fail while the server restarts; those count as zero.
        let reply = bot.request(Method::GET, "/api/account").send().await;
        seen.insert(reply.map_or(0, |reply| reply.status().as_u16()));
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 200, 429, 502]);
    // Challenges made by the server itself bypass the faults.
    server.challenge("one", "other", terms("60+0")).await.expect("a challenge");
    let reports = server.wait_for_games(1).await.expect("reports");
    assert!(reports[0].outcome.as_ref().is_some_and(|outcome| outcome.end != End::OutOfTime));
}
