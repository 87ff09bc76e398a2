//! Tests over CECP, for programs and for people at a console.

use domain::{Line, UciMove, Variant};

use super::program::Program;

fn start() -> Program {
    let mut program = Program::start(&["xboard"]);
    program.say("xboard\nprotover 2");
    program.until("feature done=1");
    // Two plies are enough wherever a story does not say otherwise.
    program.say("sd 2\nforce");
    program
}

fn its_move(program: &Program) -> UciMove {
    program.answer("move").parse().expect("a move in coordinates")
}

fn played(moves: &str) -> Line {
    let mut line = Line::start(Variant::Standard);
    line.play_all(moves).expect("legal moves");
    line
}

#[testkit::test]
fn features_are_announced_first() {
    let mut program = Program::start(&["xboard"]);
    program.say("xboard\nprotover 2");
    let features = program.until("feature done=1").join("\n");
    for feature in ["ping=1", "setboard=1", "usermove=1", "analyze=1", "fischerandom", "memory=1", "smp=1"] {
        assert!(features.contains(feature), "{feature} in {features}");
    }
    assert!(features.contains("feature option=\"Criterion -combo"), "{features}");
}

#[testkit::test]
fn game_is_played_to_mate() {
    let fen = "8/8/8/4k3/8/8/8/KQR5 w - - 0 1";
    let mut line = Line::from_fen(Variant::Standard, fen).expect("a position");
    let mut program = start();
    program.say(&format!("setboard {fen}\nsd 5\ngo"));
    loop {
        line.play(its_move(&program)).expect("a legal move");
        let replies = line.legal_moves();
        let Some(reply) = replies.first() else { break };
        assert!(line.ply() < 80, "no mate");
        line.play(*reply).expect("a legal move");
        program.say(&format!("usermove {reply}"));
    }
    assert_eq!(program.answer("1-0"), "{White mates}");
}

#[testkit::test]
fn it_moves_at_once_when_told_to() {
    let mut program = start();
    program.say("sd 0\nst 3600\npost\nusermove e2e4\ngo");
    program.until_it_thinks();
    program.say("?\nping 7");
    let heard = program.until("pong 7");
    let moved = heard.iter().rev().nth(1).and_then(|line| line.strip_prefix("move ")).expect("first the move");
    assert!(played("e2e4").is_legal(moved.parse().expect("a move")), "{moved}");
}

#[testkit::test]
fn ping_is_answered_after_a_cancelled_move() {
    let mut program = start();
    program.say("sd 0\nst 3600\npost\ngo");
    program.until_it_thinks();
    program.say("ping 5\nforce");
    assert!(!program.until("pong 5").iter().any(|line| line.starts_with("move")));
}

#[testkit::test]
fn ponder_hits_and_misses_are_answered() {
    for hit in [true, false] {
        let mut program = start();
        program.say("hard\nst 1\nsd 4\ngo");
        let mut line = played("");
        line.play(its_move(&program)).expect("legal");
        program.say("hint");
        let expected: UciMove = program.answer("Hint:").parse().expect("a move");
        let other = line.legal_moves().into_iter().find(|uci| *uci != expected).expect("another move");
        let reply = if hit { expected } else { other };
        program.say(&format!("usermove {reply}"));
        line.play(reply).expect("legal");
        assert!(line.is_legal(its_move(&program)), "hit: {hit}");
    }
}

#[testkit::test]
fn moves_are_undone_and_sides_changed() {
    let mut program = start();
    program.say("new\nsd 2\nusermove e2e4");
    its_move(&program);
    program.say("remove\nusermove d2d4");
    assert!(played("d2d4").is_legal(its_move(&program)));
    program.say("force\nundo\nplayother\nusermove g8f6");
    assert!(played("d2d4 g8f6").is_legal(its_move(&program)), "now it has White");
}

