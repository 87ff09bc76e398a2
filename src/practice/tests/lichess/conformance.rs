//! Every answer and every line is what the published description of the API says.

use std::{fs, time::Duration};

use domain::{GameTerms, TournamentKind, Variant};
use jsonschema::Validator;
use practice::TournamentPlan;
use serde_json::{Value, json};

use crate::{
    client::{Client, server},
    play::BULLET,
};

/// Judges answers by the types of the npm package `@lichess-org/types`, as a JSON schema.
struct Judge(Value);

impl Judge {
    fn new() -> Self {
        let schema = fs::read_to_string(testkit::needs::LICHESS_API.path()).expect("a schema");
        Self(serde_json::from_str(&schema).expect("JSON"))
    }

    /// The validator of a part of the schema, named by a JSON pointer.
    fn validator(&self, pointer: &str) -> Validator {
        let schema = json!({
            "$schema": self.0["$schema"],
            "$ref": format!("#/definitions/{pointer}"),
            "definitions": self.0["definitions"],
        });
        jsonschema::validator_for(&schema).expect("a schema")
    }

    #[track_caller]
    fn judge(&self, pointer: &str, value: &Value) {
        let errors: Vec<String> = self
            .validator(pointer)
            .iter_errors(value)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{pointer}: {}\n{value:#}", errors.join("\n"));
    }

    /// A value against a named type.
    #[track_caller]
    fn named(&self, name: &str, value: &Value) {
        self.judge(&format!("{name}_"), value);
    }

    /// An answer against what an endpoint says of it.
    #[track_caller]
    fn answer(&self, method: &str, path: &str, status: u16, value: &Value) {
        let name = format!("{method} {path} {status}").replace('~', "~0").replace('/', "~1").replace(' ', "%20");
        self.judge(&format!("Judged/properties/answers/properties/{name}"), value);
    }

    /// A line of a stream against the schema its type belongs to.
    #[track_caller]
    fn line(&self, line: &Value) {
        let schema = match line["type"].as_str().unwrap_or_default() {
            "gameStart" => "GameStartEvent",
            "gameFinish" => "GameFinishEvent",
            "challenge" => "ChallengeEvent",
            "challengeCanceled" => "ChallengeCanceledEvent",
            "challengeDeclined" => "ChallengeDeclinedEvent",
            "gameFull" => "GameFullEvent",
            "gameState" => "GameStateEvent",
            "chatLine" => "ChatLineEvent",
            "opponentGone" => "OpponentGoneEvent",
            other => panic!("unknown type {other:?}: {line}"),
        };
        self.named(schema, line);
    }
}

#[testkit::test(needs(LICHESS_API))]
async fn answers_match_the_api_description() {
    let judge = Judge::new();
    let settings = practice::PracticeSettings {
        patience: practice::GamePatience { gone_after: std::time::Duration::ZERO, ..Default::default() },
        claim_latency: std::time::Duration::ZERO,
        ..Default::default()
    };
    let server = crate::client::server_with(settings).await;
    let (one, other) = (Client::bot(&server, "One").await, Client::bot(&server, "Other").await);
    let (mut one_events, mut other_events) = (one.events().await, other.events().await);

    judge.named("UserExtended", &one.get("/api/account").await.ok().json());
    judge.named("UserExtended", &one.get("/api/user/other").await.ok().json());
    for line in one.get("/api/bot/online").await.ok().text.lines() {
        judge.named("User", &serde_json::from_str(line).expect("JSON"));
    }
    judge.answer("get", "/api/users/status", 200, &one.get("/api/users/status?ids=one,other").await.ok().json());

    // A challenge of every kind, declined or withdrawn.
    for form in [
        vec![("clock.limit", "300"), ("clock.increment", "3"), ("rated", "true")],
        vec![("days", "3"), ("color", "black")],
        vec![("variant", "chess960")],
        vec![("fen", "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1"), ("clock.limit", "30")],
        vec![("variant", "kingOfTheHill"), ("clock.limit", "60")],
    ] {
        for answer in ["decline", "cancel"] {
            let challenge = one.post_form("/api/challenge/other", &form).await.ok().json();
            judge.named("ChallengeJson", &challenge);
            let id = challenge["id"].as_str().expect("an id");
            judge.named("ChallengeJson", &other.get(&format!("/api/challenge/{id}/show")).await.ok().json());
            judge.answer("get", "/api/challenge", 200, &one.get("/api/challenge").await.ok().json());
            let who = if answer == "decline" { &other } else { &one };
            judge.named("Ok", &who.post(&format!("/api/challenge/{id}/{answer}")).await.ok().json());
            for events in [&mut one_events, &mut other_events] {
                judge.line(&events.next_of("challenge").await);
                judge.line(&events.next().await.expect("a line"));
            }
        }
    }

    // A game with all that can be heard in it.
    let id = crate::play::start_game(&one, &other, "other", &[BULLET[0], BULLET[1], ("rated", "true")]).await;
    for events in [&mut one_events, &mut other_events] {
        judge.line(&events.next_of("gameStart").await);
    }
    let (mut board, other_board) = (one.board(&id).await, other.board(&id).await);
    judge.line(&board.next().await.expect("a line"));
    one.play(&id, "e2e4").await.ok();
    judge.named("Ok", &other.play(&id, "e7e5").await.ok().json());
    judge.named("Error", &other.play(&id, "e7e5").await.json());
    judge.answer("get", "/api/account/playing", 200, &one.get("/api/account/playing").await.ok().json());
    let game = format!("/api/bot/game/{id}");
    one.post_form(&format!("{game}/chat"), &[("room", "player"), ("text", "Hello")]).await.ok();
    judge.named("PlayerGameChat", &one.get(&format!("{game}/chat")).await.ok().json());
    for action in ["draw/yes", "draw/no", "takeback/yes", "takeback/no", "claim-victory", "claim-draw"] {
        judge.named("Ok", &one.post(&format!("{game}/{action}")).await.ok().json());
    }
    drop(other_board);
    loop {
        let line = board.next().await.expect("a line");
        judge.line(&line);
        if line["type"] == "opponentGone" {
            break;
        }
    }
    judge.named("Error", &one.post(&format!("{game}/abort")).await.json());
    judge.named("Ok", &one.post(&format!("{game}/resign")).await.ok().json());
    while let Ok(line) = board.next().await {
        judge.line(&line);
    }
    for events in [&mut one_events, &mut other_events] {
        judge.line(&events.next_of("gameFinish").await);
    }
    let export = one.request(reqwest::Method::GET, &format!("/game/export/{id}?pgnInJson=true"));
    let export = export.header("Accept", "application/json").send().await.expect("an answer");
    judge.named("GameJson", &export.json().await.expect("JSON"));

    let games = one.request(reqwest::Method::GET, "/api/games/user/one").header("Accept", "application/x-ndjson");
    for line in games.send().await.expect("an answer").text().await.expect("lines").lines() {
        judge.named("GameJson", &serde_json::from_str(line).expect("JSON"));
    }
    let users = one.request(reqwest::Method::POST, "/api/users").body("one,other").send().await.expect("an answer");
    for user in users.json::<Vec<Value>>().await.expect("JSON") {
        judge.named("User", &user);
    }
    let preferences = one.get("/api/account/preferences").await.ok().json();
    judge.answer("get", "/api/account/preferences", 200, &preferences);
    judge.named("ChallengeOpenJson", &one.post_form("/api/challenge/open", &BULLET).await.ok().json());

    // The server's own engine.
    let reply = one.post_form("/api/challenge/ai", &[("level", "3"), ("color", "black")]).await;
    judge.answer("post", "/api/challenge/ai", 201, &reply.json());
    judge.line(&one_events.next_of("gameStart").await);
    for path in ["/api/bot/game/stream/nowhere0", "/api/challenge/nowhere0/show", "/api/no/such/thing"] {
        judge.named("Error", &one.get(path).await.json());
    }
}

#[testkit::test(needs(LICHESS_API))]
async fn tournaments_are_as_described() {
    let judge = Judge::new();
    let server = server().await;
    let bot = Client::bot(&server, "Bot").await;
    let time_control = domain::TimeControl::real_time(Duration::from_mins(1), Duration::ZERO);
    let terms = GameTerms { variant: Variant::Standard, time_control, rated: true };
    for (kind, path, list) in
        [(TournamentKind::Arena, "tournament", "arena"), (TournamentKind::Swiss, "swiss", "swiss")]
    {
        let plan =
            TournamentPlan { password: Some("sesame".to_owned()), ..TournamentPlan::new(kind, "abcd1234", terms) };
        server.ask(move |state| state.hold_tournament(plan)).await.expect("a server");
        let (listed, page) = match kind {
            TournamentKind::Arena => ("ArenaTournament", "ArenaTournamentFull"),
            TournamentKind::Swiss => ("SwissTournament", "SwissTournament"),
        };
        let join = format!("/api/{path}/abcd1234/join");
        let refused = bot.post(&join).await;
        assert_eq!(refused.status, 400);
        judge.named("Error", &refused.json());
        judge.named("Ok", &bot.post_form(&join, &[("password", "sesame"), ("pairMeAsap", "true")]).await.ok().json());
        judge.named(page, &bot.get(&format!("/api/{path}/abcd1234")).await.ok().json());
        let lines = bot.get(&format!("/api/team/practice/{list}")).await.ok();
        let line = lines.text.lines().next().expect("a tournament");
        judge.named(listed, &serde_json::from_str(line).expect("JSON"));
        judge.named("Ok", &bot.post(&format!("/api/{path}/abcd1234/withdraw")).await.ok().json());
        assert_eq!(bot.get(&format!("/api/{path}/nowhere0")).await.status, 404);
    }
}

#[testkit::test(needs(LICHESS_API))]
async fn tokens_are_tested_as_described() {
    let judge = Judge::new();
    let server = server().await;
    let bot = Client::bot(&server, "Bot").await;
    let reply = bot.request(reqwest::Method::POST, "/api/token/test").body("lip_bot_practice,lip_bad").send().await;
    let value: Value = reply.expect("an answer").json().await.expect("JSON");
    judge.answer("post", "/api/token/test", 200, &value);
    assert!(value["lip_bot_practice"]["scopes"].as_str().is_some_and(|scopes| scopes.contains("bot:play")), "{value}");
}

#[testkit::test(needs(LICHESS_API))]
fn schema_check_finds_deviations() {
    let validator = Judge::new().validator("GameStateEvent_");
    let mut state = json!({
        "type": "gameState", "moves": "", "wtime": 1, "btime": 1, "winc": 0, "binc": 0, "status": "started",
    });
    assert!(validator.is_valid(&state));
    state["status"] = json!("running");
    assert!(!validator.is_valid(&state));
}
