//! Tests of the operator's view and commands: the log, `concilio ctl`, reloaded settings.

use std::{fs, path::Path, process::Command};

use domain::TournamentKind;
use practice::{AccountId, ChallengeState, End};
use rustix::process::Signal;
use stage::client;

use super::{
    harness::{BOT, PARTNER, Story, seen, tc, within},
    restart::Daemon,
};

/// Quick games, one at a time.
pub(super) const SETTINGS: &str = "[challenge]\nfriends = ['Partner']
[player.council]\nroster = 'mp ma'\nhash = 1\n[player.limits]\nnodes = 2000\n";

/// The lines that the daemon has written, as far as they are whole.
pub(super) fn log(story: &Story) -> Vec<String> {
    let text = fs::read_to_string(story.folder.path().join("log")).unwrap_or_default();
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    whole.lines().map(str::to_owned).collect()
}

/// Waits until a line of the log holds all of these words.
pub(crate) async fn logged(story: &Story, words: &[&str]) -> String {
    let found = || log(story).into_iter().find(|line| words.iter().all(|word| line.contains(word)));
    seen(&format!("a line of the log with {words:?}"), found).await
}

/// `concilio ctl` with the daemon's own settings; returns the output.
pub(super) async fn ctl(story: &Story, words: &[&str]) -> Result<String, String> {
    concilio(story, &[&["ctl"][..], words].concat()).await
}

/// Runs the program with the daemon's own settings. Returns its output, as an error if it failed.
pub(super) async fn concilio(story: &Story, words: &[&str]) -> Result<String, String> {
    let config = story.folder.path().join("concilio.toml");
    let mut command = Command::new(env!("CARGO_BIN_EXE_concilio"));
    command.args(words).arg("--config").arg(config).env_remove("RUST_LOG");
    let output = tokio::task::spawn_blocking(move || command.output()).await.expect("no panic").expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) }
}

/// One game, from the connection to the end of the program, in the lines that an operator reads.
#[testkit::test]
async fn log_describes_a_whole_game() {
    let story = Story::set_the_stage(|_| ()).await;
    let settings = format!("{SETTINGS}[log]\nfile = '{}'\n", story.folder.path().join("days/concilio.log").display());
    let daemon = Daemon::run_quietly(&story, &settings);
    let game = story.challenge().await;
    story.played(&game).await;
    logged(&story, &["over:"]).await;
    daemon.closes().await;

    let lines = log(&story);
    let told: Vec<&str> = lines.iter().filter_map(|line| line.get(20..)).collect();
    let position = |words: &[&str]| {
        let found: Vec<usize> =
            (0..told.len()).filter(|&at| words.iter().all(|word| told[at].contains(word))).collect();
        assert_eq!(found.len(), 1, "{words:?}, said once: {told:#?}");
        found[0]
    };
    let order = [
        position(&[" INFO practice: connected as BOT Concilio"]),
        position(&[" INFO practice: challenge from BOT Partner", ", 0.5+0.1 casual", ": accepted, it suits"]),
        position(&[&format!(" INFO practice: game {game} begun: "), "against BOT Partner", &story.server.url()]),
        position(&[&format!(" INFO practice: game {game} over: "), " against BOT Partner", " moves, written to "]),
        position(&[" INFO stopping: finishing the running games"]),
        position(&[" INFO practice: closed"]),
    ];
    assert!(order.is_sorted(), "{told:#?}");
    for line in &lines {
        let soup = ["Some(", "None", "Id(", "{ ", "=\""].iter().any(|debug| line.contains(debug));
        assert!(!soup && line.starts_with("20") && line.len() < 400, "{line}");
    }
    // One, or two where it has become midnight meanwhile.
    let days = fs::read_dir(story.folder.path().join("days")).expect("a folder");
    let written = days.map(|day| fs::read_to_string(day.expect("readable").path()).expect("a log").lines().count());
    assert_eq!(written.sum::<usize>(), lines.len(), "the files say the same");
}

/// An account that the server will not have ends the program with one line that says why, and with a status of its own, by which a
/// service manager knows that another start would not help.
#[testkit::test]
async fn rejected_account_is_logged_once() {
    for human in [false, true] {
        let mut story = Story::set_the_stage(|_| ()).await;
        story.token = match human {
            true => story.server.add_account("Human", false).await.expect("a new account"),
            false => "lip_nobody".to_owned(),
        };
        let daemon = Daemon::run_quietly(&story, SETTINGS);
        assert_eq!(daemon.ends().await.code(), Some(77));
        let lines = log(&story);
        let words = "ERROR practice: cannot play: ";
        let (_, reason) = lines.iter().find_map(|line| line.split_once(words)).expect("a line that says so");
        assert_eq!(lines.iter().filter(|line| line.contains(reason)).count(), 1, "{lines:#?}");
        assert!(lines.last().is_some_and(|line| line.contains(reason)), "{lines:#?}");
    }
}

