//! The program itself is killed, or told to stop, and started again.

use std::{
    fs::{self, OpenOptions},
    path::Path,
    process::{Command, ExitStatus, Stdio},
    time::Duration,
};

use domain::{Color, DeclineReason, Variant};
use practice::{
    AccountId, ChallengeState, End,
    faults::{RequestFault, RequestKind, Span, StreamFault, Streams, When},
};
use rustix::process::{Pid, Signal, kill_process};
use testkit::ChildProgram;

use super::{
    electors::{is_gone, program, uci_engine},
    harness::{BOT, SERVER, Story, seen, within},
};

/// `concilio run`, with everything logged to a file. Killed when dropped.
pub(in super::super) struct Daemon(ChildProgram);

impl Daemon {
    /// Starts it with these tables of settings, besides those that connect it to the story's server.
    pub(in super::super) fn run(story: &Story, settings: &str) -> Self {
        Self::run_in(story.folder.path(), story, settings)
    }

    /// Runs with journal, PGN, settings and log in another folder than the story's.
    pub(super) fn run_in(folder: &Path, story: &Story, settings: &str) -> Self {
        Self::run_with(folder, story, settings, &["--log", "trace"])
    }

    /// Logs as it does for its owner.
    pub(super) fn run_quietly(story: &Story, settings: &str) -> Self {
        Self::run_with(story.folder.path(), story, settings, &[])
    }

    /// Runs with other words before the subcommand.
    pub(super) fn run_with(folder: &Path, story: &Story, settings: &str, words: &[&str]) -> Self {
        let text = format!(
            "[servers.{SERVER}]\nurl = '{}'\n[journal]\npath = '{}'\npgn_directory = '{}'\n{settings}",
            story.server.url(),
            folder.join("journal.db").display(),
            folder.join("pgn").display(),
        );
        Self::start(folder, &text, words, &[("CONCILIO_LICHESS_TOKEN", &story.token)])
    }

    /// Starts with all settings, and these variables in the environment.
    pub(in super::super) fn start(folder: &Path, settings: &str, words: &[&str], environment: &[(&str, &str)]) -> Self {
        let config = folder.join("concilio.toml");
        fs::write(&config, settings).expect("written");
        let log = OpenOptions::new().create(true).append(true).open(folder.join("log")).expect("a log");
        let child = Command::new(env!("CARGO_BIN_EXE_concilio"))
            .args(words)
            .args(["run", "--config"])
            .arg(&config)
            .env_remove("RUST_LOG")
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("the program starts");
        Self(ChildProgram(child))
    }

    /// Kill -9.
    pub(super) fn kill(&mut self) {
        self.0.0.kill().expect("it runs");
        self.0.0.wait().expect("it has ended");
    }

    /// Sends SIGTERM, as `kill PID`, systemd and docker do.
    pub(in super::super) fn terminate(&self) {
        self.send(Signal::TERM);
    }

    pub(in super::super) fn send(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0.0), signal).expect("it runs");
    }

    /// Tells it to stop, and waits until it has ended well.
    pub(in super::super) async fn closes(self) {
        self.terminate();
        let status = self.ends().await;
        assert!(status.success(), "{status}");
    }

    pub(in super::super) async fn ends(mut self) -> ExitStatus {
        let ended = tokio::task::spawn_blocking(move || self.0.0.wait());
        within("the program to end", ended).await.expect("no panic").expect("a status")
    }
}

/// Quick, and four games at once.
const QUICK: &str = "[challenge]\nfriends = ['Partner']\nconcurrency = 4\nmax_games_per_opponent = 4
[player.council]\nroster = 'mp ma'\nhash = 1\n[player.limits]\nnodes = 2000\n";

fn no_file_contains(folder: &Path, secret: &str) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("readable").path();
        if path.is_dir() {
            no_file_contains(&path, secret);
        } else {
            let bytes = fs::read(&path).expect("readable");
            let found = bytes.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!found, "the token stands in {}", path.display());
        }
    }
}

/// Promise 1: a defect of ours in one game's task costs that task, not the game.
#[testkit::test]
async fn game_survives_a_panic_in_its_task() {
    let story = Story::begin(|plan| plan.panics_once = true).await;
    let game = story.challenge().await;
    story.played(&game).await;
    story.goes_on_and_closes().await;
}

