//! Italian draughts on the console: games against the program, between programs, and to watch.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    process::Stdio,
};

use testkit::ChildProgram;

use super::concilio;

/// Returns the program's output for these input lines.
fn told(arguments: &[&str], lines: &str) -> String {
    let mut command = concilio(arguments);
    let mut program =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts");
    let mut input = program.stdin.take().expect("its input");
    input.write_all(lines.as_bytes()).expect("it listens");
    drop(input);
    let output = program.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Joins the lines of a text: they may be broken between any two words.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[testkit::test]
fn draughts_game_shows_and_keeps_votes() {
    let folder = tempfile::tempdir().expect("a folder");
    let pdn = folder.path().join("game.pdn");
    let arguments = ["draughts", "--pace", "nodes=300", "--pdn", pdn.to_str().expect("a path")];
    let said =
        told(&arguments, "help\nmoves\n22-19\n99-1\nplayer unknown\nplayer fully-guarded\nundo\n22-18\nresign\n");
    for part in ["22x15x6", "21-17 21-18", "peso-posizione (mpk)", "is no move", "expected council", "by re-search"] {
        assert!(said.contains(part), "{part}: {said}");
    }
    let written = fs::read_to_string(&pdn).expect("the game");
    assert!(
        written.contains("[White \"human\"]") && written.contains("1. 22-18") && written.contains("0-1"),
        "{written}"
    );
    let read = unwrapped(&told(&["draughts", "pdn", pdn.to_str().expect("a path")], ""));
    // The council's own reply was taken back, with its vote.
    assert!(read.contains("by majority") && !read.contains("by re-search"), "the votes are comments: {read}");
}

#[testkit::test]
fn position_is_explained_and_counted() {
    let explained = told(&["draughts", "eval", "W:W21,22,K30:B1,2"], "");
    assert!(explained.contains("peso-pedine         200") && explained.contains("White to move"), "{explained}");
    let counted = told(&["draughts", "perft", "6"], "");
    assert!(counted.ends_with(" 6  36473\n"), "{counted}");
    let output = concilio(&["draughts", "eval", "W:W99:B1"]).output().expect("it starts");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("99"));
}

/// Returns standard output and standard error of a command that succeeds.
fn asked(arguments: &[&str]) -> [String; 2] {
    let output = concilio(arguments).output().expect("it starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    [text(&output.stdout), text(&output.stderr)]
}

#[testkit::test]
fn journal_keeps_draughts_votes() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("journal.db");
    let journal = ["--journal", file.to_str().expect("a path")];
    let start = ["draughts", "--pace", "nodes=300", "--start", "W:W21,22,23,31:B1,2,10,11"];
    told(&[&start[..], &journal].concat(), "22-18\nundo\n21-17\nresign\n");
    let games = |more: &[&str]| asked(&[&["games"], &journal[..], more].concat());

    let [table, _] = games(&[]);
    assert!(table.contains("console") && table.contains("casual italian-draughts") && table.contains("won"), "{table}");
    let [votes, _] = games(&["--votes"]);
    assert!(
        votes.contains("1… ") && votes.contains("by re-search") && votes.contains("peso-posizione (mpk)"),
        "{votes}"
    );
    let [json, _] = games(&["--json"]);
    assert!(json.contains("\"variant\":\"italian-draughts\"") && json.contains("\"uci\":\"21-17\""), "{json}");
    let [pdn, _] = games(&["--pdn"]);
    let text = unwrapped(&pdn);
    assert!(text.contains("[FEN \"W:W21,22,23,31:B1,2,10,11\"]") && text.contains("1. 21-17 "), "{text}");
    assert!(text.contains("fully-guarded (mpsk) ") && text.ends_with("0-1"), "{text}");
    let sheet = folder.path().join("games.pdn");
    fs::write(&sheet, &pdn).expect("written");
    assert_eq!(unwrapped(&told(&["draughts", "pdn", sheet.to_str().expect("a path")], "")), text);

    // With `--pgn` only chess games are printed.
    let [pgn, said] = games(&["--pgn"]);
    assert!(pgn.is_empty() && said.contains("--pdn"), "{pgn} {said}");
    let output = folder.path().join("report");
    let report = concilio(&[&["report", "--output", output.to_str().expect("a path")], &journal[..]].concat());
    let [said, told] = { report }.output().map(|it| [it.stdout, it.stderr]).expect("it starts");
    assert!(!String::from_utf8_lossy(&[said, told].concat()).contains("italian"), "a report is about chess");
}

