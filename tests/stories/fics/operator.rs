//! Tests of an operator's commands on FICS.

use bot::{
    journal::GameKey,
    session::{BotEvent, ControlCommand, GameEvent},
};
use platform::fics::{FicsSettings, Timeseal};
use practice::End;

use super::harness::{BOT, Daemon, ended, game_of, games_in, newcomer, server, settings, within};

/// One command, as `concilio ctl` sends it.
async fn does(daemon: &Daemon, json: &str) -> Result<String, String> {
    let command: ControlCommand = serde_json::from_str(json).expect(json);
    daemon.control.perform(command).await.map_err(|error| error.to_string())
}

#[testkit::test]
async fn fics_daemon_obeys_its_operator() {
    let server = server("").await;
    let daemon = Daemon::start(&server, BOT).await;
    let mut ann = newcomer(&server, "Ann").await;
    let challenge = r#"{"command":"challenge","name":"Ann","time_control":"10+5","color":"white"}"#;
    // It is online before it has set itself up, and before it listens to its operator.
    let said = within("the challenge", async {
        loop {
            match does(&daemon, challenge).await {
                Err(why) if ["not connected", "no account is running"].iter().any(|early| why.contains(early)) => {
                    tokio::task::yield_now().await;
                }
                said => return said.expect("she is there"),
            }
        }
    })
    .await;
    assert!(said.contains("challenge sent to Ann"), "{said}");
    ann.until("Challenge: Concilio").await;
    ann.say("accept").await;
    ann.until("{Game 1 (Concilio vs. Ann) Creating unrated").await;
    let game = game_of(&server, BOT).await;
    // The daemon has the first move, and makes it when it knows the game.
    within("our move", server.wait_for_ply(&game, 1)).await.expect("a report");
    let name = daemon.its_game().await;
    let of_game = |command: &str, more: &str| format!(r#"{{"command":"{command}","game":"{name}"{more}}}"#);
    let early = does(&daemon, &of_game("draw", "")).await.expect_err("she has not moved");
    assert!(early.contains("before both sides have moved"), "{early}");
    let said = does(&daemon, &of_game("chat", r#","text":"good luck""#)).await.expect("it can speak");
    assert!(said.contains("good luck"), "{said}");
    ann.until("says: good luck").await;

    ann.say("e7e5").await;
    within("our next move", server.wait_for_ply(&game, 3)).await.expect("a report");
    let said = does(&daemon, &of_game("draw", "")).await.expect("both have moved");
    assert!(said.contains("draw offered"), "{said}");
    ann.until("Concilio offers you a draw.").await;
    let said = does(&daemon, &of_game("resign", "")).await.expect("it can resign");
    assert!(said.contains("was resigned"), "{said}");
    let report = ended(&server, &game).await;
    assert_eq!((report.outcome.as_ref().expect("over").end, report.winner()), (End::Resignation, Some("Ann")));
    let is_gone = |why: String| why.contains("no account plays");
    within("the end to be known", async {
        while !does(&daemon, &of_game("draw", "")).await.is_err_and(is_gone) {
            tokio::task::yield_now().await;
        }
    })
    .await;

    let folder = daemon.closes().await;
    let (archive, games) = games_in(&folder);
    let [record] = games.as_slice() else { panic!("one game: {games:?}") };
    assert_eq!(record.key(), GameKey::new(&"fics".into(), &record.game));
    // The bot's own chat is in the record, although the server does not echo it.
    let ours: Vec<_> =
        archive.chat(record).expect("readable").into_iter().filter(|line| line.username == BOT).collect();
    assert!(ours.iter().any(|line| line.text == "good luck"), "{ours:?}");
}

/// The change of our rating is announced at the end of a rated game and stored in the journal.
#[testkit::test]
async fn rated_fics_game_reports_rating_change() {
    for dialect in ["freechess", "fatics", "capablanca", "uhlin"] {
        let server = server(&format!("dialect={dialect}")).await;
        // Not all of them have timeseal.
        let settings = FicsSettings { timeseal: Timeseal::Off, ..settings(&server, BOT) };
        let daemon = Daemon::start_with(&server, BOT, settings).await;
        let mut happens = daemon.events.listen();
        let mut ann = newcomer(&server, "Ann").await;
        ann.say("match concilio 5 0 rated white").await;
        ann.until("{Game 1 (Ann vs. Concilio) Creating rated").await;
        for (ply, uci) in ["e2e4", "d2d4"].into_iter().enumerate() {
            ann.say(uci).await;
            let game = game_of(&server, BOT).await;
            within("an answer", server.wait_for_ply(&game, 2 * ply + 2)).await.expect("a report");
        }
        ann.say("resign").await;
        ann.until("rating adjustment: ").await;
        let told = within("the end", async {
            loop {
                if let BotEvent::Game(_, GameEvent::Over { rating_change, .. }) =
                    &*happens.recv().await.expect("an event")
                {
                    return *rating_change;
                }
            }
        })
        .await;
        assert!(told.is_some_and(|points| points > 0), "{dialect}: {told:?}");
        let folder = daemon.closes().await;
        let (_, games) = games_in(&folder);
        let [record] = games.as_slice() else { panic!("one game: {games:?}") };
        assert_eq!(record.rating_change, told, "{dialect}");
        let pgn = std::fs::read_to_string(record.pgn_path.as_deref().expect("a PGN")).expect("readable");
        assert!(pgn.contains("[BlackRatingDiff \"+"), "{pgn}");
    }
}
