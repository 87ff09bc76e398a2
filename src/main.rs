//! Parse the command line, call one command, leave no engine behind.

use std::process::ExitCode;

use clap::Parser;
use concilio::cli::Cli;

fn main() -> ExitCode {
    let code = Cli::parse().run();
    council::electors::kill_engines();
    code
}
