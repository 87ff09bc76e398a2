use practice::{PracticeSettings, ServerLimits};
use reqwest::{Method, StatusCode};
use serde_json::json;

use crate::{
    client::{Client, Lines, server, server_with},
    play::BULLET,
};

#[testkit::test]
async fn decline_carries_a_reason() {
    let server = server().await;
    let (one, other) = (Client::bot(&server, "One").await, Client::bot(&server, "Other").await);
    let mut events = one.events().await;
    let id = one.post_form("/api/challenge/other", &BULLET).await.ok().json()["id"].clone();
    let path = format!("/api/challenge/{}", id.as_str().expect("an id"));
    other.post_form(&format!("{path}/decline"), &[("reason", "tooFast")]).await.ok();
    let declined = events.next_of("challengeDeclined").await;
    assert_eq!((&declined["challenge"]["id"], &declined["challenge"]["declineReasonKey"]), (&id, &"toofast".into()));
    assert_eq!(other.post(&format!("{path}/decline")).await.status, StatusCode::NOT_FOUND);
    let late = other.post(&format!("{path}/accept")).await;
    assert_eq!((late.status, late.error().as_str()), (StatusCode::BAD_REQUEST, "The challenge has been declined."));
}

#[testkit::test]
async fn cancel_withdraws_or_aborts() {
    let server = server().await;
    let (one, other) = (Client::bot(&server, "One").await, Client::bot(&server, "Other").await);
    let mut events = other.events().await;
    let challenge = || async {
        let reply = one
            .request(Method::POST, "/api/challenge/other")
            .json(&json!({ "clock": { "limit": 60, "increment": 1 } }));
        let reply: serde_json::Value = reply.send().await.expect("an answer").json().await.expect("JSON");
        reply["id"].as_str().expect("an id").to_owned()
    };
    let id = challenge().await;
    assert_eq!(one.get("/api/challenge").await.ok().json()["out"][0]["id"], *id);
    assert_eq!(other.get(&format!("/api/challenge/{id}/show")).await.ok().json()["direction"], "in");
    one.post(&format!("/api/challenge/{id}/cancel")).await.ok();
    assert_eq!(events.next_of("challengeCanceled").await["challenge"]["id"], *id);
    assert_eq!(other.post(&format!("/api/challenge/{id}/accept")).await.error(), "The challenge has been canceled.");
    assert_eq!(one.get("/api/challenge").await.ok().json(), json!({ "in": [], "out": [] }));

    let id = challenge().await;
    other.post(&format!("/api/challenge/{id}/accept")).await.ok();
    one.post(&format!("/api/challenge/{id}/cancel")).await.ok();
    let finish = events.next_of("gameFinish").await;
    assert_eq!((&finish["game"]["id"], &finish["game"]["status"]["name"]), (&id.into(), &"aborted".into()));
}

#[testkit::test]
async fn kept_alive_challenge_gets_its_answer() {
    let server = server().await;
    let (one, other) = (Client::bot(&server, "One").await, Client::bot(&server, "Other").await);
    for (answer, done) in [("accept", "accepted"), ("decline", "declined")] {
        let form = [("clock.limit", "60"), ("keepAliveStream", "true")];
        let response = one.request(Method::POST, "/api/challenge/other").form(&form).send().await.expect("an answer");
        let mut lines = Lines::of(response);
        let id = lines.next().await.expect("the challenge")["id"].as_str().expect("an id").to_owned();
        other.post(&format!("/api/challenge/{id}/{answer}")).await.ok();
        assert_eq!(lines.next().await, Ok(json!({ "done": done })));
        lines.next().await.expect_err("the end");
    }
}

