//! A game of Italian draughts, as the page's script plays it.

use bot::journal::{Archive, Filter, GameRecord, GameResult};
use concilio_draughts::{board::Rules, game::pdn};
use reqwest::StatusCode;
use serde_json::{Value, json};
use stage::{PlayStage, SECRET, secret};

use crate::{opened, opened_with};

const STRATEGIES: [&str; 4] = ["peso-pedine", "peso-posizione", "spettacolo", "fully-guarded"];

/// A request of the page, with status and answer.
async fn ask(stage: &PlayStage, path: &str, body: &Value) -> (StatusCode, Value) {
    let response = stage.post(path, body).send().await.expect("an answer");
    let status = response.status();
    (status, response.json().await.expect("JSON"))
}

/// Returns the answer to an accepted request.
async fn accepted(stage: &PlayStage, path: &str, body: &Value) -> Value {
    let (status, answer) = ask(stage, path, body).await;
    assert_eq!(status, StatusCode::OK, "{body}: {answer}");
    answer
}

async fn look(stage: &PlayStage, game: &Value) -> Value {
    accepted(stage, "api/draughts", game).await
}

async fn answer(stage: &PlayStage, game: &Value, opponent: &Value) -> Value {
    accepted(stage, "api/draughts/answer", &json!({ "game": game, "opponent": opponent })).await
}

/// Returns the sentence of a rejected request.
async fn refused(stage: &PlayStage, path: &str, body: &Value) -> String {
    let (status, problem) = ask(stage, path, body).await;
    assert!(status.is_client_error(), "{body}: {status} {problem}");
    let said = problem["error"].as_str().unwrap_or_else(|| panic!("{body}: {problem}"));
    assert!(!said.is_empty() && said.len() < 400, "{said}");
    said.to_owned()
}

fn texts(moves: &Value) -> Vec<&str> {
    moves.as_array().expect("moves").iter().map(|mv| mv["text"].as_str().expect("text")).collect()
}

#[testkit::test]
async fn game_enforces_the_capture_rules() {
    let stage = opened().await;
    let start = look(&stage, &json!({})).await;
    assert_eq!(texts(&start["legal"]).len(), 7);
    assert_eq!((&start["turn"], &start["count"]["draw"]), (&json!("white"), &json!(40)));
    for (position, legal, not) in [
        ("W:WK22:B11,K19,K27", "22x15x6", "22x31"),
        ("W:WK29,30:B26", "29x22", "30x21"),
        ("W:WK15,32:B19,28", "32x23x14", "15x22"),
        ("W:WK23:B19,K20", "23x16", "23x14"),
        ("W:WK3,K9:B5,K6", "3x10x1", "9x2x11"),
        ("W:W14,31:B11,20,28", "31x24x15x6", "14x7"),
        ("W:W11:B5,6", "11x2", "11x2x9"),
        ("W:W13,K14,22:BK11,K12,19,K20", "14x7x16x23x14", "22x15"),
    ] {
        let view = look(&stage, &json!({ "start": position })).await;
        assert_eq!(texts(&view["legal"]), [legal], "{position}");
        let said = refused(&stage, "api/draughts", &json!({ "start": position, "moves": [not] })).await;
        assert_eq!(said, format!("move 1: {not} is not legal here (legal: {legal})"));
        let after = look(&stage, &json!({ "start": position, "moves": [legal] })).await;
        assert_eq!((&after["turn"], &after["last"]["text"]), (&json!("black"), &json!(legal)));
    }
    // The rules of 2010 know only the first of the priorities, and no draw.
    let relaxed = look(&stage, &json!({ "start": "W:WK29,30:B26", "rules": "relaxed" })).await;
    assert_eq!((texts(&relaxed["legal"]), &relaxed["count"]), (vec!["29x22", "30x21"], &Value::Null));
}

