use std::time::Duration;

use practice::{End, GamePatience, PracticeSettings};

use crate::{
    client::{Client, StreamEnd, server, server_with},
    play::{BULLET, Pair, pair},
};

#[testkit::test]
async fn event_stream_starts_complete() {
    let (_server, pair) = pair().await;
    let challenge = pair.white.post_form("/api/challenge/black", &BULLET).await.ok().json();
    let mut events = pair.black.events().await;
    assert_eq!(events.next().await.expect("a line")["game"]["gameId"], *pair.id);
    assert_eq!(events.next().await.expect("a line")["challenge"]["id"], challenge["id"]);
    let playing = pair.white.get("/api/account/playing").await.ok().json();
    assert_eq!((&playing["nbMyTurn"], &playing["nowPlaying"][0]["gameId"]), (&1.into(), &pair.id.into()));
}

#[testkit::test]
async fn a_second_stream_closes_the_first() {
    let (_server, pair) = pair().await;
    let mut first = pair.white.events().await;
    let _second = pair.white.events().await;
    assert_eq!(first.end().await, StreamEnd::Clean(String::new()));

    let mut first = pair.white.board(&pair.id).await;
    let another = pair.white.over(reqwest::Client::builder().user_agent("another/1.0"));
    let mut elsewhere = another.board(&pair.id).await;
    let _second = pair.white.board(&pair.id).await;
    assert_eq!(first.end().await, StreamEnd::Clean(String::new()));
    elsewhere.next_of("gameFull").await;
    pair.white.play(&pair.id, "e2e4").await.ok();
    assert_eq!(elsewhere.next_of("gameState").await["moves"], "e2e4", "another program has a stream of its own");
}

#[testkit::test]
async fn silent_stream_sends_keep_alives() {
    let server =
        server_with(PracticeSettings { keep_alive: Duration::from_millis(5), ..PracticeSettings::default() }).await;
    let pair = Pair::start(&server, &BULLET).await;
    let mut board = pair.white.board(&pair.id).await;
    board.next_of("gameFull").await;
    for _ in 0..3 {
        assert_eq!(board.line().await, Ok(vec![]));
    }
    pair.white.play(&pair.id, "e2e4").await.ok();
    board.next_of("gameState").await;
}

#[testkit::test]
async fn who_stays_away_loses_by_claim() {
    let patience =
        GamePatience { gone_after: Duration::ZERO, claim_after: Duration::from_millis(50), ..GamePatience::default() };
    let settings = PracticeSettings { patience, claim_latency: Duration::ZERO, ..PracticeSettings::default() };
    let server = server_with(settings).await;
    let pair = Pair::start(&server, &BULLET).await;
    let (mut white_board, black_board) = pair.boards().await;
    let claim = format!("/api/bot/game/{}/claim-victory", pair.id);
    assert_eq!(pair.white.post(&claim).await.error(), "You cannot claim the win on this game");
    pair.play_all("e2e4 e7e5").await;
    pair.white.post(&claim).await.ok();
    assert!(server.game(&pair.id.as_str().into()).await.expect("a report").outcome.is_none(), "200 is no promise");
    drop(black_board);
    let gone = white_board.next_of("opponentGone").await;
    assert_eq!((&gone["gone"], &gone["claimWinInSeconds"]), (&true.into(), &1.into()));
    assert_eq!(white_board.next_of("opponentGone").await["claimWinInSeconds"], 0);
    pair.white.post(&claim).await.ok();
    let report = server.wait_for_end(&pair.id.as_str().into()).await.expect("a report");
    assert_eq!((report.winner(), report.end()), (Some("White"), Some(End::Abandoned)));
}

#[testkit::test]
async fn who_comes_back_is_no_longer_gone() {
    let patience = GamePatience { gone_after: Duration::ZERO, ..GamePatience::default() };
    let server = server_with(PracticeSettings { patience, ..PracticeSettings::default() }).await;
    let pair = Pair::start(&server, &BULLET).await;
    let (mut white_board, black_board) = pair.boards().await;
    pair.play_all("e2e4 e7e5").await;
    drop(black_board);
    assert_eq!(white_board.next_of("opponentGone").await["gone"], true);
    let _back = pair.black.board(&pair.id).await;
    assert_eq!(white_board.next_of("opponentGone").await["gone"], false);
}

#[testkit::test]
async fn fifty_games_start_in_a_burst() {
    let server = server().await;
    let (one, other) = (Client::bot(&server, "One").await, Client::bot(&server, "Other").await);
    let mut ids = Vec::new();
    for _ in 0..50 {
        ids.push(crate::play::start_game(&one, &other, "other", &BULLET).await);
    }
    let mut events = other.events().await;
    for id in &ids {
        assert_eq!(events.next_of("gameStart").await["game"]["gameId"], **id);
    }
    assert_eq!(
        other.get("/api/account/playing?nb=50").await.ok().json()["nowPlaying"].as_array().map(Vec::len),
        Some(50)
    );
    let status = one.get("/api/users/status?ids=one,Other,unknown").await.ok().json();
    assert_eq!(
        (&status[0]["playing"], &status[0]["online"], &status[1]["online"]),
        (&true.into(), &().into(), &true.into())
    );
    assert_eq!(one.get("/api/bot/online").await.ok().json()["id"], "other");
}
