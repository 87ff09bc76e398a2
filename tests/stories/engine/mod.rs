//! The engine's commands as a user runs them.

mod book;
mod data;

use std::process::{Command, Output};

/// Runs `concilio` with these arguments.
fn concilio(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_concilio")).args(arguments).output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
