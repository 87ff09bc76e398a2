//! The daemon plays on FICS, through its own adapter.

use std::time::Duration;

use domain::{Action, ChallengeRequest, Color, Done, GameStatus, ServerEvent};
use platform::{
    Server,
    fics::{self, Password},
};
use practice::{
    End, PracticeServer, SparringKind,
    faults::{StreamFault, Streams, When},
};
use rustix::process::Signal;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

use super::super::lichess::restart::Daemon as Process;
use super::harness::{
    BOT, Daemon, PARTNER, PASSWORD, Telnet, connect, ended, game_between, game_of, games_in, login, newcomer, partner,
    server, settings, terms, was_played_out, within,
};

/// Ann challenges the daemon and has White; her first move and the answer are made.
async fn ann_and_the_daemon(server: &PracticeServer) -> (Telnet, Daemon) {
    let daemon = Daemon::start(server, BOT).await;
    let mut ann = newcomer(server, "Ann").await;
    challenge(&mut ann).await;
    ann.play("e2e4", "e4").await;
    ann.until("Ann Concilio 1 ").await;
    (ann, daemon)
}

/// Challenges the daemon. It accepts no challenges before its set-up is complete.
async fn challenge(ann: &mut Telnet) {
    ann.say("match concilio 5 0 unrated white").await;
    ann.until("{Game 1 (Ann vs. Concilio) Creating unrated blitz match.}").await;
    ann.until("Ann Concilio 1 ").await;
}

#[testkit::test]
async fn games_are_played_to_their_end() {
    let server = server("").await;
    partner(&server, PARTNER, SparringKind::Random).await;
    let daemon = Daemon::start(&server, BOT).await;
    for color in [Color::White, Color::Black] {
        let game = game_between(&server, PARTNER, BOT, Some(color)).await;
        was_played_out(&ended(&server, &game).await);
    }
    let folder = daemon.closes().await;
    assert_eq!(games_in(&folder).1.len(), 2);
}

/// A daemon that is a process of its own, in a folder.
async fn process(server: &PracticeServer) -> (TempDir, Process) {
    server.add_fics_account(BOT, true, PASSWORD).await.expect("a new account");
    let folder = tempfile::tempdir().expect("a folder");
    let settings = format!(
        "[challenge]\nfriends = ['{PARTNER}']\n[player.council]\nroster = 'mp ma'\nhash = 1\n[player.limits]\nnodes = 1000\n\
         [journal]\npath = '{0}/journal.db'\npgn_directory = '{0}/pgn'\n\
         [servers.fics]\nprotocol = 'fics'\nurl = '{1}'\n\
         [servers.fics.fics]\nusername = '{BOT}'\nfallback_port = 0\nping_after = 1\nping_timeout = 1\nreconnect_max = 1\n",
        folder.path().display(),
        server.fics_address().expect("a FICS face"),
    );
    let process = Process::start(folder.path(), &settings, &[], &[("CONCILIO_FICS_PASSWORD", PASSWORD)]);
    within("the daemon to be online", server.wait_until_online(BOT)).await.expect("a server");
    (folder, process)
}

/// Another login with our account keeps it. The program exits with a status after which a service
/// manager does not restart it: a restart would throw the other login out in turn.
#[testkit::test]
async fn displaced_login_ends_the_program() {
    let server = server("").await;
    let (_folder, process) = process(&server).await;
    let _owner = login(&server, BOT).await;
    assert_eq!(process.ends().await.code(), Some(77));
}

/// Promise 1: the process is stopped for a while, as by a laptop's lid, once with its connection kept and once with it lost meanwhile.
/// Its game goes on.
#[testkit::test]
#[cfg(target_os = "linux")]
async fn stopped_daemon_resumes_its_game() {
    let server = server("").await;
    partner(&server, PARTNER, SparringKind::Random).await;
    let (_folder, process) = process(&server).await;
    let game = game_between(&server, PARTNER, BOT, None).await;
    for (ply, is_cut) in [(4, false), (10, true)] {
        within("moves", server.wait_for_ply(&game, ply)).await.expect("a report");
        process.send(Signal::STOP);
        if is_cut {
            server.faults().break_stream(Streams::Events(BOT.to_owned()), When::Now, StreamFault::Abort);
        }
        // This is the fault itself.
        tokio::time::sleep(Duration::from_secs(4)).await;
        process.send(Signal::CONT);
    }
    was_played_out(&ended(&server, &game).await);
}

/// A second signal stops the daemon at once, but it resigns its games first, as its settings say.
#[testkit::test]
async fn immediate_stop_may_resign() {
    let server = server("").await;
    let (mut ann, daemon) = ann_and_the_daemon(&server).await;
    let game = game_of(&server, BOT).await;
    daemon.stops_at_once().await;
    ann.until("{Game 1 (Ann vs. Concilio) Concilio resigns} 1-0").await;
    assert_eq!(ended(&server, &game).await.winner(), Some("Ann"));
}

#[testkit::test]
async fn an_opponent_may_resign() {
    let server = server("").await;
    let (mut ann, daemon) = ann_and_the_daemon(&server).await;
    let game = game_of(&server, BOT).await;
    ann.say("resign").await;
    ann.until("{Game 1 (Ann vs. Concilio) Ann resigns} 0-1").await;
    assert_eq!(ended(&server, &game).await.winner(), Some(BOT));
    // There is a place for another one.
    challenge(&mut ann).await;
    ann.say("abort").await;
    ann.until("Game aborted on move 1} *").await;
    daemon.closes().await;
}