#[testkit::test]
fn invalid_input_changes_nothing() {
    let mut program = start();
    for (wrong, says) in [
        ("usermove e2e5", "Illegal move: e2e5"),
        ("e2e5", "Illegal move: e2e5"),
        ("castle", "Error (unknown command): castle"),
        ("level soon", "Error (level needs"),
        ("setboard 8/8", "Error (starting position"),
        ("variant atomic", "Error (variant \"atomic\""),
        ("undo", "Error (there is no such move"),
        ("option Roster=balanced-99", "Error (roster \"balanced-99\": expected"),
        ("memory lots", "Error (Hash: \"lots\""),
        ("get nowhere.pgn", "Error (\"nowhere.pgn\""),
        ("egtpath gaviota x", "Error (egtpath needs"),
    ] {
        program.say(wrong);
        program.say("ping 1");
        let heard = program.until("pong 1");
        assert!(heard[0].starts_with(says), "{wrong}: {heard:?}");
    }
    program.say("?\n.\nresult *\nnew\nsd 2\nusermove e2e4");
    assert!(played("e2e4").is_legal(its_move(&program)));
}

#[testkit::test]
fn analysis_follows_the_board() {
    let mut program = start();
    program.say("analyze");
    program.until_it_thinks();
    program.say(".");
    program.until("stat01:");
    // `new` clears the board and ends no analysis.
    program.say("new\nsd 1\nusermove e2e4");
    let mut heard = program.until_it_thinks();
    program.say("undo\nexit\nping 3");
    heard.extend(program.until("pong 3"));
    assert!(!heard.iter().any(|line| line.starts_with("move")), "{heard:?}");
    program.say("sd 2\ngo");
    assert!(played("").is_legal(its_move(&program)));
}

#[testkit::test]
fn position_is_set_up_piece_by_piece() {
    let mut program = start();
    program.say("edit\n#\nKe1\nRh1\nc\nKe8\n.\nbd");
    assert_eq!(program.answer("fen"), "4k3/8/8/8/8/8/8/4K2R w K - 0 1");
}

#[testkit::test]
fn debug_mode_prints_votes_as_comments() {
    let mut program = start();
    program.say("debug\ngo");
    let heard = program.until("move");
    for elector in ["mbxkcpar: all knowledge", "pawns (mp)", "attack (ma)"] {
        let shown = |line: &String| line.starts_with('#') && line.contains(elector);
        assert!(heard.iter().any(shown), "{elector} in {heard:#?}");
    }
}

#[testkit::test]
fn chess960_castling_follows_cecp() {
    let mut program = start();
    program.say("variant fischerandom\nforce\nsetboard 4k3/8/8/8/8/8/8/4K2R w H - 0 1\nusermove O-O\nbd");
    assert_eq!(program.answer("fen"), "4k3/8/8/8/8/8/8/5RK1 b - - 1 1");
}

/// Commands of GNU Chess 4.0.
#[testkit::test]
fn game_is_listed_saved_and_loaded() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("game.pgn");
    let mut program = start();
    program.say("e4\nNf6\nsd 2\ngo");
    its_move(&program);
    program.say("list");
    let heard = program.until("2. ");
    assert!(heard.iter().any(|line| line.starts_with("1. e4")), "{heard:#?}");
    program.say(&format!("force\nsave {}\nnew\nget {0}\nlist", file.display()));
    let heard = program.until("2. ");
    assert!(heard.iter().any(|line| line.starts_with("1… Nf6")), "{heard:#?}");
    program.say("help\nbd\np\neval\noptions\nping 9");
    let heard = program.until("pong 9").join("\n");
    for part in ["gamein", "to move", "Criterion", "king safety"] {
        assert!(heard.contains(part), "{part} in {heard}");
    }
}

#[testkit::test]
fn it_plays_both_sides_if_asked() {
    let mut program = start();
    program.say("both");
    let mut line = played("");
    for _ in 0..4 {
        line.play(its_move(&program)).expect("a legal move");
    }
}
