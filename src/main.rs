//! Parse the command line, call one command.

use std::process::ExitCode;

use clap::Parser;
use concilio::cli::Cli;

fn main() -> ExitCode {
    Cli::parse().run()
}
