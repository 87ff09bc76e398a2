//! A match runner that somebody else wrote plays with us.

use std::process::{Command, Stdio};

/// Names a Python interpreter that can import `chess`; the same as for the practice server's independent client.
const INTERPRETER: &str = "CONCILIO_BERSERK_PYTHON";

#[test]
fn python_chess_plays_whole_games() {
    let Some(python) = std::env::var_os(INTERPRETER) else {
        eprintln!("skipped: {INTERPRETER} does not name a Python with chess");
        return;
    };
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/clients/chess_games.py");
    let run = Command::new(python).arg(script).arg(env!("CARGO_BIN_EXE_concilio")).stdin(Stdio::null()).output();
    let output = run.expect("a Python that runs");
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", words(&output.stdout), words(&output.stderr));
}
