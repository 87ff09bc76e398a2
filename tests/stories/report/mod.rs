//! Games are played, and then studied as their owner would: with the command that the demo names, by our own engine and by
//! another one, and the annotated games are read by other programs.

mod idle;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{command_line, lichess::electors::program};
use testkit::needs::PYTHON_CHESS;

/// Runs the program in a folder, and returns its output.
fn concilio(arguments: &[&str], folder: &Path) -> String {
    let mut command = command_line::concilio(arguments);
    let output = command.current_dir(folder).stdin(Stdio::null()).output().expect("it starts");
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[testkit::test]
fn demo_names_a_working_report_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = ["demo", "--tc", "5+0.1", "--roster", "mbxkcpar mp ma", "--data", "played"];
    let played = concilio(&demo, folder.path());
    let last = played.lines().last().expect("a last line");
    let command = last.split_once("concilio report ").expect("how to study the games").1;
    let arguments: Vec<&str> = ["report"].into_iter().chain(command.split(' ')).chain(["--nodes", "500"]).collect();
    let studied = concilio(&arguments, folder.path());
    assert!(studied.contains("all games") && studied.contains("votes; lost a move"), "{studied}");
    let pages = folder.path().join("played/report");
    for page in ["index.html", "council.html", "games-1.html", "report.json", "games.csv", "moves.csv"] {
        assert!(pages.join(page).is_file(), "{page}");
    }

    let judged_again = concilio(&arguments, folder.path());
    assert!(judged_again.contains("since the last report: games 1.00 → 1.00"), "{judged_again}");
    another_engine_judges(folder.path());
}

/// Plays a game and reports on it. Returns the folder of the pages.
fn reported(folder: &Path) -> PathBuf {
    concilio(&["demo", "--tc", "5+0.1", "--roster", "mp ma", "--data", "played"], folder);
    concilio(&["report", "--journal", "played/journal.db", "--output", "pages", "--nodes", "500"], folder);
    folder.join("pages")
}

/// Lets our own program judge as an external UCI engine.
fn another_engine_judges(folder: &Path) {
    let text = format!("exec '{}' uci --single", env!("CARGO_BIN_EXE_concilio"));
    let script = program(folder, "other-engine", &text);
    let engine = script.to_str().expect("a path");
    let arguments =
        ["report", "--journal", "played/journal.db", "--engine", engine, "--nodes", "300", "--output", "other"];
    concilio(&arguments, folder);
    let index = fs::read_to_string(folder.join("other/index.html")).expect("a page");
    assert!(index.contains("other-engine, 300 nodes"), "the judge is named");
}

/// Returns the figures of a script of `tests/clients` about `written`, the output of a report.
fn found_by(script: &str, written: &Path) -> impl Fn(&str) -> f64 + use<> {
    let script = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients")).join(script);
    let read = Command::new(PYTHON_CHESS.path()).arg(script).arg(written).output().expect("a Python that runs");
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let found: serde_json::Value = serde_json::from_slice(&read.stdout).expect("JSON");
    move |name: &str| found.get(name).and_then(serde_json::Value::as_f64).unwrap_or_else(|| panic!("{name} in {found}"))
}

#[testkit::test(needs(PYTHON_CHESS))]
fn python_chess_reads_the_annotations() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = reported(folder.path());
    let games = pages.join("games.pgn");
    let count = found_by("annotated_games.py", &games);
    assert_eq!((count("games"), count("errors")), (1.0, 0.0));
    // A mate on the board has no value.
    assert!(count("moves") > 0.0 && count("evals") + 1.0 >= count("moves"));
    assert_eq!(count("glyphs"), count("variations"), "every label comes with a better line");
    // A program of another project computes the same figures from the published formulas and the values alone.
    let figure = found_by("lichess_figures.py", &pages);
    assert!(figure("moves") > 0.0);
    assert_eq!(figure("labels_alike"), figure("labels"));
    assert!(figure("accuracy_apart") <= 0.01 && figure("average_loss_apart") <= 0.01);
}

#[testkit::test]
fn report_errors_are_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, expected) in [
        (&["report", "--journal", "none.db"][..], "no such file"),
        (&["report", "--journal", "none.db", "--option", "Hash=1"], "--engine"),
        (&["report", "--journal", "none.db", "--nodes", "5"], "100"),
    ] {
        let output = command_line::concilio(arguments).current_dir(folder.path()).output().expect("it starts");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(expected), "{arguments:?}: {error}");
    }
    assert!(!folder.path().join("none.db").exists());
}