/// Promise 1: the process is stopped for a while, as by a laptop's lid, and does not read the
/// server's lines; some streams are cut meanwhile. Its games go on.
#[testkit::test]
#[cfg(target_os = "linux")]
async fn suspended_daemon_resumes_its_games() {
    let story = Story::set_the_stage(|_| ()).await;
    let daemon = Daemon::run(&story, QUICK);
    let mut games = Vec::new();
    for _ in 0..4 {
        games.push(story.challenge().await);
    }
    story.ply(&games[0], 5).await;
    daemon.send(Signal::STOP);
    let faults = story.server.faults();
    for (game, fault) in [(&games[1], StreamFault::Abort), (&games[2], StreamFault::Silence)] {
        faults.break_stream(Streams::Game(game.clone()), When::Now, fault);
    }
    faults.break_stream(Streams::Events(BOT.to_owned()), When::Now, StreamFault::CleanEnd);
    // This is the fault itself.
    tokio::time::sleep(Duration::from_secs(4)).await;
    daemon.send(Signal::CONT);
    for game in &games {
        story.played(game).await;
    }
    let last = story.challenge().await;
    story.played(&last).await;
}

/// Promise 1: kill -9 and restart, twice in the middle of four games: they go on. Promise 5: no decided move is missing from
/// the journal. Promise 6: with everything logged, the token stands in no file.
#[testkit::test]
async fn killed_daemon_resumes_its_games() {
    let story = Story::set_the_stage(|_| ()).await;
    let mut daemon = Daemon::run(&story, QUICK);
    let mut games = Vec::new();
    for _ in 0..4 {
        games.push(story.challenge().await);
    }
    for (game, ply) in [(&games[0], 5), (&games[1], 12)] {
        story.ply(game, ply).await;
        daemon.kill();
        daemon = Daemon::run(&story, QUICK);
    }
    for game in &games {
        story.played(game).await;
    }
    let last = story.challenge().await;
    story.ply(&last, 2).await;
    daemon.closes().await;
    games.push(last);
    for game in &games {
        let report = story.played(game).await;
        let us = report.color_of(BOT).expect("a player");
        let journal = story.journal_of(game);
        assert_eq!(journal.iter().map(|record| record.uci).collect::<Vec<_>>(), report.line.moves());
        for record in journal {
            let ours = (record.ply % 2 == 0) == (us == Color::White);
            assert_eq!(record.ours.is_some(), ours, "{game}, ply {}", record.ply);
        }
    }
    let log = fs::read_to_string(story.folder.path().join("log")).expect("a log");
    assert!(log.contains("TRACE"), "everything was logged");
    no_file_contains(story.folder.path(), &story.token);
}

/// Promise 5: the move that was decided before the end is the one that is sent after it, although another council sits now.
#[testkit::test]
async fn decided_move_is_sent_after_restart() {
    let story = Story::set_the_stage(|_| ()).await;
    story.server.faults().fail_requests(RequestKind::Move, Span::Times(1), RequestFault::Ignore);
    let mut daemon = Daemon::run(&story, QUICK);
    // White mates with a1a8; that is not the first legal move.
    let game = story
        .challenge_with(|terms| {
            terms.game.variant = Variant::FromPosition;
            terms.fen = Some("6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1".to_owned());
            terms.color = Some(Color::Black);
        })
        .await;
    within("the move", story.server.faults().wait_for_requests(RequestKind::Move, 1)).await;
    daemon.kill();
    let _trivial = Daemon::run(&story, "[challenge]\nfriends = ['Partner']\n[player.council]\nroster = 'trivial'\n");
    let report = story.played(&game).await;
    assert_eq!(report.line.moves(), ["a1a8".parse().expect("a move")]);
    let journal = story.journal_of(&game);
    assert!(journal[0].ours.as_ref().is_some_and(|ours| ours.depth.is_some()), "with its vote: {journal:?}");
}

/// Promise 1: `kill PID` finishes the game, declines challengers with the reason, and says goodbye
/// before the end.
#[testkit::test]
async fn terminated_daemon_finishes_its_game() {
    let story = Story::set_the_stage(|plan| plan.partner_thinks = Duration::from_millis(50)).await;
    let slow = RequestFault::Delay(Duration::from_millis(300));
    story.server.faults().fail_requests(RequestKind::Chat, Span::Times(100), slow);
    let daemon = Daemon::run(&story, "[challenge]\nfriends = ['Partner']\n[player.council]\nroster = 'trivial'\n");
    let game = story.challenge().await;
    story.ply(&game, 4).await;
    daemon.terminate();
    let late = story.challenge().await.as_str().into();
    story.played(&game).await;
    assert!(daemon.ends().await.success());
    let chat = story.server.game(&game).await.expect("a report").chat;
    let said = chat.iter().filter(|line| line.username == BOT).map(|line| line.text.as_str());
    assert!(said.clone().any(|text| text.starts_with("Good game")), "it took its leave: {chat:?}");
    let state = story.server.ask(move |state| state.challenge_view(&late).map(|view| view.state)).await;
    assert!(matches!(state, Ok(Some(ChallengeState::Declined(DeclineReason::Later)))), "{state:?}");
}

