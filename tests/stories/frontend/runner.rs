//! Test with a match runner of another project.

use std::process::{Command, Stdio};

#[testkit::test(needs(PYTHON_CHESS))]
fn python_chess_plays_whole_games() {
    let python = testkit::needs::PYTHON_CHESS.path();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/chess_games.py");
    let run = Command::new(python).arg(script).arg(env!("CARGO_BIN_EXE_concilio")).stdin(Stdio::null()).output();
    let output = run.expect("a Python that runs");
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", words(&output.stdout), words(&output.stderr));
}
