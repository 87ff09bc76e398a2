//! An owner of another bot changes over: one command, and the new bot plays the same openings with the same engine by the same rules.

use std::{fs, os::unix::fs::PermissionsExt as _, process::Stdio, sync::Arc, time::Duration};

use async_trait::async_trait;
use bot::journal::Archive;
use domain::UciMove;
use practice::{GameView, PracticeServer, PracticeSettings, Sparring};
use rustix::process::{Pid, Signal, kill_process};
use sources::book::BookMaker;
use tokio::{process::Command, time::timeout};

use super::concilio;
use crate::lichess::electors::program;

const OPENING: [&str; 6] = ["e2e4", "e7e5", "g1f3", "b8c6", "f1c4", "f8c5"];
const PATIENCE: Duration = Duration::from_secs(180);

/// Plays the opening, and then the first legal move.
struct BookPartner;

#[async_trait]
impl Sparring for BookPartner {
    async fn choose(&self, game: &GameView) -> Option<UciMove> {
        let opening = OPENING.get(game.line.ply()).and_then(|text| text.parse().ok());
        opening.filter(|uci| game.line.is_legal(*uci)).or_else(|| game.line.legal_moves().first().copied())
    }
}

/// A configuration of lichess-bot: a book, the explorer, matchmaking, and an engine that speaks one of two protocols.
fn configuration(server: &PracticeServer, token: &str, protocol: &str) -> String {
    format!(
        "token: {token}
url: {url}
engine:
  dir: ./engines
  name: {protocol}-engine
  protocol: {protocol}
  ponder: false
  polyglot: {{enabled: true, book: {{standard: [main.bin]}}, max_depth: 2, selection: best_move}}
  online_moves:
    max_depth: 3
    lichess_opening_explorer: {{enabled: true, min_time: 0, source: masters, sort: games_played, min_games: 1}}
  {protocol}_options: {{go_commands: {{depth: 3}}}}
challenge: {{concurrency: 1, accept_bot: false, variants: [standard], time_controls: [bullet], modes: [casual]}}
matchmaking:
  allow_matchmaking: true
  challenge_timeout: 0
  challenge_variant: standard
  challenge_mode: casual
  challenge_initial_time: [60]
  challenge_increment: [1]
  opponent_rating_difference: 4000
",
        url = server.url()
    )
}

#[testkit::test]
async fn imported_lichess_bot_settings_play() {
    for protocol in ["uci", "xboard"] {
        let server = PracticeServer::start(PracticeSettings::default()).await.expect("a server");
        let token = server.add_account("Mover", true).await.expect("an account");
        server.sparring_with("Partner", Arc::new(BookPartner)).await.expect("a partner");
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        fs::create_dir(path("engines")).expect("made");
        let face = if protocol == "uci" { "uci --single" } else { "xboard" };
        let text = format!("exec {} {face}", env!("CARGO_BIN_EXE_concilio"));
        program(&path("engines"), &format!("{protocol}-engine"), &text);
        let mut book = BookMaker::default();
        book.add_text(&format!("! Italian\n{}\n", OPENING.join(" "))).expect("a line");
        fs::write(path("main.bin"), book.to_bytes()).expect("written");
        fs::write(path("config.yml"), configuration(&server, &token, protocol)).expect("written");

        let imported = concilio(&["config", "import", "lichess-bot", "config.yml", "--output", "bot.toml"])
            .current_dir(folder.path())
            .output()
            .expect("it runs");
        assert!(imported.status.success(), "{}", String::from_utf8_lossy(&imported.stderr));
        let mode = fs::metadata(path("lichess.token")).expect("the token").permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "other users cannot read the token");
        assert!(!fs::read_to_string(path("bot.toml")).expect("ours").contains(&token));

        let mut daemon = Command::new(env!("CARGO_BIN_EXE_concilio"));
        daemon
            .args(["run", "--config", "bot.toml", "--set", "player.online.explorer.service.pause=0"])
            .args(["--set", &format!("player.online.explorer.service.url={}", server.url())])
            .env_remove("RUST_LOG")
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .kill_on_drop(true);
        let mut daemon = daemon.spawn().expect("it starts");
        let game = timeout(PATIENCE, server.wait(|state| state.reports().first().map(|game| game.id.clone())));
        let game = tokio::select! {
            game = game => game.expect("it challenges the partner").expect("a server"),
            ended = daemon.wait() => panic!("it ended: {ended:?}"),
        };
        let report = timeout(PATIENCE, server.wait_for_ply(&game, 12)).await.expect("twelve plies").expect("a server");
        assert!(!report.terms.rated);
        let id = daemon.id().and_then(|id| Pid::from_raw(id.cast_signed())).expect("it runs");
        kill_process(id, Signal::KILL).expect("it runs");
        daemon.wait().await.expect("a status");

        let archive = Archive::open(&path("data/journal.db")).expect("a journal");
        let games = archive.games(&Default::default()).expect("readable");
        let record = games.first().expect("the game");
        let moves = archive.moves(record).expect("readable");
        let ours: Vec<(String, String)> =
            moves.into_iter().filter_map(|played| Some((played.uci.to_string(), played.ours?.source))).collect();
        let colour = usize::from(record.our_color == domain::Color::Black);
        let expected: Vec<(String, String)> =
            OPENING.iter().skip(colour).step_by(2).take(2).map(|uci| ((*uci).to_owned(), "book".to_owned())).collect();
        assert_eq!(&ours[..2], expected, "two moves of the book, as before");
        assert!(["explorer", "council"].contains(&ours[2].1.as_str()), "one of the explorer, if it is quick: {ours:?}");
        assert!(ours.len() > 3 && ours[3..].iter().all(|(_, source)| source == "council"), "then the engine: {ours:?}");
    }
}