/// An engine does not outlive a daemon that was killed.
#[testkit::test]
async fn killed_daemon_leaves_no_engine() {
    let story = Story::set_the_stage(|_| ()).await;
    let (engine, pids) = uci_engine(story.folder.path());
    let settings = format!(
        "[challenge]\nfriends = ['Partner']\n[player.council]\nroster = 'custom'\nhash = 1
[[player.council.electors]]\nengine = '{}'\n",
        engine.display()
    );
    let mut daemon = Daemon::run(&story, &settings);
    let game = story.challenge().await;
    story.ply(&game, 4).await;
    daemon.kill();
    for pid in pids() {
        is_gone(pid).await;
    }
}

/// Engines may take long to start. Meanwhile a daemon told to reload goes on, and a daemon told to stop ends with its engine.
#[testkit::test]
async fn starting_daemon_accepts_commands() {
    let story = Story::set_the_stage(|_| ()).await;
    let pids = story.folder.path().join("pids");
    let engine = program(story.folder.path(), "slow.sh", &format!("echo $$ > '{}'\nsleep 1000", pids.display()));
    let settings =
        format!("[player.council]\nroster = 'custom'\n[[player.council.electors]]\nengine = '{}'\n", engine.display());
    let daemon = Daemon::run(&story, &settings);
    let started = || fs::read_to_string(&pids).ok().and_then(|text| Pid::from_raw(text.trim().parse().ok()?));
    let engine = seen("the start of the engine", started).await;
    daemon.send(Signal::HUP);
    daemon.closes().await;
    is_gone(engine).await;
}

/// A variant that our own engine does not know is played when the roster has an engine that lists it, and declined
/// otherwise.
#[testkit::test]
async fn variant_goes_to_an_engine_that_knows_it() {
    let black = ["a7a6", "a6a5", "a5a4"].map(|uci| uci.parse().expect("a move")).to_vec();
    let story = Story::set_the_stage(|plan| plan.partner = practice::SparringKind::Script(black)).await;
    // The king walks to the centre.
    let engine = program(
        story.folder.path(),
        "king.sh",
        r#"while read -r command rest; do
  case $command in
    uci) echo 'option name UCI_Variant type combo default chess var chess var kingofthehill'; echo uciok ;;
    isready) echo readyok ;;
    position) set -- $rest; words=$# ;;
    go)
      case $words in 1) best=e2e4 ;; 4) best=e1e2 ;; 6) best=e2e3 ;; *) best=e3d4 ;; esac
      echo "info depth 1 score cp 100 nodes 1 pv $best"; echo "bestmove $best" ;;
    quit) exit ;;
  esac
done"#,
    );
    let hill = |terms: &mut practice::ChallengeTerms| {
        terms.game.variant = Variant::KingOfTheHill;
        terms.color = Some(Color::Black);
    };
    let variants = "variants = ['standard', 'kingOfTheHill']";
    let with = format!(
        "[challenge]\nfriends = ['Partner']\n{variants}\n[player.council]\nroster = 'custom'
[[player.council.electors]]\nengine = '{}'\n",
        engine.display()
    );
    let mut daemon = Daemon::run(&story, &with);
    let game = story.challenge_with(hill).await;
    let report = story.played(&game).await;
    let outcome = report.outcome.as_ref().expect("it is over");
    assert_eq!((outcome.end, report.winner()), (End::VariantRule, Some(BOT)), "{report:#?}");
    daemon.kill();

    let _without = Daemon::run(&story, &format!("[challenge]\nfriends = ['Partner']\n{variants}\n"));
    let id = story.challenge_with(hill).await.as_str().into();
    let answered = story.server.wait(move |state| {
        let state = state.challenge_view(&id)?.state;
        (state != ChallengeState::Created).then_some(state)
    });
    let state = within("an answer", answered).await.expect("a server");
    assert_eq!(state, ChallengeState::Declined(DeclineReason::Variant));
    assert!(story.server.ask(|state| state.is_online(&AccountId::of(BOT))).await.expect("a server"));
}
