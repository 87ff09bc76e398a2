//! Tests of UCI compliance, as match runners test an engine before games: for the council and for
//! the engine alone.

use domain::{Line, UciMove, Variant};

use super::program::Program;

const CASTLING: &str = "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 4 8";
const ENDGAME: &str = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";

/// Runs a story with the council and with the engine alone.
fn both(story: impl Fn(&mut Program)) {
    for program in [Program::start(&["uci"]), Program::start_with(&["uci", "--single"])] {
        let mut program = program;
        program.say("uci");
        let said = program.until("uciok");
        assert!(said.iter().any(|line| line.starts_with("id name ")), "{said:#?}");
        assert!(said.iter().any(|line| line.starts_with("id author ")), "{said:#?}");
        said.iter().filter(|line| line.starts_with("option ")).for_each(|line| assert_option(line));
        ready(&mut program);
        story(&mut program);
    }
}

fn ready(program: &mut Program) -> Vec<String> {
    program.say("isready");
    program.until("readyok")
}

/// An option has a name, a type, and the values of its type.
#[track_caller]
fn assert_option(line: &str) {
    let rest = line.strip_prefix("option name ").unwrap_or_else(|| panic!("{line:?}"));
    let (name, kind) = rest.split_once(" type ").unwrap_or_else(|| panic!("{line:?}"));
    let words: Vec<&str> = kind.split_whitespace().collect();
    assert!(!name.is_empty(), "{line:?}");
    match words.as_slice() {
        ["button"] | ["string", "default", ..] | ["check", "default", "true" | "false"] => {}
        ["spin", "default", value, "min", least, "max", most] => {
            let number = |text: &str| text.parse::<i64>().unwrap_or_else(|_| panic!("{line:?}"));
            assert!((number(least)..=number(most)).contains(&number(value)), "{line:?}");
        }
        ["combo", "default", value, "var", ..] => assert!(kind.contains(&format!("var {value}")), "{line:?}"),
        _ => panic!("{line:?}"),
    }
}

/// An `info` line: every word is known, every number is one, the principal variation can be played.
#[track_caller]
fn assert_info(line: &str, position: &Line) {
    let mut words = line.split_whitespace().skip(1).peekable();
    let number = |word: Option<&str>| word.and_then(|word| word.parse::<i64>().ok());
    while let Some(word) = words.next() {
        match word {
            "string" => return,
            "depth" | "seldepth" | "time" | "nodes" | "nps" | "hashfull" | "tbhits" | "multipv" | "currmovenumber" => {
                let value = number(words.next());
                assert!(value.is_some_and(|value| value >= 0), "{word} in {line:?}");
            }
            "score" => {
                assert!(matches!(words.next(), Some("cp" | "mate")), "{line:?}");
                assert!(number(words.next()).is_some(), "{line:?}");
                let _ = words.next_if(|word| ["lowerbound", "upperbound"].contains(word));
            }
            "currmove" => assert!(words.next().is_some(), "{line:?}"),
            "pv" => {
                let mut played = position.clone();
                let moves: Vec<&str> = words.by_ref().collect();
                assert!(!moves.is_empty(), "{line:?}");
                played.play_all(&moves.join(" ")).unwrap_or_else(|error| panic!("{error} in {line:?}"));
            }
            other => panic!("{other:?} in {line:?}"),
        }
    }
}

/// Looks at everything that was said after a `go` about this position, and gives the move.
#[track_caller]
fn assert_answer(said: &[String], position: &Line) -> UciMove {
    let (best, infos) = said.split_last().expect("an answer");
    let words: Vec<&str> = best.split_whitespace().collect();
    let (best, ponder) = match words.as_slice() {
        ["bestmove", best] => (best, None),
        ["bestmove", best, "ponder", reply] => (best, Some(reply)),
        _ => panic!("{best:?}"),
    };
    let mut after = position.clone();
    after.play_all(best).unwrap_or_else(|error| panic!("{error}"));
    after.play_all(ponder.copied().unwrap_or_default()).unwrap_or_else(|error| panic!("{error}"));
    for line in infos {
        assert!(line.starts_with("info "), "{line:?}");
        assert_info(line, position);
    }
    let scored = |line: &&String| !line.starts_with("info string") && line.contains(" score ");
    assert!(infos.iter().any(|line| scored(&line)), "no score in {said:#?}");
    best.parse().expect("a move")
}

