//! Tests of bot lists, game exports and open challenges.

use std::time::Duration;

use practice::{End, GamePatience, PracticeSettings, SparringKind};
use reqwest::{Method, StatusCode};
use serde_json::Value;

use crate::{
    client::{Client, server, server_with},
    play::{BULLET, start_game},
};

/// White resigns a rated game against Black after a move each.
async fn white_loses(white: &Client, black: &Client) -> String {
    let id = start_game(white, black, "black", &[BULLET[0], BULLET[1], ("rated", "true")]).await;
    white.play(&id, "e2e4").await.ok();
    black.play(&id, "e7e5").await.ok();
    white.post(&format!("/api/bot/game/{id}/resign")).await.ok();
    id
}

#[testkit::test]
async fn games_change_ratings_and_counts() {
    let server = server().await;
    let (white, black) = (Client::bot(&server, "White").await, Client::bot(&server, "Black").await);
    let before = white.get("/api/user/white").await.ok().json();
    assert_eq!((&before["perfs"]["bullet"]["games"], &before["perfs"]["bullet"]["rd"]), (&0.into(), &500.into()));
    white_loses(&white, &black).await;
    let (loser, winner) = (white.get("/api/account").await.ok().json(), black.get("/api/account").await.ok().json());
    for user in [&loser, &winner] {
        let perf = &user["perfs"]["bullet"];
        assert_eq!((&perf["games"], &perf["prov"]), (&1.into(), &true.into()), "{perf}");
        assert!(perf["rd"].as_u64() < Some(500), "the rating is more certain: {perf}");
        assert_eq!((&user["count"]["all"], &user["count"]["rated"]), (&1.into(), &1.into()));
    }
    let points = |user: &Value| user["perfs"]["bullet"]["rating"].as_i64().expect("a rating");
    assert!(points(&loser) < 1400 && points(&winner) > 1600, "{} and {}", points(&loser), points(&winner));
    assert_eq!((&loser["count"]["loss"], &winner["count"]["win"]), (&1.into(), &1.into()));
    assert_eq!(points(&winner) - 1500, 1500 - points(&loser), "both began alike");
}

#[testkit::test]
async fn sparring_bots_have_a_record() {
    let server = server().await;
    let bot = Client::bot(&server, "Bot").await;
    server.sparring("random", SparringKind::Random).await.expect("a player");
    server.wait_until_online("random").await.expect("a server");
    let user: Value = serde_json::from_str(&bot.get("/api/bot/online").await.ok().text).expect("one line");
    for speed in ["bullet", "blitz", "rapid", "classical"] {
        let perf = &user["perfs"][speed];
        assert!(perf["games"].as_u64() > Some(0) && perf.get("prov").is_none(), "{speed}: {perf}");
    }
}

#[testkit::test]
async fn users_are_fetched_by_hundreds() {
    let server = server().await;
    let bot = Client::bot(&server, "Bot").await;
    Client::bot(&server, "Other").await;
    let reply = bot.request(Method::POST, "/api/users").body("bot,OTHER,unknown").send().await.expect("an answer");
    let users: Value = reply.json().await.expect("JSON");
    let names: Vec<_> = users.as_array().expect("a list").iter().map(|user| &user["username"]).collect();
    assert_eq!(names, ["Bot", "Other"]);
}

