//! Tests of seeks, board styles, help and examination of games.

use practice::SparringKind;
use stage::fics::{login, newcomer, server};
use testkit::telnet::Telnet;

use crate::{begin, two_people};

async fn fools_mate(ann: &mut Telnet, bob: &mut Telnet) {
    begin(ann, bob).await;
    ann.play("f3", "f3").await;
    bob.play("e5", "e5").await;
    ann.play("g4", "g4").await;
    bob.say("qh4").await;
    for telnet in [ann, bob] {
        telnet.until("{Game 1 (Ann vs. Bob) Ann checkmated} 0-1").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn sparring_seeks_can_be_played() {
    let server = server("").await;
    server.sparring("Sparring", SparringKind::Random).await.expect("a player");
    let mut ann = newcomer(&server, "Ann").await;
    assert!(ann.ask("who").await.contains("Sparring(C)"));
    let sought = ann.ask("sought").await;
    assert!(sought.contains("Sparring(C)") && sought.contains("1 ad displayed."), "{sought}");
    ann.say("play 1").await;
    ann.until("unrated blitz match.}").await;
    assert!(ann.ask("sought").await.contains("1 ad displayed."), "it takes other games as well");
}

#[tokio::test(flavor = "multi_thread")]
async fn boards_are_drawn_for_people() {
    let (_server, mut ann, mut bob) = two_people("").await;
    begin(&mut ann, &mut bob).await;
    ann.ask("style 1").await;
    ann.say("e2e4").await;
    let board = ann.until("a   b   c   d   e   f   g   h").await;
    assert!(board.contains("Game 1 (Ann vs. Bob)"), "{board}");
    assert!(board.contains("    4  |   |   |   |   | P |   |   |   |     Black Clock : 5:00"), "{board}");
    assert!(board.contains("    8  | *R| *N| *B| *Q| *K| *B| *N| *R|     Move # : 1 (Black)"), "{board}");
    ann.say("flip").await;
    ann.until("Flip on.").await;
    assert!(ann.until("fics% ").await.contains("h   g   f   e   d   c   b   a"));
    bob.ask("style 1").await;
    bob.say("refresh").await;
    assert!(bob.until("fics% ").await.contains("h   g   f   e   d   c   b   a"), "Black sits at the other side");
}

#[tokio::test(flavor = "multi_thread")]
async fn lower_case_pieces_are_accepted() {
    let (_server, mut ann, mut bob) = two_people("").await;
    begin(&mut ann, &mut bob).await;
    ann.play("nf3", "Nf3").await;
    // The clocks stand until both have moved.
    assert!(ann.ask("time").await.contains("White Clock : 5:00\n\rBlack Clock : 5:00"));
    bob.play("nc6", "Nc6").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn help_tells_what_a_command_does() {
    let (_server, mut ann, _bob) = two_people("").await;
    assert!(ann.ask("help smoves").await.contains("Usage:    smoves [player] [n]"));
    assert!(ann.ask("help").await.contains("rematch"));
    assert!(ann.ask("help frobnicate").await.contains("There is no help available on \"frobnicate\"."));
}

#[tokio::test(flavor = "multi_thread")]
async fn finished_games_are_examined() {
    let (_server, mut ann, mut bob) = two_people("").await;
    fools_mate(&mut ann, &mut bob).await;
    let list = ann.ask("smoves Bob -1").await;
    assert!(list.contains("  2.  g4 ") && list.contains(" Qh4# "), "{list}");
    assert!(list.contains("{White checkmated} 0-1"), "{list}");
    for number in ["7", "-7", "-9223372036854775808"] {
        let answer = ann.ask(&format!("smoves {number}")).await;
        assert!(answer.contains("Ann has no such game in the history."), "{number}");
    }

    assert!(ann.ask("examine").await.contains(" W -1 1 1 1 1 0 1 Ann Bob 2 "), "the first board of an examined game");
    assert!(ann.ask("forward 3").await.contains("Game 1: Ann goes forward 3 moves."));
    let board = ann.ask("forward 9").await;
    assert!(board.contains("goes forward 1 move.") && board.contains("Qh4#"), "{board}");
    assert!(ann.ask("forward").await.contains("You're at the end of the game."));
    assert!(ann.ask("back 2").await.contains("Game 1: Ann backs up 2 moves."));
    assert!(ann.ask("unexamine").await.contains("You are no longer examining game 1."));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_of_moves_is_short_or_long() {
    let (_server, mut ann, mut bob) = two_people("").await;
    begin(&mut ann, &mut bob).await;
    ann.play("nf3", "Nf3").await;
    bob.play("e5", "e5").await;
    let list = ann.ask("moves").await;
    assert!(list.contains("  1.  Nf3     (0:00.000)     e5      (0:00.000)"), "{list}");
    for words in ["moves l", "moves l 1"] {
        let list = ann.ask(words).await;
        assert!(list.contains("  1.  g1f3    (0:00.000)     e7e5    (0:00.000)"), "{list}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn open_offers_are_listed() {
    let (_server, mut ann, mut bob) = two_people("").await;
    ann.say("match Bob 5 0 unrated white").await;
    bob.until("Challenge: Ann").await;
    let terms = "Ann (----) [white] Bob (----) unrated blitz 5 0.\n\r";
    let list = bob.ask("pending").await;
    assert!(list.contains("There are no offers pending TO other players.\n\r"), "{list}");
    let offered = format!("\n\rOffers FROM other players:\n\r 1: Ann is offering a challenge: {terms}");
    assert!(list.contains(&offered), "{list}");
    let list = ann.ask("pending").await;
    let offered = format!("Offers TO other players:\n\r 1: You are offering Bob a challenge: {terms}");
    assert!(list.contains(&offered), "{list}");
    assert!(list.contains("There are no offers pending FROM other players."), "{list}");
}

#[tokio::test(flavor = "multi_thread")]
async fn numbers_of_ended_games_are_reused() {
    let server = server("").await;
    server.sparring("Sparring", SparringKind::Random).await.expect("a player");
    let mut ann = newcomer(&server, "Ann").await;
    ann.say("match sparring 1 1 unrated white").await;
    ann.until("{Game 1 (Ann vs. Sparring) Creating").await;
    drop(ann);
    let mut ann = login(&server, "Ann").await;
    ann.say("match sparring 1 1 unrated white").await;
    ann.until("{Game 1 (Ann vs. Sparring) Creating").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn rematch_repeats_the_terms() {
    let (_server, mut ann, mut bob) = two_people("").await;
    fools_mate(&mut ann, &mut bob).await;
    bob.say("rematch").await;
    ann.until("Challenge: Bob (----) Ann (----) unrated blitz 5 0.").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whispers_skip_the_players() {
    let (server, mut ann, mut bob) = two_people("").await;
    let (mut cyd, mut dan) = (newcomer(&server, "Cyd").await, newcomer(&server, "Dan").await);
    begin(&mut ann, &mut bob).await;
    cyd.ask("observe Ann").await;
    dan.ask("observe 1").await;
    cyd.ask("whisper what a game").await;
    dan.until("Cyd[1] whispers: what a game").await;
    assert!(!ann.ask("date").await.contains("whispers"));
    assert!(bob.ask("whisper hello").await.contains("(whispered)"));
    cyd.until("Bob[1] whispers: hello").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn announcements_reach_everybody() {
    let (_server, mut ann, mut bob) = two_people("").await;
    ann.say("announce supper is ready").await;
    bob.until("\n\r    **ANNOUNCEMENT** from Ann: supper is ready\n\r").await;
}
