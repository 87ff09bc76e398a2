//! The command line as a shell sees it: output, exit codes and terminals.

mod books;
mod coming_from;
mod delivery;
mod draughts;
mod output;
mod settings;
pub(crate) mod terminal;

use std::process::Command;

/// The program, without variables of a developer's environment.
pub(crate) fn concilio(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_concilio"));
    command.args(arguments).env_remove("CONCILIO_CONFIG").env_remove("RUST_LOG");
    command
}