fn position(fen: &str, moves: &str) -> (String, Line) {
    let mut line = Line::from_fen(Variant::Standard, fen).expect("a position");
    line.play_all(moves).expect("legal moves");
    let start = if fen == "startpos" { fen.to_owned() } else { format!("fen {fen}") };
    let moves = if moves.is_empty() { String::new() } else { format!(" moves {moves}") };
    (format!("position {start}{moves}"), line)
}

/// Promise 3: a move with a score was searched.
#[testkit::test]
fn every_limit_yields_a_scored_move() {
    let positions = [
        position("startpos", ""),
        position("startpos", "e2e4 e7e5 g1f3"),
        position(CASTLING, ""),
        position(CASTLING, "e1c1 e8g8"),
        position(ENDGAME, ""),
    ];
    let limits = [
        "depth 1",
        "depth 4",
        "nodes 1",
        "nodes 2000",
        "movetime 1",
        "movetime 50",
        "wtime 100",
        "btime 100",
        "wtime 100 btime 100",
        "wtime 100 btime 100 winc 50 binc 50",
        "wtime 100 btime 100 movestogo 1",
        "wtime 1 btime 1",
        "wtime 2000 btime 2000 winc 10 binc 10 movestogo 40",
        "depth 3 nodes 5000 movetime 1000",
    ];
    both(|program| {
        for (command, line) in &positions {
            program.say("ucinewgame");
            ready(program);
            for limit in limits {
                program.say(&format!("{command}\ngo {limit}"));
                assert_answer(&program.until("bestmove"), line);
            }
            assert_eq!(ready(program), ["readyok"], "nothing comes after the move");
        }
    });
}

#[testkit::test]
fn infinite_search_ends_only_with_stop() {
    both(|program| {
        let (command, line) = position(CASTLING, "");
        for _ in 0..3 {
            program.say(&format!("{command}\ngo infinite"));
            let mut said = program.until("info depth ");
            said.extend(ready(program));
            said.retain(|line| line != "readyok");
            assert!(!said.iter().any(|line| line.starts_with("bestmove")), "{said:#?}");
            program.say("stop");
            said.extend(program.until("bestmove"));
            assert_answer(&said, &line);
            assert_eq!(ready(program), ["readyok"], "nothing comes after the move");
        }
        program.say("stop\nstop");
        assert_eq!(ready(program), ["readyok"], "where nothing is searched there is nothing to stop");
    });
}

#[testkit::test]
fn ponderhit_is_answered_on_the_clock() {
    both(|program| {
        let (command, line) = position("startpos", "e2e4 e7e5");
        program.say(&format!("{command}\ngo ponder wtime 2000 btime 2000"));
        let mut said = program.until("info depth ");
        program.say("ponderhit");
        said.extend(program.until("bestmove"));
        assert_answer(&said, &line);
    });
}

/// A move found while pondering is kept until the expected move is played.
#[testkit::test]
fn pondered_move_waits_for_ponderhit() {
    both(|program| {
        let (command, line) = position("startpos", "e2e4 e7e5");
        program.say(&format!("{command}\ngo ponder depth 3"));
        let mut said = program.until("info depth 3");
        said.extend(ready(program));
        said.retain(|line| line != "readyok");
        assert!(!said.iter().any(|line| line.starts_with("bestmove")), "{said:#?}");
        program.say("ponderhit");
        said.extend(program.until("bestmove"));
        assert_answer(&said, &line);
    });
}

#[testkit::test]
fn immediate_stop_yields_a_searched_move() {
    both(|program| {
        let (command, line) = position(ENDGAME, "");
        for _ in 0..5 {
            program.say(&format!("{command}\ngo infinite\nstop"));
            assert_answer(&program.until("bestmove"), &line);
        }
    });
}

#[testkit::test]
fn searchmoves_limits_the_answer() {
    both(|program| {
        let (command, line) = position("startpos", "");
        for (moves, limit) in [("a2a3", "depth 3"), ("a2a3 h2h3", "nodes 500"), ("b1a3 g1h3", "wtime 100")] {
            // `searchmoves` takes all moves that follow it.
            program.say(&format!("{command}\ngo {limit} searchmoves {moves}"));
            let best = assert_answer(&program.until("bestmove"), &line).to_string();
            assert!(moves.contains(&best), "{best} of {moves}");
        }
    });
}