#[testkit::test]
async fn a_takeback_is_granted_once() {
    let server = server("").await;
    let (mut ann, daemon) = ann_and_the_daemon(&server).await;
    ann.say("takeback 2").await;
    ann.until(" W -1 1 1 1 1 0 1 Ann Concilio 1 ").await;
    ann.play("d2d4", "d4").await;
    ann.until("Ann Concilio 1 ").await;
    ann.say("takeback 2").await;
    ann.until("Concilio declines the takeback request.").await;
    let game = game_of(&server, BOT).await;
    ann.say("resign").await;
    assert_eq!(ended(&server, &game).await.line.ply(), 2);
    daemon.closes().await;
}

#[testkit::test]
async fn disconnected_opponent_resumes_the_game() {
    let server = server("").await;
    let (ann, daemon) = ann_and_the_daemon(&server).await;
    let game = game_of(&server, BOT).await;
    drop(ann);
    // The daemon asks as soon as it hears of her, before she has set anything.
    let mut ann = connect(&server).await;
    ann.say("Ann").await;
    ann.until("password: ").await;
    ann.say(PASSWORD).await;
    ann.until("Challenge: Concilio (----) Ann (----) unrated blitz 5 0 (adjourned).").await;
    ann.say("set style 12").await;
    ann.say("accept").await;
    ann.until("Continuing unrated blitz match").await;
    ann.until("Ann Concilio 1 ").await;
    ann.play("h2h3", "h3").await;
    ann.until("Ann Concilio 1 ").await;
    assert_eq!(server.game(&game).await.expect("the game").line.ply(), 4);
    ann.say("resign").await;
    ended(&server, &game).await;
    daemon.closes().await;
}

#[testkit::test]
async fn game_survives_every_lost_connection() {
    let server = server("").await;
    partner(&server, PARTNER, SparringKind::Greedy).await;
    let daemon = Daemon::start(&server, BOT).await;
    let game = game_between(&server, PARTNER, BOT, None).await;
    let faults = [
        StreamFault::CleanEnd,
        StreamFault::CutMidLine,
        StreamFault::Abort,
        StreamFault::AbortMidLine,
        StreamFault::Silence,
        StreamFault::Duplicate,
    ];
    for (fault, number) in faults.into_iter().zip(1..) {
        server.faults().break_stream(Streams::Events(BOT.to_owned()), When::AtPly(4 * number), fault);
    }
    was_played_out(&ended(&server, &game).await);

    let game = game_between(&server, PARTNER, BOT, None).await;
    within("a few moves", server.wait_for_ply(&game, 4)).await.expect("a report");
    within("the restart", server.restart(Duration::from_millis(300))).await.expect("a server");
    was_played_out(&ended(&server, &game).await);
    daemon.closes().await;
}

#[testkit::test]
async fn wrong_password_ends_the_account() {
    let server = server("").await;
    server.add_fics_account(BOT, true, PASSWORD).await.expect("an account");
    let stop = CancellationToken::new();
    let (_server, mut events) = fics::connect(settings(&server, BOT), Some(Password::new("wrong")), stop);
    let event = within("an event", events.recv()).await;
    assert!(matches!(event, Some(ServerEvent::Rejected { reason }) if reason.contains("wrong password")));
}

#[testkit::test]
async fn bot_challenges_and_agrees_to_a_draw() {
    let server = server("").await;
    partner(&server, PARTNER, SparringKind::Greedy).await;
    server.add_fics_account(BOT, true, PASSWORD).await.expect("an account");
    let stop = CancellationToken::new();
    let (fics, mut events) = fics::connect(settings(&server, BOT), Some(Password::new(PASSWORD)), stop.clone());
    let _stop = stop.drop_guard();
    within("being connected", async { while !matches!(events.recv().await, Some(ServerEvent::Connected(_))) {} }).await;
    assert_eq!(fics.players_available(&[PARTNER.to_owned(), "Unknown".to_owned()]).await, Ok(vec![true, false]));
    let request = ChallengeRequest {
        opponent: PARTNER.to_owned(),
        terms: terms(2, 3),
        our_color: Some(Color::White),
        initial_fen: None,
    };
    let done = within("the challenge", fics.perform(Action::Challenge(request))).await.expect("taken");
    assert!(matches!(done, Done::Challenged(_)));
    let mut asked = false;
    let (status, winner) = within("the end", async {
        loop {
            match events.recv().await.expect("an event") {
                ServerEvent::Game(info, state) if state.moves.is_empty() => {
                    let uci = "e2e4".parse().expect("a move");
                    fics.perform(Action::Move { game: info.id.clone(), uci, offer_draw: false }).await.expect("taken");
                }
                ServerEvent::GameState(id, state) if state.moves.split(' ').count() == 2 && !asked => {
                    asked = true;
                    fics.perform(Action::Draw(id, true)).await.expect("taken");
                }
                ServerEvent::GameFinished { status, winner, .. } => break (status, winner),
                _ => {}
            }
        }
    })
    .await;
    assert_eq!((status, winner), (Some(GameStatus::Draw), None));
    let report = server.games().await.expect("games").remove(0);
    assert_eq!(report.outcome.expect("an end").end, End::Agreement);
}
