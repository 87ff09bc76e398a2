use std::io::{self, Cursor};

use super::*;

/// Returns the engine's answer to a script.
fn converse(script: &str) -> String {
    #[derive(Clone, Default)]
    struct Page(Arc<Mutex<Vec<u8>>>);
    impl Write for Page {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no writer panics").write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let page = Page::default();
    run(Cursor::new(script.to_owned()), page.clone());
    let bytes = page.0.lock().expect("no writer panics").clone();
    String::from_utf8(bytes).expect("only text is written")
}

#[test]
fn mate_in_one_is_found() {
    let answers = converse("uci\nisready\nposition fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1\ngo depth 4\n");
    assert!(answers.contains("uciok") && answers.contains("readyok"));
    assert!(answers.contains("score mate 1"), "{answers}");
    assert!(answers.trim_end().ends_with("bestmove a1a8"), "{answers}");
}

#[test]
fn infinite_search_answers_stop() {
    for script in ["position startpos moves e2e4\ngo infinite\nstop\nquit\n", "go ponder wtime 1000 btime 1000\nstop\n"]
    {
        assert!(converse(script).contains("bestmove"), "{script}");
    }
}

/// The sender is gone: searches that only it could have ended must end.
#[test]
fn end_of_input_stops_the_search() {
    for go in ["go", "go mate 20", "go infinite", "go ponder wtime 100000", "go ponder mate 20\nponderhit"] {
        assert!(converse(&format!("position startpos\n{go}\n")).contains("bestmove"), "{go}");
    }
}

#[test]
fn fixed_time_and_clock_both_hold() {
    for go in ["go movetime 1000000 wtime 300 btime 300", "go movetime 100 wtime 1000000 btime 1000000"] {
        assert!(converse(&format!("position startpos\n{go}\n")).contains("bestmove"), "{go}");
    }
}

/// Some programs send every number that they know, whatever it means.
#[test]
fn infinite_ignores_the_clock() {
    let read = |text: &str| Go::<()>::read(text, |_| None);
    let endless = read("infinite wtime 60000 btime 60000 winc 0 binc 0");
    assert_eq!((endless.clock(0), endless.is_bounded(crate::board::Color::White)), (None, false));
    for nothing in ["0", "-1"] {
        assert_eq!(read(&format!("wtime 60000 btime 60000 movestogo {nothing}")).moves_to_go, None);
    }
    assert_eq!(read("wtime 60000 btime 60000 movestogo 1").moves_to_go, Some(1));
}

#[test]
fn zero_limit_is_ignored_if_another_is_set() {
    use crate::Limits;

    let bounds = |text: &str| {
        let go = Go::<()>::read(text, |_| None);
        (go.limits, go.clock(0))
    };
    let noughts = "movestogo 0 depth 0 nodes 0 mate 0 movetime 0";
    let minute = Some(Duration::from_secs(60));
    let none = Limits::default();
    assert_eq!(bounds(&format!("wtime 60000 btime 60000 {noughts}")), (none, minute));
    assert_eq!(bounds(&format!("infinite {noughts}")), (none, None));
    let twelve_plies = Limits { depth: Some(12), ..none };
    assert_eq!(bounds("wtime 0 btime 0 winc 0 binc 0 movetime 0 depth 12"), (twelve_plies, None));
    assert_eq!(bounds("wtime 0 btime 0 nodes 0"), (none, Some(Duration::ZERO)), "a clock that has run out");
    assert_eq!(bounds("depth 0").0, Limits { depth: Some(1), ..none });
    assert_eq!(bounds("nodes 0").0, Limits { nodes: Some(1), ..none });
    assert_eq!(bounds("ponder movetime 0").0, Limits { time: Some(Duration::ZERO), ..none });
}

#[test]
fn finished_position_has_a_score() {
    for (fen, score) in [("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "mate 0"), ("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1", "cp 0")] {
        let answers = converse(&format!("position fen {fen}\ngo wtime 100 btime 100\n"));
        assert_eq!(answers, format!("info depth 0 score {score}\nbestmove 0000\n"));
    }
}

#[test]
fn wrong_input_changes_nothing() {
    for (wrong, says) in [
        ("setoption name Hash value -3", "Hash: \"-3\" (accepted: 1 to 1048576)"),
        ("setoption name Knowledge value xyz", "Knowledge: \"xyz\" is no knowledge set"),
        ("setoption name Colour value red", "unknown option \"colour\""),
        ("position startpos moves e2e5", "\"e2e5\" is no legal move"),
        ("position fen 8/8/8/8 w - -", "FEN"),
        ("position", "accepted: startpos"),
        ("go depth x", "not understood"),
        ("go searchmoves e2e5", "no legal move follows"),
        ("castle now", "unknown command \"castle\""),
    ] {
        let answers = converse(&format!("{wrong}\ngo nodes 100\n"));
        assert!(answers.contains("info string") && answers.contains(says), "{wrong}: {answers}");
        assert!(answers.contains("bestmove"), "{wrong}: {answers}");
    }
}

#[test]
fn an_option_may_be_set_to_nothing() {
    for option in ["SyzygyPath", "EvalFile", "Search"] {
        for nothing in ["value ", "value", ""] {
            let answers = converse(&format!("setoption name {option} {nothing}\ngo nodes 100\n"));
            assert!(answers.contains("bestmove") && !answers.contains("unknown option"), "{option}: {answers}");
        }
    }
}

#[test]
fn legal_search_moves_are_respected() {
    for moves in ["a2a3 h2h3", "a2a3 e2e5 h2h3"] {
        let answers = converse(&format!("position startpos\ngo depth 3 searchmoves {moves}\n"));
        assert!(answers.contains("bestmove a2a3") || answers.contains("bestmove h2h3"), "{answers}");
    }
}

#[test]
fn castling_follows_the_option() {
    let place = "position fen 4k3/8/8/8/8/8/8/4K2R w K - 0 1\ngo depth 1 searchmoves";
    assert!(converse(&format!("{place} e1g1\n")).contains("bestmove e1g1"));
    assert!(converse(&format!("setoption name UCI_Chess960 value true\n{place} e1h1\n")).contains("bestmove e1h1"));
}

#[test]
fn unknown_words_of_go_are_ignored() {
    for (go, ignored) in [
        ("go wtime 1000 btime 1000 foo 3", "foo 3"),
        ("go depth 2 searchmoves e2e5", "searchmoves e2e5 (no legal move follows searchmoves)"),
        ("go searchmoves e2e5 depth 2", "searchmoves e2e5 (no legal move follows searchmoves)"),
        ("go depth 2 searchmoves e2e4 e2e5", "e2e5"),
        ("go depth nodes 100", "depth"),
        ("go nodes many", "nodes many"),
    ] {
        let answers = converse(&format!("position startpos\n{go}\n"));
        let complaint = format!("info string go: not understood, ignored: {ignored}\n");
        assert!(answers.contains(&complaint), "{go}: {answers}");
        assert!(answers.contains("bestmove"), "{go}: {answers}");
    }
}

#[test]
fn last_info_shows_the_best_move() {
    // Among these limits, an iteration begun before one of them had found another move.
    for nodes in (10..150).map(|tens| 10 * tens) {
        let answers = converse(&format!("position startpos\ngo nodes {nodes}\n"));
        let last = answers.lines().rfind(|line| line.starts_with("info depth")).expect("an iteration");
        let shown = last.split(" pv ").nth(1).and_then(|pv| pv.split(' ').next()).expect("a variation");
        let answer = answers.lines().last().expect("an answer");
        assert!(answer.starts_with(&format!("bestmove {shown}")), "{nodes} nodes: {last}\n{answer}");
    }
}

#[test]
fn only_move_gets_a_score() {
    let answers = converse("position fen 6k1/8/8/8/8/7P/6P1/r6K w - - 0 1\ngo wtime 600000 btime 600000\n");
    let last = answers.lines().rfind(|line| line.starts_with("info depth")).expect("an iteration");
    assert!(last.starts_with("info depth 6 ") && last.contains(" score "), "{last}");
    assert!(answers.contains("bestmove h1h2"), "{answers}");
}

#[test]
fn net_from_file_is_used() {
    let net = crate::net::senseless(crate::net::Header::default());
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("some.net");
    std::fs::write(&file, net.to_bytes()).expect("a writable folder");
    let set = format!("setoption name EvalFile value {}\nsetoption name Knowledge value n\n", file.display());
    let answers = converse(&format!("{set}setoption name Net value 90\nposition startpos\ngo nodes 500\n"));
    assert!(!answers.contains("info string") && answers.contains("bestmove"), "{answers}");
    assert!(converse(&format!("{set}eval\n")).contains("n net"), "a line of the table");

    assert!(converse("setoption name Knowledge value n\neval\ngo nodes 100\n").contains("n net"), "one is shipped");
    let answers = converse("setoption name Knowledge value kn\ngo nodes 100\n");
    assert!(answers.contains("Knowledge: kn: a net judges alone (accepted: n, or letters of mbxkcpar)"), "{answers}");

    std::fs::write(&file, "text").expect("a writable folder");
    let answers = converse(&set);
    assert!(answers.contains("some.net: not a net of concilio"), "{answers}");
    let answers = converse("setoption name EvalFile value /no/such.net\ngo nodes 100\n");
    assert!(answers.contains("EvalFile: /no/such.net: ") && answers.contains("bestmove"), "{answers}");
}

proptest::proptest! {
    #[test]
    fn arguments_of_go_never_panic(
        words in "((wtime|btime|winc|movestogo|depth|nodes|mate|movetime|searchmoves|infinite|foo|e2e4|-?[0-9]{1,20}) ){0,8}",
    ) {
        let go = Go::read(&words, |text| (text == "e2e4").then_some(()));
        let understood = words.split_whitespace().count() - go.ignored.len().min(words.split_whitespace().count());
        proptest::prop_assert!(understood > 0 || go.complaint().is_some() || words.trim().is_empty(), "{}", words);
    }
}
