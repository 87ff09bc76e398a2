//! The command line: one file a subcommand. Each reads its arguments, sets up what the rooms below need, and prints what
//! came of it. Exit codes: 0 done, 1 failed, 2 wrong usage.

mod account;
mod book;
mod cluster;
mod config;
mod demo;
mod eval;
mod games;
mod runtime;

mod lists;
mod practice;
mod run;
mod uci;
mod view;
mod votes;
mod worker;
mod xboard;

use std::{
    future::Future,
    io::{self, IsTerminal},
    process::ExitCode,
};

use chess::Failure;
use clap::{Parser, Subcommand};
use tracing_subscriber::EnvFilter;

/// A chess player for Lichess and FICS that picks its moves by a vote of electors.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100, after_help = "Try it without an account:  concilio demo")]
pub struct Cli {
    /// What to log on standard error: error, warn, info, debug, trace, or a filter such as concilio=debug
    #[arg(long, global = true, env = "RUST_LOG", value_name = "LEVEL")]
    log: Option<String>,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Play on the configured servers until stopped
    Run(run::Run),
    /// Watch the whole program play against a practice server on this machine
    Demo(demo::Demo),
    /// Run the practice server alone, for any Lichess bot to play on
    Practice(practice::Practice),
    /// List and export the games of the journal
    Games(games::Games),
    /// Look at the accounts, or make one a bot's
    Account(account::Account),
    /// Look at the settings
    Config(config::Config),
    /// Explain the evaluation of a position, heuristic by heuristic
    Eval(eval::Eval),
    /// Speak UCI, for any chess program
    Uci(uci::Uci),
    /// Speak CECP, for XBoard and its like; or play on the console
    Xboard(xboard::Xboard),
    /// Lend this machine's cores to daemons on others, over NATS
    Worker(worker::Worker),
    /// Look at the machines that lend their cores
    Cluster(cluster::Cluster),
    /// Make opening books
    Book(book::Book),
    /// Experiments and measurements
    Lab(lab::command::Lab),
}

impl Cli {
    /// Runs the command and says how it went.
    pub fn run(self) -> ExitCode {
        match &self.command {
            // The settings say what is logged, so the daemon sets it up when it has read them.
            Command::Run(_) => (),
            // The picture is what there is to see.
            Command::Demo(_) | Command::Cluster(_) => init_logging(self.log.as_deref(), "error"),
            _ => init_logging(self.log.as_deref(), "info"),
        }
        let outcome = match self.command {
            Command::Run(run) => in_runtime(run.run(self.log)),
            Command::Demo(demo) => in_runtime(demo.run()),
            Command::Practice(practice) => in_runtime(practice.run()),
            Command::Games(games) => games.run(),
            Command::Account(account) => in_runtime(account.run()),
            Command::Config(config) => config.run(),
            Command::Eval(eval) => eval.run(),
            Command::Uci(uci) => uci.run(),
            Command::Xboard(xboard) => xboard.run(),
            Command::Worker(worker) => in_runtime(worker.run()),
            Command::Cluster(cluster) => in_runtime(cluster.run()),
            Command::Book(book) => book.run(),
            Command::Lab(lab) => in_runtime(lab.run()),
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                eprintln!("concilio: {failure}");
                failure.code()
            }
        }
    }
}

fn init_logging(filter: Option<&str>, default: &str) {
    // What the library says of every connection we say ourselves.
    let with_ours = format!("async_nats=error,{}", filter.unwrap_or(default));
    let filter = EnvFilter::try_new(with_ours).unwrap_or_else(|error| {
        eprintln!("concilio: --log: {error}; logging {default}");
        EnvFilter::new(default)
    });
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_target(false)
        .with_ansi(io::stderr().is_terminal())
        .init();
}

/// Runs a command that talks to the network. Searches have threads of their own, so two are plenty.
fn in_runtime(command: impl Future<Output = Result<(), Failure>>) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let outcome = runtime.block_on(command);
    // Searches and files that are still busy do not hold up the exit.
    runtime.shutdown_background();
    outcome
}
