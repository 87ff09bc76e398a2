//! `concilio-lab`: the measurements of concilio, a program apart from the daemon so that players need not compile it.

use std::{
    io::{self, IsTerminal as _},
    process::ExitCode,
};

use clap::Parser;
use concilio_lab::command::Lab;
use tracing_subscriber::{filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _};
use util::{Failure, printable};

/// Experiments and measurements of concilio.
#[derive(Debug, Parser)]
#[command(
    name = "concilio-lab",
    version,
    max_term_width = 100,
    after_help = "Examples:
  concilio-lab match council:balanced-7 engine --pace nodes=20000 --games 400
  concilio-lab latency                           measure the concilio beside this program
  concilio-lab reproduce --quick                 make the published tables anew

Exit codes: 0 done, 1 failed, 2 wrong usage, 130 interrupted twice."
)]
struct Cli {
    /// Log level on standard error: error, warn, info, debug, trace, or a filter such as concilio_council=debug
    #[arg(long, global = true, env = "RUST_LOG", value_name = "LEVEL", default_value = "info", value_parser = filter)]
    log: String,
    #[command(subcommand)]
    lab: Lab,
}

fn filter(text: &str) -> Result<String, String> {
    text.parse::<Targets>().map(|_| text.to_owned()).map_err(|error| error.to_string())
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    // The client library logs every connection that ends; measurements end many.
    let filter: Targets = format!("async_nats=error,{}", cli.log).parse().unwrap_or_default();
    let terminal = io::stderr().is_terminal();
    let layer = tracing_subscriber::fmt::layer().with_writer(io::stderr).with_ansi(terminal);
    tracing_subscriber::registry().with(layer).with(filter).init();
    let outcome = run(cli.lab);
    council::electors::kill_engines();
    let Err(failure) = outcome else { return ExitCode::SUCCESS };
    let lines: Vec<_> = failure.to_string().lines().map(|line| printable(line).into_owned()).collect();
    eprintln!("concilio-lab: {}", lines.join("\n"));
    failure.code()
}

/// Runs the experiment. Searches have threads of their own, so two are enough for the rest.
fn run(lab: Lab) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let outcome = runtime.block_on(lab.run());
    // Searches and files that are still busy do not hold up the exit.
    runtime.shutdown_background();
    outcome
}
