//! `concilio-lab` as a user runs it.
//!
//! Some commands measure the daemon: `concilio` in the folder of `concilio-lab`. `cargo test` in the root folder builds both;
//! before `cargo test -p concilio-lab` alone, build it with `cargo build`.

mod data;
mod soak;

use std::{
    env::consts::EXE_SUFFIX,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn concilio_lab(arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_concilio-lab"));
    command.args(arguments).env_remove("CONCILIO_CONFIG").env_remove("RUST_LOG");
    command.output().expect("the program starts")
}

/// The daemon that was built beside it.
fn concilio() -> PathBuf {
    let program = Path::new(env!("CARGO_BIN_EXE_concilio-lab")).with_file_name(format!("concilio{EXE_SUFFIX}"));
    assert!(program.exists(), "{} is missing: run `cargo build` in the root folder first", program.display());
    program
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn missing_daemon_is_one_clear_error() {
    let output = concilio_lab(&["soak", "--games", "1", "--binary", "no such program"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.lines().count() == 1 && said.contains("no such program") && said.contains("cargo build"), "{said}");
}
