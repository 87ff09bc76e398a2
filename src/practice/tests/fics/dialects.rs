//! The family's other servers, each with its own habits; and the faults of a connection.

use std::time::{Duration, Instant};

use domain::{Color, GameId, GameTerms, TimeControl, Variant};
use practice::{AccountId, ChallengeTerms, End, PracticeServer, SparringKind};
use stage::fics::{connect, game_of, login, newcomer, server};
use testkit::telnet::{PASSWORD, Telnet};

use crate::{begin, two_people};

async fn begin_with_moves(ann: &mut Telnet, bob: &mut Telnet) {
    begin(ann, bob).await;
    ann.play("e2e4", "e4").await;
    bob.play("e7e5", "e5").await;
}

/// Bob's connection is lost, and he comes back and says `match Ann`. Returns what Ann is told of it.
async fn bob_comes_back(dialect: &str) -> (String, String) {
    let (server, mut ann, mut bob) = two_people(dialect).await;
    begin_with_moves(&mut ann, &mut bob).await;
    drop(bob);
    let end = ann.until("} *").await;
    let mut bob = login(&server, "Bob").await;
    assert!(bob.ask("resume").await.contains("resume: Command"), "there is no such command");
    bob.say("match Ann 5 0 unrated").await;
    ann.until("Challenge: ").await;
    (end, ann.until("\n\r").await)
}

#[tokio::test(flavor = "multi_thread")]
async fn match_resumes_only_if_marked() {
    let (end, challenge) = bob_comes_back("dialect=fatics").await;
    assert!(
        end.contains("Your opponent, Bob, has lost contact or quit.")
            && end.contains("Bob lost connection; game adjourned")
    );
    assert_eq!(challenge, "Bob (----) Ann (----) unrated blitz 5 0 (adjourned).\n\r");
    let (end, challenge) = bob_comes_back("dialect=capablanca").await;
    assert!(
        end.contains("Your opponent has lost contact or quit.") && end.contains("(Ann vs. Bob) adjourned"),
        "{end}"
    );
    assert_eq!(challenge, "Bob (----) Ann (----) unrated blitz 5 0 (adjourned).\n\r");
    let (_, challenge) = bob_comes_back("dialect=uhlin").await;
    assert_eq!(challenge, "Bob (----) Ann (----) unrated blitz 5 0.\n\r");
}