#[testkit::test]
fn locked_journal_stops_no_game() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("journal.db");
    let journal = ["--journal", file.to_str().expect("a path")];
    let serve = ["draughts", "serve", "--listen", "127.0.0.1:0", "--pace", "nodes=200"];
    let mut server =
        ChildProgram(concilio(&[&serve[..], &journal].concat()).stdout(Stdio::piped()).spawn().expect("it starts"));
    let mut said = BufReader::new(server.0.stdout.take().expect("its output"));
    let mut line = String::new();
    said.read_line(&mut line).expect("where it listens");
    let address = line.trim().rsplit(' ').next().expect("an address").to_owned();
    let connect = ["draughts", "connect", &address, "--start", "W:WK29,K30:B18", "--pace", "nodes=200"];
    let [_, warned] = asked(&[&connect[..], &journal].concat());
    assert!(warned.contains("cannot be written") && warned.contains("is writing it"), "{warned}");
    // The one that has it has written its side of the game.
    line.clear();
    said.read_line(&mut line).expect("how the game ended");
    let [games, _] = asked(&[&["games", "--json"], &journal[..]].concat());
    assert!(games.contains("\"server\":\"damexchange\"") && games.contains("\"result\":\"lost\""), "{games}");
}

#[testkit::test]
fn two_programs_play_over_a_socket() {
    let mut command = concilio(&["draughts", "serve", "--listen", "127.0.0.1:0", "--pace", "nodes=200"]);
    let mut server = ChildProgram(command.stdout(Stdio::piped()).spawn().expect("it starts"));
    let mut said = BufReader::new(server.0.stdout.take().expect("its output"));
    let mut line = String::new();
    said.read_line(&mut line).expect("where it listens");
    let address = line.trim().rsplit(' ').next().expect("an address").to_owned();
    for color in ["white", "black"] {
        let folder = tempfile::tempdir().expect("a folder");
        let pdn = folder.path().join("game.pdn");
        let pdn_text = pdn.to_str().expect("a path");
        let arguments =
            ["draughts", "connect", &address, "--color", color, "--start", "ballot:7", "--pace", "nodes=200"];
        told(&[&arguments[..], &["--player", "fully-guarded", "--pdn", pdn_text]].concat(), "");
        let written = fs::read_to_string(&pdn).expect("the game");
        assert!(written.contains("[FEN ") && !written.contains("[Result \"*\"]"), "{written}");
        line.clear();
        said.read_line(&mut line).expect("how the game ended");
        assert!(line.contains("after") && line.contains("moves"), "{line}");
    }
}

#[testkit::test]
fn demo_prints_votes_in_plain_lines() {
    let folder = tempfile::tempdir().expect("a folder");
    let data = folder.path().to_str().expect("a path");
    let said = told(&["demo", "--game", "draughts", "--tc", "1+0", "--data", data], "");
    assert!(said.contains("council: 2. ") && said.contains("fully-guarded: "), "{said}");
    assert!(said.contains("wins") || said.contains("drawn"), "{said}");
    let written = unwrapped(&fs::read_to_string(folder.path().join("draughts.pdn")).expect("the game"));
    assert!(written.contains("by re-search"), "{written}");
    let journal = folder.path().join("journal.db");
    let votes = asked(&["games", "--votes", "--journal", journal.to_str().expect("a path")]);
    assert!(votes[0].contains("demo/") && votes[0].contains("by re-search"), "{votes:?}");
}
