use reqwest::StatusCode;
use serde_json::{Value, json};

use crate::watching::Listener;
use stage::{PlayStage, status};

struct Guest<'a> {
    stage: &'a PlayStage,
    game: String,
    key: String,
    events: Listener,
}

impl<'a> Guest<'a> {
    async fn begin(stage: &'a PlayStage, request: Value) -> Self {
        let begun = stage.post("api/play", &request).send().await.expect("an answer");
        assert!(begun.status().is_success(), "{:?}", begun.text().await);
        let begun: Value = begun.json().await.expect("JSON");
        let text = |key: &str| begun[key].as_str().expect("text").to_owned();
        let (game, key) = (text("game"), text("key"));
        let events = Listener::begin(stage, &format!("api/play/{game}/events?key={key}")).await;
        Self { stage, game, key, events }
    }

    async fn act(&self, mut act: Value) -> reqwest::Response {
        act["key"] = self.key.clone().into();
        self.stage.post(&format!("api/play/{}", self.game), &act).send().await.expect("an answer")
    }

    async fn board(&mut self, found: impl Fn(&Value) -> bool) -> Value {
        loop {
            let (name, board) = self.events.next().await;
            if name == "board" && found(&board) {
                return board;
            }
        }
    }
}

#[testkit::test]
async fn game_offers_takeback_and_hint() {
    let stage = PlayStage::open().await;
    let mut guest = Guest::begin(&stage, json!({ "color": "white", "time_control": "10+5", "nodes": 500 })).await;
    let board = guest.board(|board| board["legal"].as_array().is_some_and(|legal| legal.len() == 20)).await;
    assert_eq!((&board["color"], &board["turn"]), (&"white".into(), &"white".into()));

    let illegal = guest.act(json!({ "act": "move", "uci": "e2e5" })).await;
    assert_eq!(illegal.status(), StatusCode::BAD_REQUEST);
    assert!(guest.act(json!({ "act": "move", "uci": "e2e4" })).await.status().is_success());
    let board = guest.board(|board| board["ply"] == 2).await;
    assert_eq!(board["moves"][0], "e4");

    assert!(guest.act(json!({ "act": "takeback" })).await.status().is_success());
    guest.board(|board| board["ply"] == 0 && board["turn"] == "white").await;
    let hint: Value = guest.act(json!({ "act": "hint" })).await.json().await.expect("JSON");
    assert!(
        hint["hint"]["san"].is_string() && hint["hint"]["votes"].as_array().is_some_and(|votes| votes.len() == 3),
        "{hint}"
    );

    assert!(guest.act(json!({ "act": "move", "uci": "d2d4" })).await.status().is_success());
    guest.board(|board| board["ply"] == 2).await;
    assert!(guest.act(json!({ "act": "resign" })).await.status().is_success());
    let board = guest.board(|board| board["over"].is_string()).await;
    assert_eq!(board["over"], "Black won by resignation");

    // It is a game like any other: it stands in the overview and in the journal.
    let key = format!("page/{}", guest.game);
    let status: Value = stage.get("api/status").send().await.expect("an answer").json().await.expect("JSON");
    assert!(status["games"][&key]["head"].is_object(), "{status}");
    let replay = stage.get(&format!("api/games/{key}")).send().await.expect("an answer");
    assert!(replay.status().is_success());
}

#[testkit::test]
async fn council_begins_with_white() {
    let stage = PlayStage::open().await;
    let fen = "4k3/P7/8/8/8/8/8/4K3 w - - 0 1";
    let mut guest = Guest::begin(&stage, json!({ "color": "white", "fen": fen, "roster": "mp ma" })).await;
    let board = guest.board(|board| board["legal"].is_array()).await;
    let promotions = board["legal"].as_array().expect("moves").iter().filter(|legal| legal["to"] == "a8").count();
    assert_eq!(promotions, 4);
    let mut guest = Guest::begin(&stage, json!({ "color": "black", "preset": "gnupar", "nodes": 200 })).await;
    let board = guest.board(|board| board["turn"] == "black").await;
    assert_eq!(board["ply"], 1);
}

#[testkit::test]
async fn only_players_of_a_game_may_act() {
    let stage = PlayStage::open().await;
    let guest = Guest::begin(&stage, json!({ "color": "white" })).await;
    let stranger = json!({ "key": "0".repeat(32), "act": "resign" });
    assert_eq!(status(stage.post(&format!("api/play/{}", guest.game), &stranger)).await, StatusCode::FORBIDDEN);
    assert_eq!(status(stage.post("api/play/nosuch", &stranger)).await, StatusCode::NOT_FOUND);
    let wrong = stage.post("api/play", &json!({ "roster": "unknown-7" })).send().await.expect("an answer");
    assert_eq!(wrong.status(), StatusCode::BAD_REQUEST);
    assert!(wrong.text().await.expect("text").contains("knowledge letters"));
}

#[testkit::test]
async fn page_plays_by_reloaded_settings() {
    let stage = PlayStage::open().await;
    stage.page_player.send_modify(|player| player.council.roster = "balanced-7".to_owned());
    let menu: Value = stage.get("api/play").send().await.expect("an answer").json().await.expect("JSON");
    assert_eq!(menu["groups"][0]["councils"][0]["label"], "as the bot plays (balanced-7)");
}