#[testkit::test]
async fn user_games_come_newest_first() {
    let server = server().await;
    let (white, black) = (Client::bot(&server, "White").await, Client::bot(&server, "Black").await);
    let (first, second) = (white_loses(&white, &black).await, white_loses(&white, &black).await);
    let lines = async |query: &str| -> Vec<String> {
        let request = white.request(Method::GET, &format!("/api/games/user/white{query}"));
        let reply = request.header("Accept", "application/x-ndjson").send().await.expect("an answer");
        let text = reply.text().await.expect("lines");
        let game = |line: &str| {
            serde_json::from_str::<Value>(line).expect("JSON")["id"].as_str().unwrap_or_default().to_owned()
        };
        text.lines().map(game).collect()
    };
    assert_eq!(lines("").await, [second.clone(), first.clone()]);
    assert_eq!(lines("?max=1").await, std::slice::from_ref(&second));
    assert_eq!(lines("?sort=dateAsc&vs=black&rated=true&perfType=bullet&color=white").await, [first, second.clone()]);
    assert!(lines("?rated=false").await.is_empty() && lines("?color=black").await.is_empty());
    let pgn = white.get("/api/games/user/white?max=1").await.ok().text;
    assert!(pgn.contains("[Result \"0-1\"]") && pgn.contains("1. e4"), "{pgn}");
    assert_eq!(white.get("/api/games/user/unknown").await.status, StatusCode::NOT_FOUND);
    let reply = white.request(Method::POST, "/api/games/export/_ids").body(second).send().await.expect("an answer");
    assert!(reply.text().await.expect("a text").contains("[White \"White\"]"));
}

#[testkit::test]
async fn first_two_play_an_open_challenge() {
    let server = server().await;
    let (one, other) = (Client::bot(&server, "One").await, Client::bot(&server, "Other").await);
    let challenge = one.post_form("/api/challenge/open", &BULLET).await.ok().json();
    let id = challenge["id"].as_str().expect("an id");
    assert!(
        challenge["challenger"].is_null() && challenge["urlWhite"].as_str().is_some_and(|url| url.ends_with("white"))
    );
    one.post(&format!("/api/challenge/{id}/accept?color=black")).await.ok();
    one.post(&format!("/api/challenge/{id}/accept?color=black")).await.ok();
    assert!(server.games().await.expect("games").is_empty(), "one is not enough");
    other.post(&format!("/api/challenge/{id}/accept")).await.ok();
    let report = server.game(&id.into()).await.expect("a game");
    assert_eq!((report.white.as_str(), report.black.as_str()), ("Other", "One"));
}

#[testkit::test]
async fn abandoned_engine_game_ends() {
    let patience =
        GamePatience { gone_after: Duration::ZERO, claim_after: Duration::from_millis(50), ..GamePatience::default() };
    let server = server_with(PracticeSettings { patience, ..PracticeSettings::default() }).await;
    let bot = Client::bot(&server, "Bot").await;
    for (moves, end) in [(&[][..], End::Aborted), (&["e2e4", "d2d4"][..], End::Abandoned)] {
        let game = bot.post_form("/api/challenge/ai", &[("level", "1"), ("color", "white")]).await.json();
        let id = game["id"].as_str().expect("an id").to_owned();
        let mut board = bot.board(&id).await;
        board.next_of("gameFull").await;
        for (ply, uci) in moves.iter().enumerate() {
            bot.play(&id, uci).await.ok();
            server.wait_for_ply(&id.as_str().into(), 2 * ply + 2).await.expect("an answer");
        }
        drop(board);
        let report = server.wait_for_end(&id.as_str().into()).await.expect("its end");
        assert_eq!(report.end(), Some(end));
    }
    let playing = bot.get("/api/account/playing").await.ok().json();
    assert_eq!(playing["nowPlaying"].as_array().map(Vec::len), Some(0));
}

#[testkit::test]
async fn used_account_cannot_become_a_bot() {
    let server = server().await;
    let token = server.add_account("Fresh", false).await.expect("an account");
    let fresh = Client::with_token(&server, &token);
    assert!(fresh.get("/api/account").await.ok().json().get("title").is_none());
    fresh.post("/api/bot/account/upgrade").await.ok();
    assert_eq!(fresh.get("/api/account").await.ok().json()["title"], "BOT");

    let token = server.add_account("Human", false).await.expect("an account");
    let human = Client::with_token(&server, &token);
    human.post_form("/api/challenge/ai", &[("level", "1")]).await.ok();
    assert_eq!(human.post("/api/bot/account/upgrade").await.status, StatusCode::BAD_REQUEST);
}

#[testkit::test]
async fn preferences_are_answered() {
    let server = server().await;
    let bot = Client::bot(&server, "Bot").await;
    assert_eq!(bot.get("/api/account/preferences").await.ok().json()["prefs"]["autoQueen"], 2);
}