#[testkit::test]
async fn invalid_draughts_game_is_explained() {
    let stage = opened().await;
    let game = json!({ "moves": ["22-18"] });
    for body in [
        json!({ "moves": ["e4"] }),
        json!({ "moves": ["22-18", "22-18"] }),
        json!({ "moves": ["x".repeat(1000)] }),
        json!({ "moves": [format!("1{}", "x2".repeat(500))] }),
        json!({ "moves": vec!["22-18"; 1200] }),
        json!({ "moves": "22-18" }),
        json!({ "moves": [18] }),
        json!({ "start": "W:W99:B1" }),
        json!({ "start": format!("W:W{}:B1", "1,".repeat(400)) }),
        json!({ "start": "<script>alert(1)</script>" }),
        json!({ "rules": "polish" }),
        json!({ "rulez": "official" }),
        json!(["W"]),
    ] {
        refused(&stage, "api/draughts", &body).await;
    }
    for opponent in [
        json!({ "name": "unknown" }),
        json!({ "depth": 0 }),
        json!({ "depth": 99 }),
        json!({ "depth": -1 }),
        json!({ "nodes": 1 }),
        json!({ "criterion": "dice" }),
        json!("fully-guarded"),
    ] {
        refused(&stage, "api/draughts/answer", &json!({ "game": game, "opponent": opponent })).await;
    }
    let over = json!({ "game": { "start": "B:W9,10,13,14:B5" } });
    assert!(refused(&stage, "api/draughts/answer", &over).await.contains("over"));
    refused(&stage, "api/draughts/pdn", &json!({ "game": game })).await;
    // Too long for the page, but short enough to be sent whole before the refusal closes the connection.
    let long = json!({ "start": "x".repeat(17_000) });
    let response = stage.post("api/draughts", &long).send().await.expect("an answer");
    assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    let broken = stage.client.post(stage.url("api/draughts")).header("content-type", "application/json").body("{");
    let response = broken.send().await.expect("an answer");
    assert_eq!(response.status(), StatusCode::BAD_REQUEST);
}

#[testkit::test]
async fn opponent_may_change_every_move() {
    let stage = opened().await;
    let menu: Value = stage.get("api/draughts").send().await.expect("an answer").json().await.expect("JSON");
    let names: Vec<&str> = menu["opponents"]
        .as_array()
        .expect("opponents")
        .iter()
        .map(|it| it["name"].as_str().expect("a name"))
        .collect();
    assert!(STRATEGIES.iter().all(|name| names.contains(name)), "{menu}");
    let mut moves = json!([]);
    for (ply, name) in (1..).zip(STRATEGIES.iter().cycle().take(12)) {
        let opponent =
            json!({ "name": name, "depth": ply % 2 + 1, "quiescence": ply % 3 == 0, "second_iteration": false });
        let answer = answer(&stage, &json!({ "moves": moves }), &opponent).await;
        let vote = &answer["choice"]["votes"][0];
        assert_eq!((&vote["elector"], &vote["depth"]), (&json!(name), &json!(2 * (ply % 2 + 1))));
        assert_eq!(vote["uci"], answer["game"]["last"]["text"]);
        moves = answer["game"]["moves"].clone();
        assert_eq!(moves.as_array().map(Vec::len), Some(ply));
    }
}

#[testkit::test]
async fn four_electors_elect_a_proposal() {
    let stage = opened().await;
    let menu: Value = stage.get("api/draughts").send().await.expect("an answer").json().await.expect("JSON");
    let game = json!({ "moves": ["22-18"] });
    let choice = &answer(&stage, &game, &json!({ "name": "council", "depth": 3 })).await["choice"];
    let votes = choice["votes"].as_array().expect("votes");
    for name in STRATEGIES {
        let vote = votes.iter().find(|vote| vote["elector"] == name).unwrap_or_else(|| panic!("{name}: {choice}"));
        assert!(vote["nodes"].as_u64() > Some(0) && vote["weight"].is_f64(), "{vote}");
    }
    assert!(votes.iter().any(|vote| vote["uci"] == choice["best"]), "{choice}");
    assert!(choice["summary"].as_str().is_some_and(|said| said.contains(" by ")), "{choice}");
    for criterion in menu["criteria"].as_array().expect("criteria") {
        answer(&stage, &game, &json!({ "name": "council", "depth": 1, "criterion": criterion })).await;
    }
    // A move that is the only one needs no vote.
    let forced = answer(&stage, &json!({ "start": "W:W22:B18,1" }), &json!({ "name": "council" })).await;
    assert_eq!(forced["choice"]["best"], "22x13");
}

#[testkit::test]
async fn game_is_played_and_downloaded() {
    let stage = opened().await;
    let mut game = json!({ "id": "first" });
    let said = loop {
        let view = look(&stage, &game).await;
        if let Some(said) = view["over"].as_str() {
            break said.to_owned();
        }
        let answer = answer(&stage, &game, &json!({ "name": "peso-pedine", "depth": 1 })).await;
        game = json!({ "id": "first", "moves": answer["game"]["moves"] });
    };
    assert!(said.contains(" won: ") || said.starts_with("Drawn: "), "{said}");
    let names = json!({ "game": game, "white": "Anna \"la Dama\"\n[Event \"x\"]", "black": "concilio" });
    let taken = accepted(&stage, "api/draughts/pdn", &names).await;
    let records = pdn::read(taken["pdn"].as_str().expect("text"), Rules::Official).expect("PDN");
    assert_eq!(records.len(), 1);
    let tag = |name: &str| records[0].tags.iter().find(|(tag, _)| tag == name).map(|(_, value)| value.clone());
    assert_eq!(tag("White").as_deref(), Some("Anna \"la Dama\"[Event \"x\"]"));
    let moves: Vec<String> = records[0].game.moves().iter().map(ToString::to_string).collect();
    assert_eq!(json!(moves), game["moves"]);
    assert_eq!(records[0].result, records[0].game.outcome().into());

    let (record, written) = recorded(&stage, "first");
    assert_eq!((record.variant.as_str(), json!(written)), ("italian-draughts", json!(moves)));
    assert!(record.ended_at.is_some());
    let chess = stage.get("api/games").send().await.expect("an answer").text().await.expect("text");
    assert!(!chess.contains("italian"), "the page's list is of chess: {chess}");
}