/// For machines, every line is an object that says what happened, where, and in which game.
#[testkit::test]
async fn json_log_has_an_object_per_line() {
    let story = Story::set_the_stage(|_| ()).await;
    let daemon = Daemon::run_with(story.folder.path(), &story, SETTINGS, &["--log-format", "json"]);
    let game = story.challenge().await;
    story.played(&game).await;
    logged(&story, &["game_over"]).await;
    daemon.closes().await;
    let objects: Vec<serde_json::Value> =
        log(&story).iter().map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect();
    for event in ["connected", "challenge", "game_started", "game_over", "closed"] {
        let of_kind: Vec<_> = objects.iter().filter(|object| object["event"] == event).collect();
        let [object] = of_kind.as_slice() else { panic!("{event}: {of_kind:#?}") };
        assert_eq!(object["account"], "practice", "{object}");
        assert_eq!(object["game"] == game.as_str(), event.starts_with("game"), "{object}");
    }
}

/// The operator asks and orders while a game runs.
#[testkit::test]
async fn daemon_obeys_its_operator() {
    let story = Story::set_the_stage(|plan| plan.time_control = tc("600+5")).await;
    // The game is not to end by itself while the operator speaks, on however busy a machine.
    story.partner_stops_at(2);
    assert!(
        ctl(&story, &["--socket", "/no/such/socket", "status"]).await.is_err_and(|said| said.contains("no daemon"))
    );
    let daemon = Daemon::run_quietly(&story, SETTINGS);
    let game = story.challenge().await;
    story.ply(&game, 2).await;

    let status = ctl(&story, &["status"]).await.expect("it runs");
    assert!(status.contains("practice: connected as BOT Concilio, playing"), "{status}");
    assert!(status.contains(&format!("game {game}: ")) && status.contains("against Partner"), "{status}");
    let json: serde_json::Value =
        serde_json::from_str(&ctl(&story, &["status", "--json"]).await.expect("it runs")).expect("JSON");
    assert_eq!(json["accounts"]["practice"]["name"], BOT);

    let said = ctl(&story, &["chat", game.as_str(), "good", "luck"]).await.expect("it can speak");
    assert!(said.contains("good luck"), "{said}");
    logged(&story, &["operator command", "good luck"]).await;

    ctl(&story, &["pause"]).await.expect("it can pause");
    let refused = story.challenge().await;
    let id = refused.as_str().into();
    let declined = story.server.wait(move |state| {
        let state = state.challenge_view(&id)?.state;
        matches!(state, ChallengeState::Declined(_)).then_some(())
    });
    within("the challenge to be declined", declined).await.expect("a server");
    logged(&story, &["challenge from", "declined, the bot is paused by its operator"]).await;
    ctl(&story, &["resume"]).await.expect("it plays again");
    for words in ["paused: no new games", "accepting games again"] {
        let told = log(&story).into_iter().filter(|line| line.contains(words)).count();
        assert_eq!(told, 1, "{words}, said once");
    }

    for kind in [TournamentKind::Arena, TournamentKind::Swiss] {
        story.server.ask(move |state| state.announce_tournament(kind, "open0001")).await.expect("a server");
        let there = |state: &mut practice::ServerState, kind| {
            state.participants(kind, "open0001").is_some_and(|those| those.contains(&AccountId::of(BOT)))
        };
        let page = format!(
            "https://lichess.org/{}/open0001",
            if kind == TournamentKind::Arena { "tournament" } else { "swiss" }
        );
        ctl(&story, &["join", &page]).await.expect("it is open");
        assert!(story.server.ask(move |state| there(state, kind)).await.expect("a server"), "{page}");
        ctl(&story, &["leave", &page]).await.expect("it takes part");
        assert!(!story.server.ask(move |state| there(state, kind)).await.expect("a server"), "{page}");
    }
    let none = ctl(&story, &["join", "nowhere0"]).await.expect_err("there is no such tournament");
    assert!(none.contains("not found"), "{none}");

    let nowhere = ctl(&story, &["resign", "nogame00"]).await.expect_err("there is no such game");
    assert!(nowhere.contains("no account plays a game nogame00"), "{nowhere}");
    ctl(&story, &["resign", game.as_str()]).await.expect("it can resign");
    let report = within("the end of the game", story.server.wait_for_end(&game)).await.expect("a report");
    let end = report.outcome.as_ref().expect("over").end;
    assert_eq!((end, report.winner()), (End::Resignation, Some(PARTNER)));

    ctl(&story, &["drain"]).await.expect("it can end");
    assert!(daemon.ends().await.success());
    assert!(!Path::new(&story.folder.path().join("journal.db.sock")).exists(), "the socket is gone with the daemon");
}

