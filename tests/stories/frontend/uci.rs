//! Tests over UCI.

use domain::{Line, UciMove, Variant};

use super::program::Program;

fn start() -> Program {
    let mut program = Program::start(&["uci"]);
    program.say("uci");
    program.until("uciok");
    program
}

/// The move of a `bestmove` line, and the reply it expects.
fn best_move(program: &Program) -> (UciMove, Option<UciMove>) {
    let words = program.answer("bestmove");
    let mut words = words.split(' ');
    let best = words.next().and_then(|text| text.parse().ok()).expect("a move");
    (best, words.nth(1).and_then(|text| text.parse().ok()))
}

#[testkit::test]
fn a_won_game_is_played_to_mate() {
    let fen = "8/8/8/4k3/8/8/8/KQR5 w - - 0 1";
    let mut line = Line::from_fen(Variant::Standard, fen).expect("a position");
    let mut program = start();
    program.say("ucinewgame");
    while !line.legal_moves().is_empty() && line.ply() < 60 {
        let moves: Vec<String> = line.moves().iter().map(ToString::to_string).collect();
        program.say(&format!("position fen {fen} moves {}\ngo nodes 3000", moves.join(" ")));
        let (best, _) = best_move(&program);
        line.play(best).expect("a legal move");
    }
    assert!(shakmaty::Position::is_checkmate(line.position()), "{line:?}");
    program.say(&format!("position fen {}\ngo nodes 10", line.fen()));
    assert_eq!(program.answer("bestmove"), "0000", "a game that is over has no move");
}

#[testkit::test]
fn final_position_is_analysed_until_stop() {
    let mut program = start();
    program.say("position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1\ngo infinite\nisready");
    assert!(!program.until("readyok").iter().any(|line| line.starts_with("bestmove")));
    program.say("stop");
    assert_eq!(program.answer("bestmove"), "0000");
}

#[testkit::test]
fn ponder_miss_is_discarded() {
    let mut program = start();
    program.say("position startpos moves e2e4 e7e5\ngo ponder wtime 2000 btime 2000");
    program.until("info depth ");
    program.say("stop\nposition startpos moves e2e4 c7c5\ngo nodes 2000");
    best_move(&program);
    let (best, _) = best_move(&program);
    let mut line = Line::start(Variant::Standard);
    line.play_all("e2e4 c7c5").expect("legal");
    assert!(line.is_legal(best), "the answer is for the position on the board");
}

#[testkit::test]
fn votes_are_shown_before_the_move() {
    let mut program = start();
    program.say("position startpos\ngo nodes 2000");
    let heard = program.until("bestmove");
    for elector in ["mbxkcpar: all knowledge", "pawns (mp)", "attack (ma)"] {
        let shown = |line: &String| line.starts_with("info string") && line.contains(elector);
        assert!(heard.iter().any(shown), "{elector} in {heard:#?}");
    }
    assert!(heard.iter().any(|line| line.starts_with("info string 1.") && line.contains(" by ")), "{heard:#?}");
}

#[testkit::test]
fn invalid_input_changes_nothing() {
    let mut program = start();
    for (wrong, says) in [
        ("setoption name Hash value -3", "Hash: \"-3\" (accepted: 1 to 1048576)"),
        ("setoption name Roster value balanced-99", "roster \"balanced-99\": expected"),
        ("setoption name Criterion value dice", "Criterion: \"dice\" (accepted: "),
        ("setoption name Colour value red", "unknown option \"Colour\""),
        ("setoption", "setoption needs"),
        ("position startpos moves e2e5", "\"e2e5\" (ply 0) is not legal"),
        ("position fen 8/8/8/8 w - -", "is not a legal"),
        ("position", "accepted: startpos"),
        ("debug perhaps", "accepted: on, off"),
        ("castle now", "unknown command \"castle\""),
    ] {
        program.say(wrong);
        let said = program.answer("info string");
        assert!(said.contains(says), "{wrong}: {said}");
    }
    program.say("ponderhit\nstop\ngo nodes 500");
    assert!(Line::start(Variant::Standard).is_legal(best_move(&program).0));
}

/// Every `go` gets a move, with any arguments.
#[testkit::test]
fn invalid_go_is_explained_and_answered() {
    let mut program = start();
    program.say("position startpos");
    for (go, says) in [
        ("go depth x", "not understood, ignored: depth x"),
        ("go searchmoves e2e5", "no legal move follows"),
        ("go nodes 500 ponies 3", "not understood, ignored: ponies 3"),
    ] {
        program.say(go);
        let said = program.answer("info string");
        assert!(said.contains(says), "{go}: {said}");
        assert!(Line::start(Variant::Standard).is_legal(best_move(&program).0), "{go}");
    }
}

#[testkit::test]
fn castling_notation_is_an_option() {
    let mut program = start();
    program.say("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\ngo depth 2 searchmoves e1g1");
    assert_eq!(best_move(&program).0.to_string(), "e1g1");
    program.say("setoption name UCI_Chess960 value true");
    program.say("position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\ngo depth 2 searchmoves e1h1");
    assert_eq!(best_move(&program).0.to_string(), "e1h1");
}

#[testkit::test]
fn search_survives_end_of_input() {
    for limit in ["nodes 2000", "infinite"] {
        let mut program = start();
        program.say(&format!("position startpos\ngo {limit}"));
        assert!(program.end().last().is_some_and(|line| line.starts_with("bestmove")), "{limit}");
    }
}

#[testkit::test]
#[cfg(unix)]
fn engine_is_kept_for_the_next_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let starts = folder.path().join("starts");
    let engine = env!("CARGO_BIN_EXE_concilio");
    let script = format!("echo start >> '{}'\nexec '{engine}' uci --single", starts.display());
    let mut program = Program::start_with_engine(folder.path(), &script);
    program.say("isready");
    program.until("readyok");
    for _ in 0..3 {
        program.say("ucinewgame\nposition startpos moves e2e4\ngo nodes 1000");
        best_move(&program);
    }
    assert_eq!(std::fs::read_to_string(&starts).expect("it was started"), "start\n");
}

#[testkit::test]
#[cfg(unix)]
fn engine_move_with_only_a_bound_counts() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = "while read -r command rest; do case $command in
            uci) echo uciok ;; isready) echo readyok ;; quit) exit ;;
            go) echo info depth 20 score cp 30 nodes 10 pv e2e4
                echo info depth 21 score cp 45 lowerbound nodes 20 pv d2d4
                echo bestmove d2d4 ;;
        esac; done";
    let mut program = Program::start_with_engine(folder.path(), script);
    program.say("position startpos\ngo nodes 1000");
    assert_eq!(program.answer("bestmove"), "d2d4");
}

#[testkit::test]
#[cfg(unix)]
fn it_is_ready_when_its_engines_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let ready = folder.path().join("ready");
    // It takes its time before it answers.
    let slow = format!(
        "while read -r command; do case $command in
            uci) echo uciok ;; isready) sleep 0.5; touch {}; echo readyok ;; quit) exit ;;
        esac; done",
        ready.display()
    );
    let mut program = Program::start_with_engine(folder.path(), &slow);
    program.say("uci\nisready");
    program.until("readyok");
    assert!(ready.exists(), "readyok was said before the engine had said so");
}
