use std::fs;

use engine::evaluation::Recipe;
use lab::tune::LabelledPositions;

use super::{concilio, text};

fn make(output: &str, positions: &str, threads: &str) -> std::process::Output {
    concilio(&[
        "lab",
        "data",
        "--teacher",
        env!("CARGO_BIN_EXE_concilio"),
        "--teacher-argument",
        "uci",
        "--teacher-argument",
        "--single",
        "--teacher-nodes",
        "50",
        "--nodes",
        "30",
        "--threads",
        threads,
        "--output",
        output,
        "--positions",
        positions,
    ])
}

#[test]
fn positions_are_made_continued_and_read_by_the_tuner() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    let through = make(&path("through"), "60", "2");
    assert!(through.status.success(), "{}", text(&through.stderr));
    assert!(make(&path("in two"), "1", "1").status.success());
    assert!(make(&path("in two"), "60", "2").status.success());
    let made = fs::read_to_string(path("through")).expect("it was written");
    assert_eq!(made, fs::read_to_string(path("in two")).expect("it was written"));
    assert!(made.contains("own games at 30 nodes a move") && made.contains("at 50 nodes\n"), "{made}");

    let (positions, skipped) = LabelledPositions::read(made.as_bytes(), &Recipe::COMPLETE).expect("memory can be read");
    assert!(positions.len() >= 60 && skipped.is_empty(), "{skipped:?}");

    let other = make(&path("through"), "60", "1");
    assert!(other.status.success(), "there is nothing left to do");
}

#[test]
fn a_teacher_that_is_not_there_is_one_clear_error_and_leaves_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = folder.path().join("games.txt");
    let made = concilio(&["lab", "data", "--teacher", "no-such-engine", "--output", &output.to_string_lossy()]);
    assert_eq!(text(&made.stderr).lines().count(), 1);
    assert!(text(&made.stderr).contains("teacher: cannot start the engine no-such-engine"));
    assert!(!output.exists());
}
