//! The command line as a shell sees it: what is printed, with which exit code, on which terminal.

mod coming_from;
mod delivery;
mod draughts;
mod output;
mod settings;
pub(crate) mod terminal;

use std::process::Command;

/// The program, without what the environment of a developer may say to it.
pub(crate) fn concilio(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_concilio"));
    command.args(arguments).env_remove("CONCILIO_CONFIG").env_remove("RUST_LOG");
    command
}