fn recorded(stage: &PlayStage, id: &str) -> (GameRecord<String>, Vec<String>) {
    let archive = Archive::open(stage.runtime.journal.path()).expect("a journal to read");
    assert!(archive.games(&Filter::default()).expect("readable").is_empty(), "chess reports see none of them");
    let games = archive.games_of_all_kinds(&Filter::default()).expect("readable");
    let record = games.into_iter().find(|record| record.game.as_str() == id).expect("the game");
    let moves = archive.moves(&record).expect("readable").into_iter().map(|played| played.uci).collect();
    (record, moves)
}

#[testkit::test]
async fn journal_records_takeback_and_win() {
    let stage = opened().await;
    let opponent = json!({ "name": "council", "depth": 1 });
    // Black loses the man by any move.
    let mut game = json!({ "id": "second", "start": "B:W26:B18" });
    for _ in 0..2 {
        let answer = answer(&stage, &game, &opponent).await;
        let view = look(&stage, &json!({ "start": "B:W26:B18", "moves": answer["game"]["moves"] })).await;
        let (record, moves) = recorded(&stage, "second");
        assert_eq!(moves, texts(&json!([answer["game"]["last"]])));
        assert_eq!((record.result, record.ended_at), (None, None), "an end that was taken back is none");
        game = json!({ "id": "second", "start": "B:W26:B18", "moves": [] });
        let taken = json!([view["moves"][0], view["legal"][0]["text"]]);
        let over = look(&stage, &json!({ "id": "second", "start": "B:W26:B18", "moves": taken })).await;
        assert!(over["over"].as_str().is_some_and(|said| said.starts_with("White won")), "{over}");
        let (record, moves) = recorded(&stage, "second");
        assert_eq!((json!(moves), record.result), (taken, Some(GameResult::Lost)));
        assert_eq!((record.white.name.as_str(), record.black.name.as_str()), ("Guest", "council"));
    }
    look(&stage, &json!({ "id": "third", "start": "B:W9,10,13,14:B5" })).await;
    refused(&stage, "api/draughts", &json!({ "id": "../../etc" })).await;
    // A game of chess keeps its moves, whatever the name of a game of draughts.
    let game = domain::GameInfo::from_start(
        "ofchess1",
        domain::GameTerms {
            variant: domain::Variant::Standard,
            time_control: domain::TimeControl::Unlimited,
            rated: false,
        },
        domain::Player::named("Concilio"),
        domain::Player::named("Guest"),
    );
    stage.runtime.journal.game_started(&"page".into(), &game);
    let taken = json!({ "game": { "id": "ofchess1", "moves": [] }, "opponent": opponent });
    assert!(refused(&stage, "api/draughts/answer", &taken).await.contains("ofchess1"));
    let archive = Archive::open(stage.runtime.journal.path()).expect("a journal to read");
    let games = archive.games_of_all_kinds(&Filter::default()).expect("readable");
    let draughts = games.iter().filter(|game| game.game.as_str() != "ofchess1").count();
    assert_eq!(draughts, 1, "a game without an answered move is not written");
}

#[testkit::test]
async fn draughts_follows_the_play_permission() {
    let addresses = ["api/draughts", "api/draughts/answer", "api/draughts/pdn"];
    let stage = opened().await;
    for path in addresses {
        let foreign = stage.post(path, &json!({})).header("sec-fetch-site", "cross-site");
        assert_eq!(foreign.send().await.expect("an answer").status(), StatusCode::FORBIDDEN, "{path}");
    }
    let stage = opened_with(secret(true)).await;
    for path in addresses {
        let stranger = stage.post(path, &json!({})).send().await.expect("an answer");
        assert_eq!(stranger.status(), StatusCode::UNAUTHORIZED, "{path}");
    }
    let operator = stage.post("api/draughts", &json!({})).bearer_auth(SECRET).send().await.expect("an answer");
    assert_eq!(operator.status(), StatusCode::OK);
}
