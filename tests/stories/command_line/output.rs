use std::{fs, io, process::Output};

use super::concilio;

/// Commands that print and need nothing.
const PRINTING: [&[&str]; 6] = [
    &["eval"],
    &["draughts", "eval", "W:W22:B10"],
    &["config", "check"],
    &["completions", "bash"],
    &["--help"],
    &["uci", "--help"],
];

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[testkit::test]
fn closed_pipe_ends_the_program_quietly() {
    for arguments in PRINTING {
        let (reader, writer) = io::pipe().expect("a pipe");
        drop(reader);
        let output = concilio(arguments).stdout(writer).output().expect("it starts");
        assert_eq!(stderr(&output), "", "{arguments:?}");
        assert!(output.status.success(), "{arguments:?}: {}", output.status);
    }
}

#[testkit::test]
fn a_full_disk_is_one_error() {
    for arguments in PRINTING.iter().filter(|arguments| !arguments.contains(&"--help")) {
        let full = fs::File::create("/dev/full").expect("the device");
        let output = concilio(arguments).stdout(full).output().expect("it starts");
        let stderr = stderr(&output);
        assert!(stderr.starts_with("concilio: standard output: ") && stderr.lines().count() == 1, "{stderr}");
        assert_eq!(output.status.code(), Some(1), "{arguments:?}");
    }
}

#[testkit::test]
fn wrong_usage_has_exit_code_2() {
    let wrong: [&[&str]; 5] = [
        &["nosuch"],
        &["--log", "nosense", "eval"],
        &["eval", "no position"],
        &["uci", "--set", "x"],
        &["practice", "--account", ""],
    ];
    for arguments in wrong {
        let output = concilio(arguments).output().expect("it starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", stderr(&output));
    }
    let output = concilio(&["--log", "nosense", "eval"]).output().expect("it starts");
    assert!(stderr(&output).contains("expected off, error, warn"), "{}", stderr(&output));
}

#[testkit::test]
fn settings_may_follow_a_subcommand() {
    for arguments in [["ctl", "status", "--config", "missing.toml"], ["ctl", "--config", "missing.toml", "status"]] {
        let output = concilio(&arguments).output().expect("it starts");
        assert!(stderr(&output).contains("missing.toml: "), "{}", stderr(&output));
    }
}

#[testkit::test]
fn lab_points_to_its_own_program() {
    for arguments in
        [&["lab"][..], &["lab", "match", "council:balanced-7", "engine", "--pace", "nodes=20000"], &["lab", "--help"]]
    {
        let output = concilio(arguments).output().expect("it starts");
        let said = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.lines().count() == 1 && said.contains("cargo run --release -p concilio-lab -- "), "{said}");
        assert!(said.contains(arguments.last().expect("a word").trim_start_matches("lab")), "{said}");
    }
}

#[testkit::test]
fn every_shell_has_completions() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = concilio(&["completions", shell]).output().expect("it starts");
        let script = String::from_utf8(output.stdout).expect("text");
        assert!(output.status.success() && script.contains("concilio") && script.contains("practice"), "{shell}");
    }
    assert_eq!(concilio(&["completions", "nosuch"]).output().expect("it starts").status.code(), Some(2));
}

#[testkit::test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let pages = folder.path().join("man1");
    let output = concilio(&["man", "--output", &pages.to_string_lossy()]).output().expect("it starts");
    assert!(output.status.success(), "{}", stderr(&output));
    for name in ["concilio", "concilio-run", "concilio-demo", "concilio-config-check", "concilio-practice"] {
        let page = fs::read_to_string(pages.join(format!("{name}.1"))).expect("a page");
        assert!(page.contains(".TH") && page.contains(".SH NAME"), "{name}");
    }
}

#[testkit::test]
fn a_text_without_end_makes_no_book() {
    let folder = tempfile::tempdir().expect("a folder");
    let book = folder.path().join("book.bin");
    let output =
        concilio(&["book", "make", "/dev/zero", "--output", &book.to_string_lossy()]).output().expect("it starts");
    assert!(!output.status.success() && stderr(&output).contains("/dev/zero: longer than"), "{}", stderr(&output));
    assert!(!book.exists());
}

/// `concilio web` without a journal it can show.
#[testkit::test]
fn web_errors_are_one_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    fs::write(path("text.db"), "no journal at all, only some words in a file that has a database's name")
        .expect("a file");
    for (journal, words) in [
        (path("missing.db"), "there is no such file"),
        (path(""), "this is a folder"),
        (path("text.db"), "it is no journal but another file"),
    ] {
        let output = concilio(&["web", "--journal", &journal]).output().expect("it starts");
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(words) && stderr.contains(&journal) && stderr.lines().count() == 1, "{stderr}");
    }
}

#[testkit::test]
fn run_without_account_names_the_page() {
    let folder = tempfile::tempdir().expect("a folder");
    let journal = folder.path().join("journal.db");
    let journal = format!("journal.path={}", journal.display());
    let mut run = concilio(&["run", "--web", "127.0.0.1:0", "--set", &journal]);
    let output = run.env_remove("CONCILIO_LICHESS_TOKEN").current_dir(folder.path()).output().expect("it starts");
    let stderr = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("concilio web --journal "), "{stderr}");
}