/// The operator's wish for a draw reaches the opponent, at once or with our next move.
#[testkit::test]
async fn operator_can_offer_a_draw() {
    let story = Story::set_the_stage(|plan| plan.time_control = tc("600+5")).await;
    let daemon = Daemon::run_quietly(&story, SETTINGS);
    let game = story.challenge().await;
    // By the fourth ply the daemon has answered a move after its first, so it knows that both sides have moved.
    story.ply(&game, 4).await;
    let id = game.clone();
    // The partner may decline it by a move that is on its way already.
    let offered = story.server.wait(move |state| state.game_view(&id)?.draw_offer.map(drop));
    let command = ["draw", game.as_str()];
    let asked = async {
        let said = ctl(&story, &command).await.expect("it can offer one");
        assert!(said.contains("draw offer"), "{said}");
    };
    let (offered, ()) = tokio::join!(within("the offer", offered), asked);
    offered.expect("a server");
    logged(&story, &["operator command", "draw offer"]).await;
    daemon.closes().await;
}

/// New settings hold for later games, bad ones change nothing, and neither costs a game.
#[testkit::test]
async fn settings_reload_during_a_game() {
    let story = Story::set_the_stage(|_| ()).await;
    let daemon = Daemon::run_quietly(&story, SETTINGS);
    let game = story.challenge().await;
    story.ply(&game, 4).await;
    let config = story.folder.path().join("concilio.toml");
    let written = fs::read_to_string(&config).expect("the settings");

    // The command finds the socket by the same settings: while these are bad, it gets the socket's name.
    let socket = story.folder.path().join("journal.db.sock").display().to_string();
    fs::write(&config, written.replace("nodes = 2000", "nodes = 'many'")).expect("written");
    let error = ctl(&story, &["--socket", &socket, "reload"]).await.expect_err("it is wrong");
    assert!(error.contains("nothing changed") && error.contains("player.limits.nodes"), "{error}");

    let changed = written.replace("nodes = 2000", "nodes = 3000") + "[web]\nwatchers = 5\n";
    fs::write(&config, changed).expect("written");
    daemon.send(Signal::HUP);
    let said = logged(&story, &["SIGHUP: ", "player.limits.nodes"]).await;
    assert!(said.contains("web.watchers needs a restart"), "{said}");
    let again = ctl(&story, &["reload"]).await.expect("it is read");
    assert!(again.contains("nothing changed"), "{again}");
    story.played(&game).await;
    let next = story.challenge().await;
    story.played(&next).await;
    daemon.closes().await;
}

/// The page's server answers Prometheus and health checks.
#[testkit::test]
async fn a_daemon_tells_how_it_is() {
    let story = Story::set_the_stage(|_| ()).await;
    let settings = format!("{SETTINGS}[web]\naddress = '127.0.0.1:0'\n");
    let daemon = Daemon::run_quietly(&story, &settings);
    let game = story.challenge().await;
    story.played(&game).await;
    logged(&story, &["over:"]).await;
    let line = logged(&story, &["the page is at http://127.0.0.1:"]).await;
    let (_, url) = line.rsplit_once(' ').expect("an address");
    let client = client();
    let get = async |path: &str| {
        let answer = within("an answer", client.get(format!("{url}{path}")).send()).await.expect("an answer");
        (answer.status().as_u16(), answer.text().await.expect("a text"))
    };
    assert_eq!((get("live").await.0, get("ready").await), (200, (200, "ready\n".to_owned())));
    let (status, measured) = get("metrics").await;
    assert_eq!(status, 200);
    for expected in [
        "concilio_connected{account=\"practice\"} 1",
        "concilio_games_running{account=\"practice\"} 0",
        "concilio_games_total{account=\"practice\",result=\"",
        "concilio_moves_total{account=\"practice\",source=\"council\"}",
        "concilio_decision_seconds_bucket{account=\"practice\",le=\"",
        "concilio_move_lag_seconds_count{account=\"practice\"}",
        "concilio_journal_seconds_count",
        "concilio_cores{where=\"here\"}",
    ] {
        assert!(measured.contains(expected), "{expected} in {measured}");
    }
    let resident = measured.lines().find_map(|line| line.strip_prefix("concilio_resident_bytes "));
    assert!(resident.is_some_and(|bytes| bytes.parse::<f64>().is_ok_and(|bytes| bytes > 1e6)), "{measured}");
    daemon.closes().await;
}