#[testkit::test]
fn short_game_searches_every_move() {
    both(|program| {
        let mut line = Line::start(Variant::Standard);
        program.say("ucinewgame");
        while line.ply() < 30 && line.legal_moves().len() > 1 {
            let moves: Vec<String> = line.moves().iter().map(ToString::to_string).collect();
            let (command, _) = position("startpos", &moves.join(" "));
            program.say(&format!("{command}\ngo wtime 100 btime 100 winc 5 binc 5"));
            let best = assert_answer(&program.until("bestmove"), &line);
            line.play(best).expect("a legal move");
        }
    });
}

#[testkit::test]
fn finished_game_has_no_best_move() {
    both(|program| {
        for fen in ["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"] {
            program.say(&format!("position fen {fen}\ngo wtime 100 btime 100"));
            let answer = program.answer("bestmove");
            assert!(["0000", "(none)"].contains(&answer.as_str()), "{answer:?}");
        }
    });
}

#[testkit::test]
fn idle_options_change_nothing_else() {
    both(|program| {
        let (command, line) = position("startpos", "d2d4");
        program.say("setoption name Hash value 2\nsetoption name Clear Hash\nucinewgame\nucinewgame");
        ready(program);
        program.say(&format!("{command}\ngo depth 2"));
        assert_answer(&program.until("bestmove"), &line);
    });
}

/// A process that was stopped, as by a laptop's lid, goes on from where it was.
#[testkit::test]
#[cfg(target_os = "linux")]
fn suspended_program_answers_later() {
    use std::{thread::sleep, time::Duration};

    use rustix::process::Signal;

    both(|program| {
        let (command, line) = position(CASTLING, "");
        program.say(&format!("{command}\ngo movetime 300"));
        program.signal(Signal::STOP);
        // This is the fault itself: longer than the search was to take.
        sleep(Duration::from_secs(2));
        program.signal(Signal::CONT);
        assert_answer(&program.until("bestmove"), &line);
        program.say(&format!("{command}\ngo wtime 100 btime 100"));
        assert_answer(&program.until("bestmove"), &line);
    });
}

/// The only elector neither speaks nor ends, and has started a process itself.
#[testkit::test]
#[cfg(target_os = "linux")]
fn mute_engine_does_not_prevent_moves() {
    use std::{
        fs,
        time::{Duration, Instant},
    };

    use crate::lichess::electors::lives;
    use rustix::process::Pid;

    let folder = tempfile::tempdir().expect("a folder");
    let numbers = folder.path().join("numbers");
    let script = format!("trap '' TERM\nsleep 1000 &\necho $$ $! > {}\nwait\nsleep 1000", numbers.display());
    let mut program = Program::start_with_engine(folder.path(), &script);
    // An elector that is not ready in time is not awaited at a `go`, either.
    program.say("isready");
    program.until("readyok");
    // The queen hangs, and the move that takes it is not the first one.
    let (command, line) = position("6k1/5ppp/8/3q4/8/P1N5/1P3PPP/6K1 w - - 0 1", "");
    program.say(&format!("{command}\ngo wtime 100 btime 100"));
    assert_eq!(assert_answer(&program.until("bestmove"), &line).to_string(), "c3d5");
    program.say(&format!("{command}\ngo movetime 20"));
    assert_eq!(assert_answer(&program.until("bestmove"), &line).to_string(), "c3d5");

    let patience = Instant::now() + Duration::from_secs(300);
    let in_time = || assert!(Instant::now() < patience, "it takes too long");
    let mut known = String::new();
    while !known.ends_with('\n') {
        in_time();
        known = fs::read_to_string(&numbers).unwrap_or_default();
        std::thread::yield_now();
    }
    let process = |number: &str| Pid::from_raw(number.parse().ok()?);
    let processes: Vec<Pid> = known.split_whitespace().filter_map(process).collect();
    assert_eq!(processes.len(), 2, "{known}");
    program.say("quit");
    program.end();
    while processes.iter().copied().any(lives) {
        in_time();
        std::thread::yield_now();
    }
}
