//! Tests of a daemon that is down for a while, and of two daemons at once.

use std::{fs, path::Path, time::Duration};

use bot::journal::{Archive, GameKey, GameRecord};
use domain::{GameId, GameStatus};
use practice::AccountId;

use super::{
    harness::{BOT, PARTNER, SERVER, Story, seen, tc, within},
    restart::Daemon,
};

const QUICK: &str = "[challenge]\nfriends = ['Partner']\n[player.council]\nroster = 'trivial'\n";

fn record_of(journal: &Path, game: &GameId) -> Option<GameRecord> {
    Archive::open(journal).ok()?.game(&GameKey::new(&SERVER.into(), game)).ok()?
}

/// Promise 5: the daemon is killed, its game is lost or won without it, and the journal has the result, the moves and the PGN
/// soon after the next start.
#[testkit::test]
async fn missed_game_end_gets_its_result() {
    let story = Story::set_the_stage(|plan| {
        plan.time_control = tc("60+0");
        plan.partner_thinks = Duration::from_millis(200);
    })
    .await;
    let mut daemon = Daemon::run(&story, QUICK);
    let game = story.challenge().await;
    story.ply(&game, 4).await;
    daemon.kill();
    let id = game.clone();
    let resigned = story.server.ask(move |state| state.resign(&id, &AccountId::of(PARTNER))).await.expect("a server");
    resigned.expect("the game runs");
    let report = within("the end", story.server.wait_for_end(&game)).await.expect("a report");

    let _daemon = Daemon::run(&story, QUICK);
    let journal = story.journal_path();
    let record =
        seen("the record to be whole", || record_of(&journal, &game).filter(|game| game.pgn_path.is_some())).await;
    assert_eq!((&record.status, record.winner), (&GameStatus::Resign, report.color_of(BOT)));
    let moves: Vec<_> = story.journal_of(&game).iter().map(|record| record.uci).collect();
    assert_eq!(moves, report.line.moves());
    let pgn = fs::read_to_string(record.pgn_path.expect("a file")).expect("readable");
    assert!(pgn.contains("[Termination \"Normal\"]") && !pgn.contains("[Result \"*\"]"), "{pgn}");
}

/// Two daemons with one journal: the second refuses to start, and names the first.
#[testkit::test]
async fn second_daemon_on_a_journal_fails() {
    let story = Story::set_the_stage(|_| ()).await;
    let _first = Daemon::run(&story, QUICK);
    within("the first to be online", story.server.wait_until_online(BOT)).await.expect("a server");
    let second = Daemon::run(&story, QUICK);
    assert!(!second.ends().await.success());
    let log = fs::read_to_string(story.folder.path().join("log")).expect("a log");
    assert!(log.contains("is writing it; stop that program"), "{log}");
    assert!(record_of(&story.journal_path(), &GameId::new("none")).is_none());
}

/// Two daemons with one token take the event stream from each other: their owner is told why, once, with the remedy.
#[testkit::test]
async fn shared_token_is_reported_once() {
    let story = Story::set_the_stage(|_| ()).await;
    let other = tempfile::tempdir().expect("a folder");
    let _first = Daemon::run(&story, QUICK);
    let _second = Daemon::run_in(other.path(), &story, QUICK);
    for folder in [story.folder.path(), other.path()] {
        let told = || {
            let log = fs::read_to_string(folder.join("log")).ok()?;
            let told = log.lines().filter(|line| line.contains("Stop the other program")).count();
            (told > 0).then_some(told)
        };
        assert_eq!(seen("a word about the other daemon", told).await, 1);
    }
}
