//! Tests of commands that people type over telnet.

use practice::{End, SparringKind};
use stage::fics::{connect, game_of, login, newcomer, server};
use testkit::{
    telnet::{PASSWORD, Telnet},
    within,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use util::timeseal;

use crate::{begin, two_people};

/// Reads to the end of a connection, which must come.
async fn is_closed(mut telnet: Telnet) {
    let mut rest = Vec::new();
    // A reset ends it as well.
    let _ = within("the end of the connection", telnet.stream.read_to_end(&mut rest)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn guests_and_members_can_log_in() {
    let server = server("").await;
    let mut guest = connect(&server).await;
    guest.say("guest").await;
    assert!(guest.until("Press return to enter").await.contains("Logging you in as \"Guest"));
    guest.say("").await;
    guest.until("(U) ****").await;
    guest.until("fics% ").await;

    server.add_fics_account("Ann", false, PASSWORD).await.expect("an account");
    let mut stranger = connect(&server).await;
    for (line, answer) in [
        ("x", "at least three characters"),
        ("averyveryverylongname", "at most 17 characters"),
        ("no1", "lower and upper case letters"),
    ] {
        stranger.say(line).await;
        stranger.until(answer).await;
        stranger.until("login: ").await;
    }
    stranger.say("Ann").await;
    stranger.until("password: ").await;
    stranger.say("wrong").await;
    stranger.until("**** Invalid password! ****").await;
    stranger.until("login: ").await;

    let mut ann = login(&server, "ann").await;
    let mut again = login(&server, "Ann").await;
    ann.until("**** Ann has arrived - you can't both be logged in. ****").await;
    is_closed(ann).await;
    assert!(again.ask("who").await.contains("Guest"));
}

#[tokio::test(flavor = "multi_thread")]
async fn two_people_play_scholars_mate() {
    let (server, mut ann, mut bob) = two_people("").await;
    bob.ask("iset pendinfo 1").await;
    bob.ask("iset gameinfo 1").await;
    ann.say("match bob 5 0 unrated white").await;
    ann.until("Issuing: Ann (----) [white] Bob (----) unrated blitz 5 0.").await;
    bob.until("Challenge: Ann (----) [white] Bob (----) unrated blitz 5 0.").await;
    bob.until("You can \"accept\" or \"decline\", or propose different parameters.").await;
    bob.until("<pf> 1 w=Ann t=match p=Ann (----) [white] Bob (----) unrated blitz 5 0").await;
    bob.say("accept 1").await;
    bob.until("You accept the challenge of Ann.").await;
    bob.until("<pr> 1").await;
    bob.until(
        "Creating: Ann (----) Bob (----) unrated blitz 5 0\n\r{Game 1 (Ann vs. Bob) Creating unrated blitz match.}",
    )
    .await;
    bob.until("<g1> 1 p=0 t=blitz r=0 u=1,1 it=300,0 i=300,0 pt=0 rt=0,0 ts=0,0").await;
    ann.until("Bob accepts the match offer.").await;
    ann.until(
        "<12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 1 Ann Bob 1 5 0 39 \
         39 300000 300000 1 none (0:00.000) none 0 0 0",
    )
    .await;
    bob.until(" 1 Ann Bob -1 5 0 39 39 300000 300000 1 none (0:00.000) none 1 0 0").await;

    bob.say("e7e5").await;
    bob.until("It is not your move.").await;
    ann.play("e2e4", "e4").await;
    bob.until(" B 4 1 1 1 1 0 1 Ann Bob 1 5 0 39 39 300000 300000 1 P/e2-e4 (0:00.000) e4 1 0 0").await;
    bob.play("e5", "e5").await;
    ann.say("d1e7").await;
    ann.until("Illegal move (d1e7).").await;
    ann.play("d1h5", "Qh5").await;
    bob.play("Nc6", "Nc6").await;
    ann.play("Bc4", "Bc4").await;
    bob.play("Nf6", "Nf6").await;
    ann.say("h5f7").await;
    bob.until("Q/h5-f7").await;
    for telnet in [&mut ann, &mut bob] {
        telnet.until("{Game 1 (Ann vs. Bob) Bob checkmated} 1-0").await;
        telnet.until("No ratings adjustment done.").await;
    }
    let report = server.games().await.expect("games").remove(0);
    assert_eq!(report.outcome.expect("an end").end, End::Checkmate);
}

#[tokio::test(flavor = "multi_thread")]
async fn game_waits_for_a_lost_player() {
    let (server, mut ann, mut bob) = two_people("").await;
    begin(&mut ann, &mut bob).await;
    ann.play("e4", "e4").await;
    bob.play("e5", "e5").await;
    let game = game_of(&server, "Ann").await;
    drop(bob);
    ann.until("{Game 1 (Ann vs. Bob) Bob lost connection; game adjourned} *").await;
    assert!(ann.ask("stored").await.contains("1: W Bob             N ["));

    let mut bob = login(&server, "Bob").await;
    ann.until("Notification: Bob, who has an adjourned game with you, has arrived.").await;
    bob.say("resume").await;
    ann.until("Challenge: Bob (----) Ann (----) unrated blitz 5 0 (adjourned).").await;
    ann.say("accept bob").await;
    for telnet in [&mut ann, &mut bob] {
        telnet.until("{Game 1 (Ann vs. Bob) Continuing unrated blitz match.}").await;
    }
    let list = bob.ask("moves").await;
    assert!(list.contains("  1.  e4      (0:00.000)     e5      (0:00.000)"), "{list}");
    ann.play("Nf3", "Nf3").await;
    bob.until("Nf3").await;
    bob.say("resign").await;
    ann.until("{Game 1 (Ann vs. Bob) Bob resigns} 1-0").await;
    assert_eq!(server.wait_for_end(&game).await.expect("a report").line.ply(), 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn players_agree_on_things() {
    let (_server, mut ann, mut bob) = two_people("").await;
    ann.say("seek 5 0 unrated white").await;
    ann.until("Your seek has been posted with index 1.").await;
    assert!(bob.ask("sought").await.contains("1 ad displayed."));
    bob.say("play 1").await;
    for telnet in [&mut ann, &mut bob] {
        telnet.until("Creating unrated blitz match").await;
    }
    ann.play("e4", "e4").await;
    bob.play("e5", "e5").await;
    ann.play("Nf3", "Nf3").await;

    ann.say("takeback").await;
    bob.until("Ann would like to take back 1 half move(s).").await;
    bob.say("accept").await;
    ann.until(" W 4 1 1 1 1 0 1 Ann Bob 1 ").await;
    ann.play("Nc3", "Nc3").await;
    bob.say("draw").await;
    ann.until("Bob offers you a draw.").await;
    ann.say("decline").await;
    bob.until("Ann declines the draw request.").await;
    bob.say("abort").await;
    ann.until("Bob would like to abort the game; type \"abort\" to accept.").await;
    ann.say("decline abort").await;
    bob.until("Ann declines the abort request.").await;
    ann.say("say well played").await;
    bob.until("Ann[1] says: well played").await;
    bob.say("adjourn").await;
    ann.until("type \"adjourn\" to accept.").await;
    ann.say("adjourn").await;
    bob.until("{Game 1 (Ann vs. Bob) Game adjourned by mutual agreement} *").await;

    ann.ask("set open 0").await;
    bob.say("tell ann hello").await;
    ann.until("Bob tells you: hello").await;
    bob.until("(told Ann)").await;
    assert!(bob.ask("finger ann").await.contains("On for:"));
    assert!(bob.ask("match cyd").await.contains("cyd is not logged in."));
    assert!(bob.ask("match ann").await.contains("Ann is not open to match requests."));
    assert!(bob.ask("frobnicate now").await.contains("frobnicate: Command not found."));
}

#[tokio::test(flavor = "multi_thread")]
async fn sparring_partners_resume_games() {
    let server = server("").await;
    server.sparring("Sparring", SparringKind::Random).await.expect("a new account");
    let mut ann = newcomer(&server, "Ann").await;
    ann.say("match sparring 1 1 unrated white wild fr").await;
    ann.until("Loaded from wild/fr").await;
    ann.until("{Game 1 (Ann vs. Sparring) Creating unrated wild/fr match.}").await;
    ann.say("abort").await;
    ann.until("{Game 1 (Ann vs. Sparring) Game aborted on move 1} *").await;

    ann.say("match sparring 1 1 unrated white").await;
    ann.until("{Game 1 (Ann vs. Sparring) Creating").await;
    for _ in 0..2 {
        ann.until(" Ann Sparring 1 1 1 ").await;
        let moves = game_of(&server, "Ann").await;
        let report = server.game(&moves).await.expect("a game");
        let uci = report.line.legal_moves()[0].to_string();
        ann.say(&uci).await;
        ann.until(" Ann Sparring -1 1 1 ").await;
    }
    drop(ann);
    let mut ann = login(&server, "Ann").await;
    ann.say("resume").await;
    ann.until("Continuing unrated lightning match").await;
    ann.say("abort").await;
    ann.until("Game aborted by mutual agreement} *").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn timeseal_pings_need_answers() {
    let server = server("").await;
    server.sparring("Sparring", SparringKind::Greedy).await.expect("a new account");
    let mut stream = TcpStream::connect(server.fics_address().expect("a face")).await.expect("a connection");
    let mut text = String::new();
    for (line, wanted) in [
        ("TIMESEAL2|test|test|", "login: "),
        ("guest", "Press return"),
        ("", "fics% "),
        ("set style 12", "Style 12 set."),
        ("match sparring 1 1 unrated white", "[G]\0"),
        ("\u{2}9", ""),
        ("e2e4", "P/e2-e4"),
        // Sparring answers, and the move comes with a timeseal ping that this client does not
        // answer.
        ("date", "[G]\0"),
        ("d2d4", "timeseal error: your timeseal did not reply to the server ping"),
    ] {
        let mut packet = Vec::new();
        timeseal::seal(line.as_bytes(), 1000, &mut packet);
        stream.write_all(&packet).await.expect("writable");
        while !text.contains(wanted) {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).await.expect("readable");
            assert!(count > 0, "closed after {text:?}, wanted {wanted:?}");
            text.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
        let at = text.find(wanted).expect("found") + wanted.len();
        text.drain(..at);
    }
}