#[testkit::test]
async fn forms_are_checked_as_on_lichess() {
    let server = server_with(PracticeSettings { strict_terms: true, ..PracticeSettings::default() }).await;
    let (one, _other) = (Client::bot(&server, "One").await, Client::bot(&server, "Other").await);
    for (form, field) in [
        (vec![("clock.limit", "61"), ("clock.increment", "0")], "clock.limit"),
        (vec![("clock.limit", "60"), ("clock.increment", "61")], "clock.increment"),
        (vec![("days", "4")], "days"),
        (vec![("variant", "checkers")], "variant"),
        (vec![("variant", "fromPosition")], "fen"),
        (vec![("color", "green")], "color"),
    ] {
        let reply = one.post_form("/api/challenge/other", &form).await;
        assert_eq!((reply.status, reply.json()), (StatusCode::BAD_REQUEST, json!({ field: ["Invalid value"] })));
    }
    let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";
    let rated = |fen| vec![("clock.limit", "60"), ("rated", "true"), ("fen", fen)];
    let reply = one.post_form("/api/challenge/other", &rated("4k3/8/8/8/8/8/4P3/4K3 w - - 0 1")).await;
    assert_eq!((reply.status, reply.json()), (StatusCode::BAD_REQUEST, json!({ "global": ["can't be rated"] })));
    one.post_form("/api/challenge/other", &rated(start)).await.ok();
    for (to, form, words) in [
        ("other", vec![("clock.limit", "15")], "Game incompatible with a BOT account"),
        ("other", vec![("clock.limit", "60"), ("rules", "noAbort")], "Rules not applicable for bots"),
        ("one", vec![("clock.limit", "60")], "You cannot challenge yourself"),
        ("unknown", vec![("clock.limit", "60")], "No such user: unknown"),
    ] {
        let reply = one.post_form(&format!("/api/challenge/{to}"), &form).await;
        assert_eq!((reply.status, reply.error().as_str()), (StatusCode::BAD_REQUEST, words));
    }
}

#[testkit::test]
async fn tokens_follow_their_scopes() {
    let server = server().await;
    let bot = Client::bot(&server, "Bot").await;
    let stranger = Client::with_token(&server, "lip_unknown");
    assert_eq!(stranger.get("/api/account").await.status, StatusCode::UNAUTHORIZED);
    server.add_token("bot", "lip_reader", "challenge:read");
    let reader = Client::with_token(&server, "lip_reader");
    reader.get("/api/challenge").await.ok();
    let refused = reader.play("whatever", "e2e4").await;
    assert_eq!((refused.status, refused.error().as_str()), (StatusCode::FORBIDDEN, "Missing scope"));
    let tested =
        bot.request(Method::POST, "/api/token/test").body("lip_reader,lip_unknown").send().await.expect("an answer");
    let expected = json!({
        "lip_reader": { "userId": "bot", "scopes": "challenge:read", "expires": null },
        "lip_unknown": null,
    });
    assert_eq!(tested.json::<serde_json::Value>().await.expect("JSON"), expected);
    server.revoke_token("lip_reader");
    assert_eq!(reader.get("/api/challenge").await.status, StatusCode::UNAUTHORIZED);
}

#[testkit::test]
async fn fresh_account_may_become_a_bot() {
    let server = server().await;
    server.add_account("Novice", false).await.expect("an account");
    server.add_token("novice", "lip_novice", "bot:play");
    let novice = Client::with_token(&server, "lip_novice");
    assert_eq!(novice.play("whatever", "e2e4").await.error(), "This endpoint can only be used with a Bot account.");
    novice.post("/api/bot/account/upgrade").await.ok();
    assert_eq!(novice.get("/api/account").await.ok().json()["title"], "BOT");
    let mut events = novice.events().await;
    novice.post_form("/api/challenge/ai", &[("level", "1")]).await.ok();
    events.next_of("gameStart").await;
    assert_eq!(novice.post("/api/bot/account/upgrade").await.status, StatusCode::BAD_REQUEST);
}

#[testkit::test]
async fn configured_limits_are_enforced() {
    let limits =
        ServerLimits { games_against_bots_per_day: 1, account_requests_per_five_minutes: 2, ..ServerLimits::default() };
    let server = server_with(PracticeSettings { limits: Some(limits), ..PracticeSettings::default() }).await;
    let (one, other) = (Client::bot(&server, "One").await, Client::bot(&server, "Other").await);
    let third = Client::bot(&server, "Third").await;
    crate::play::start_game(&one, &other, "other", &BULLET).await;
    let mine = one.post_form("/api/challenge/third", &BULLET).await;
    assert_eq!(
        (mine.status, &mine.json()["ratelimit"]["key"]),
        (StatusCode::TOO_MANY_REQUESTS, &"bot.vsBot.day".into())
    );
    let theirs = third.post_form("/api/challenge/one", &BULLET).await;
    assert_eq!((theirs.status, &theirs.json()["ratelimit"]["key"]), (StatusCode::BAD_REQUEST, &"bot.vsBot.day".into()));
    for expected in [StatusCode::OK, StatusCode::OK, StatusCode::TOO_MANY_REQUESTS] {
        assert_eq!(one.get("/api/account").await.status, expected);
    }
}
