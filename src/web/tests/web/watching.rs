use futures_util::StreamExt;
use serde_json::Value;

use crate::events::{ToldGame, connect};
use practice::SparringKind;
use stage::{PlayStage, game};
use testkit::within;

pub(crate) struct Listener {
    bytes: futures_util::stream::BoxStream<'static, Vec<u8>>,
    read: String,
    /// Number of bytes of `read` known to have no end of an event.
    searched: usize,
}

impl Listener {
    pub(crate) async fn begin(stage: &PlayStage, path: &str) -> Self {
        let response = stage.get(path).send().await.expect("a stream");
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        let bytes = response.bytes_stream().map(|bytes| bytes.map(|bytes| bytes.to_vec()).unwrap_or_default());
        Self { bytes: bytes.boxed(), read: String::new(), searched: 0 }
    }

    pub(crate) async fn next(&mut self) -> (String, Value) {
        loop {
            if let Some(end) = self.read[self.searched..].find("\n\n").map(|at| self.searched + at) {
                let rest = self.read.split_off(end + 2);
                let event = std::mem::replace(&mut self.read, rest);
                self.searched = 0;
                let mut lines = event.lines();
                let name = lines.next().and_then(|line| line.strip_prefix("event: ")).map(str::to_owned);
                let data = lines.next().and_then(|line| line.strip_prefix("data: "));
                if let (Some(name), Some(data)) = (name, data) {
                    return (name, serde_json::from_str(data).expect("JSON"));
                }
                continue;
            }
            self.searched = self.read.len().saturating_sub(1);
            let more = within("an event", self.bytes.next()).await.expect("a stream that goes on");
            self.read.push_str(&String::from_utf8(more).expect("text"));
        }
    }

    async fn until(&mut self, mut found: impl FnMut(&Value) -> bool) -> Value {
        loop {
            let (_, value) = self.next().await;
            if found(&value) {
                return value;
            }
        }
    }
}

#[testkit::test]
async fn watcher_gets_state_then_changes() {
    let stage = PlayStage::open().await;
    connect(&stage.runtime.event_bus, "Concilio");
    let mut game = ToldGame::begin(&stage.runtime.event_bus, "abcdefgh", "Ann");
    let mut listener = Listener::begin(&stage, "api/events").await;
    let (name, whole) = listener.next().await;
    assert_eq!(name, "whole");
    let shown = if whole["games"]["told/abcdefgh"].is_null() {
        // The events were still on their way.
        listener.until(|frame| !frame["games"]["told/abcdefgh"].is_null()).await
    } else {
        whole
    };
    assert_eq!(shown["games"]["told/abcdefgh"]["head"]["black"]["name"], "Ann");

    game.play("e2e4");
    let frame = listener.until(|frame| frame["games"]["told/abcdefgh"]["board"]["ply"] == 1).await;
    let parts = &frame["games"]["told/abcdefgh"];
    assert_eq!((&parts["board"]["last"], &parts["board"]["moves"][0]), (&"e2e4".into(), &"e4".into()));
    assert!(parts["head"].is_null(), "what has not changed is not sent again");
    game.play("e7e5");
    game.propose("mp", 5);
    let frame = listener.until(|frame| !frame["games"]["told/abcdefgh"]["votes"].is_null()).await;
    let row = &frame["games"]["told/abcdefgh"]["votes"]["rows"][0];
    assert_eq!((&row["elector"], &row["depth"], &row["score"]), (&"mp".into(), &5.into(), &"+0.34".into()));
    let status: Value = stage.get("api/status").send().await.expect("an answer").json().await.expect("JSON");
    assert_eq!(status["accounts"]["told"]["name"], "Concilio");
}

#[testkit::test]
async fn game_is_shown_to_its_result() {
    let stage = PlayStage::open().await;
    let mut listener = Listener::begin(&stage, "api/events").await;
    let bot = stage.bot(SparringKind::Greedy).await;
    let game = game(&bot, "30+0.1").await;
    let key = format!("practice/{game}");
    let (mut voted, mut decided) = (false, false);
    let over = listener.until(|frame| {
        let parts = &frame["games"][&key];
        voted |= parts["votes"]["rows"].as_array().is_some_and(|rows| rows.iter().any(|row| row["weight"].is_number()));
        decided |= parts["decision"]["summary"].is_string();
        parts["over"]["words"].is_string()
    });
    let over = over.await;
    assert!(voted && decided);
    assert!(over["games"][&key]["over"]["result"] != "*", "{over}");
}

#[testkit::test]
async fn slow_watcher_is_bounded() {
    let stage = PlayStage::open().await;
    let mut slow = Listener::begin(&stage, "api/events").await;
    let (name, _) = slow.next().await;
    assert_eq!(name, "whole");
    let games: Vec<ToldGame> =
        (0..10).map(|index| ToldGame::begin(&stage.runtime.event_bus, &format!("game{index:04}"), "Ann")).collect();
    let mut quick = Listener::begin(&stage, "api/events").await;
    // More than sockets hold: ten games' talk in each frame, a quarter of a megabyte before long.
    for _ in 0..60 {
        games.iter().for_each(|game| (0..4).for_each(|_| game.say("Ann", &"x".repeat(400))));
        quick.next().await;
    }
    games[0].say("Ann", "the last word");
    let last = |value: &Value| {
        let chat = value["games"]["told/game0000"]["chat"].as_array().cloned().unwrap_or_default();
        chat.last().is_some_and(|line| line["text"] == "the last word")
    };
    let mut frames = 0;
    let counted = slow.until(|value| {
        frames += 1;
        last(value)
    });
    within("the slow watcher to catch up", counted).await;
    assert!(frames < 61, "the slow watcher got every one of {frames} frames");
}