#[tokio::test(flavor = "multi_thread")]
async fn fatics_offers_follow_the_prompt() {
    let (_server, mut ann, mut bob) = two_people("dialect=fatics").await;
    bob.ask("iset pendinfo 1").await;
    ann.say("match Bob 5 0 unrated white").await;
    bob.until("or propose different parameters.\n\rfics% \n\r<pf> 1 w=Ann t=match p=Ann (----) [white] Bob (----)")
        .await;
    bob.until(" unrated blitz 5 0\n\r").await;
    assert!(bob.ask("date").await.starts_with("Local time"), "no prompt came after it");
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_servers_show_fewer_fields() {
    for (dialect, board) in [
        ("dialect=fatics", "P/e2-e4 (0:00.000) e4 1 0 0\n\r"),
        ("dialect=capablanca", "P/e2-e4 (0:00) e4 1 0\n\r"),
        ("dialect=uhlin", "P/e2-e4 (0:00) e4 1\n\r"),
    ] {
        let (_server, mut ann, mut bob) = two_people(dialect).await;
        begin(&mut ann, &mut bob).await;
        ann.say("e2e4").await;
        bob.until(board).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn plain_servers_need_flag_claims() {
    let (_server, mut ann, mut bob) = two_people("dialect=capablanca").await;
    begin_with_moves(&mut ann, &mut bob).await;
    assert!(ann.ask("flag").await.contains("Opponent is not out of time"));
    assert!(ann.ask("set autoflag 1").await.contains("No such variable name autoflag."));
    // Not even an abort on the first move is one's own to decide.
    ann.say("abort").await;
    bob.until("Ann would like to abort the game").await;
    bob.say("abort").await;
    ann.until("Game aborted by mutual agreement").await;
}

fn casual_white(initial: Duration) -> ChallengeTerms {
    let time_control = TimeControl::real_time(initial, Duration::ZERO);
    let terms = GameTerms { variant: Variant::Standard, time_control, rated: false };
    ChallengeTerms::new(terms).with_color(Color::White)
}

/// A game of Ann's against a sparring player, over the other protocol: she has played her first move.
async fn begin_elsewhere(server: &PracticeServer, initial: Duration) -> GameId {
    server.sparring("Sparring", SparringKind::Random).await.expect("a player");
    let game = server.game_between("Ann", "Sparring", casual_white(initial)).await.expect("a game");
    let (id, ann) = (game.clone(), AccountId::of("Ann"));
    let uci = "e2e4".parse().expect("a move");
    server.ask(move |state| state.play(&id, &ann, uci, None)).await.expect("a server").expect("a legal move");
    server.wait_for_ply(&game, 2).await.expect("an answer");
    game
}

#[tokio::test(flavor = "multi_thread")]
async fn dialects_do_not_change_lichess() {
    let server = server("dialect=uhlin").await;
    server.add_account("Ann", true).await.expect("an account");
    let game = begin_elsewhere(&server, Duration::from_millis(50)).await;
    let report = server.wait_for_end(&game).await.expect("a report");
    assert_eq!(report.end(), Some(End::OutOfTime), "the server ends it without a claim");
}

#[tokio::test(flavor = "multi_thread")]
async fn login_spares_the_other_protocol() {
    let server = server("").await;
    server.add_fics_account("Ann", false, PASSWORD).await.expect("an account");
    let game = begin_elsewhere(&server, Duration::from_secs(600)).await;
    let mut ann = login(&server, "Ann").await;
    assert!(ann.ask("moves").await.contains("You are neither playing, observing nor examining a game."));
    ann.say("match Sparring 1 1 unrated white").await;
    ann.until("(Ann vs. Sparring) Creating").await;
    ann.say("abort").await;
    ann.until("Game aborted on move 1} *").await;
    let report = server.game(&game).await.expect("a report");
    assert_eq!((report.outcome, report.is_adjourned), (None, false));
}

/// However soon the first move comes, it is no game that goes on.
#[tokio::test(flavor = "multi_thread")]
async fn first_board_may_show_a_move() {
    let server = server("").await;
    server.add_account("Bob", true).await.expect("an account");
    let mut ann = newcomer(&server, "Ann").await;
    let begun = server.ask(move |state| {
        let (ann, bob) = (AccountId::of("Ann"), AccountId::of("Bob"));
        let challenge = state.challenge(&bob, &ann, casual_white(Duration::from_secs(300)), true).expect("a challenge");
        let game = state.accept(&challenge.id, &ann).expect("a game");
        state.play(&game, &bob, "e2e4".parse().expect("a move"), None)
    });
    begun.await.expect("a server").expect("a legal move");
    ann.until("Creating: Bob (----) Ann (----) unrated blitz 5 0\n\r{Game 1 (Bob vs. Ann) Creating unrated").await;
    ann.until("P/e2-e4").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn capablanca_reads_0_1_as_untimed() {
    let (_server, mut ann, mut bob) = two_people("dialect=capablanca").await;
    ann.say("match Bob 0 1 unrated").await;
    bob.until("Challenge: Ann (----) Bob (----) unrated untimed.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn uhlin_runs_single_commands() {
    let (_server, mut ann, _bob) = two_people("dialect=uhlin").await;
    ann.say("first_of_two\nsecond_of_two").await;
    ann.until("first_of_two: Command has failed.").await;
    ann.until("fics% ").await;
    ann.say("more").await;
    assert!(!ann.until("second_of_two: Command has failed.").await.contains("more: "));
}

#[tokio::test(flavor = "multi_thread")]
async fn wrapping_may_drop_the_blank() {
    let words = "word ".repeat(40);
    for (dialect, wrapped) in [("", "word \n\r\\   word"), ("dialect=uhlin", "word\n\r\\   word")] {
        let (_server, mut ann, mut bob) = two_people(dialect).await;
        ann.ask("iset nowrap 0").await;
        bob.say(&format!("tell Ann {words}")).await;
        ann.until(wrapped).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn seeks_depend_on_rank_and_server() {
    let server = server("").await;
    let mut guest = connect(&server).await;
    guest.say("guest").await;
    guest.until("Press return").await;
    guest.say("").await;
    guest.until("fics% ").await;
    assert!(guest.ask("seek 5 0 rated").await.contains("Only registered players can play rated games."));
    assert!(guest.ask("seek 5 0 unrated").await.contains("Your seek has been posted with index 1."));

    let (_server, mut ann, _bob) = two_people("dialect=uhlin").await;
    assert!(!ann.ask("seek 5 0 unrated").await.contains("posted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn announcements_are_indented() {
    let (server, mut ann, _bob) = two_people("").await;
    server.announce("**** Server going down in 5 minutes and 0 seconds. ****");
    ann.until("\n\r    **** Server going down in 5 minutes and 0 seconds. ****\n\r").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_faults_are_applied() {
    let server = server("open=100ms").await;
    let asked = Instant::now();
    let mut ann = newcomer(&server, "Ann").await;
    assert!(asked.elapsed() >= Duration::from_millis(100));
    let mut bob = newcomer(&server, "Bob").await;
    server.faults().set_plan("slow=20000B/s,stall-move=100%".parse().expect("a plan"));
    begin(&mut ann, &mut bob).await;
    ann.say("e2e4").await;
    ann.ask("date").await;
    let game = game_of(&server, "Ann").await;
    assert_eq!(server.game(&game).await.expect("a report").line.ply(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn late_lines_keep_their_spacing() {
    let (server, mut ann, mut bob) = two_people("").await;
    server.faults().set_plan("late=1s".parse().expect("a plan"));
    let said = Instant::now();
    for number in 0..6 {
        bob.say(&format!("tell Ann {number}")).await;
    }
    ann.until("Bob tells you: 5").await;
    assert!((Duration::from_secs(1)..Duration::from_secs(5)).contains(&said.elapsed()), "{:?}", said.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_echo_never_comes() {
    let (_server, mut ann, mut bob) = two_people("echo=never").await;
    begin(&mut ann, &mut bob).await;
    ann.say("e2e4").await;
    bob.until("P/e2-e4").await;
    bob.say("e7e5").await;
    assert!(!ann.until("P/e7-e5").await.contains("P/e2-e4"));
}
