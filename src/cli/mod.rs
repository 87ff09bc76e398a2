//! The command line: one file a subcommand, one for `uci` and `xboard`, and one for those that are
//! about the program itself. Each reads its arguments, sets up the packages below, and prints the
//! result. Exit codes: 0 done, 1 failed, 2 wrong usage, 77 refused by the servers for good.

mod account;
mod book;
mod chess_programs;
mod cluster;
mod config;
mod ctl;
mod daily_log;
mod demo;
mod eval;
mod filter;
mod games;
mod help;
mod idle_study;
mod journal;
mod lists;
mod log;
mod memory;
mod other_games;
mod page;
mod practice;
mod reload;
mod report;
mod run;
mod runtime;
mod settings_args;
mod signals;
mod view;
mod votes;
mod web;
mod worker;

use std::{future::Future, path::PathBuf, pin::Pin, process::ExitCode};

use self::settings_args::SettingsArgs;
use crate::settings::LogFormat;
use clap::{Parser, Subcommand};
use clap_complete::Shell;
use tokio::runtime::{Builder, Handle, Runtime};
use util::{Failure, printable};

/// A chess player for Lichess and FICS that picks its moves by a vote of electors.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    max_term_width = 100,
    after_help = "Examples:
  concilio demo                        watch it play on this machine, without an account
  concilio run                         play on Lichess; CONCILIO_LICHESS_TOKEN holds the token
  concilio config check                what the settings amount to

Matches, fits and other measurements are the program concilio-lab, built from the sources: cargo build --release -p concilio-lab

Exit codes: 0 done, 1 failed, 2 wrong usage or wrong settings, 77 refused by the servers for good (run)."
)]
pub struct Cli {
    /// Log filter of standard error: error, warn, info, debug, trace, or a filter such as
    /// concilio=debug
    #[arg(long, global = true, env = "RUST_LOG", value_name = "LEVEL", value_parser = log::parse_filter)]
    log: Option<String>,
    /// Log format: a plain sentence a line, or a JSON object a line
    #[arg(long, global = true, value_enum, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Play on the configured servers until stopped
    Run(run::RunCommand),
    /// Tell a running daemon what to do, or ask what it is doing
    Ctl(ctl::CtlCommand),
    /// Watch the whole program play against a practice server on this machine
    Demo(demo::DemoCommand),
    #[command(flatten)]
    OtherGame(other_games::OtherGameCommand),
    /// Run the practice server alone, for any Lichess bot or FICS client to play on
    Practice(practice::PracticeCommand),
    /// Show a journal in the browser, without an account
    Web(web::WebCommand),
    /// List and export the games of the journal
    Games(games::GamesCommand),
    /// Copy the journal while it is written
    #[command(subcommand)]
    Journal(journal::JournalCommand),
    /// Study the games of the journal: what each move cost, and which knowledge knew better
    Report(Box<report::ReportCommand>),
    /// Look at the accounts, or make one a bot's
    #[command(subcommand)]
    Account(account::AccountsCommand),
    /// Look at the settings, or take over those of another bot
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Explain the evaluation of a position, heuristic by heuristic
    Eval(eval::EvalCommand),
    /// Speak UCI, for any chess program
    Uci(chess_programs::UciCommand),
    /// Speak CECP, for XBoard and its like; or play on the console (help says how)
    #[command(after_help = chess_programs::XBOARD_EXAMPLES)]
    Xboard(SettingsArgs),
    /// Search for daemons on other machines, over NATS
    Worker(worker::LendCommand),
    /// Show workers and manage their keys
    #[command(subcommand)]
    Cluster(cluster::ClusterCommand),
    /// Make opening books
    #[command(subcommand)]
    Book(book::BookCommand),
    /// Measure: a program of its own
    #[command(hide = true, disable_help_flag = true)]
    Lab {
        /// The arguments of `concilio-lab`
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
        arguments: Vec<String>,
    },
    /// Print a script that completes this program's command line in a shell
    #[command(after_help = "Examples:
  concilio completions bash > ~/.local/share/bash-completion/completions/concilio
  concilio completions zsh > ~/.zfunc/_concilio          with ~/.zfunc in fpath
  concilio completions fish > ~/.config/fish/completions/concilio.fish")]
    Completions { shell: Shell },
    /// Write the manual pages, one for each command
    #[command(after_help = "Example:
  concilio man --output ~/.local/share/man/man1 && man concilio-run")]
    Man {
        /// The folder they are written to; it is made where it does not exist
        #[arg(long, short, value_name = "FOLDER")]
        output: PathBuf,
    },
}

impl Cli {
    pub fn run(self) -> ExitCode {
        let level = |usual| self.log.as_deref().unwrap_or(usual);
        let format = self.log_format.unwrap_or_default();
        match &self.command {
            // The daemon starts its log when it has read the settings.
            Subcommands::Run(_) => (),
            // Their output is the picture or the answer.
            Subcommands::Demo(_) | Subcommands::Cluster(_) | Subcommands::Ctl(_) => {
                log::init_simply(level("error"), format)
            }
            _ => log::init_simply(level("info"), format),
        }
        let outcome = match self.command {
            Subcommands::Run(run) => match in_two_runtimes(|rest| run.run(self.log, self.log_format, rest)) {
                Ok(code) => return code,
                Err(failure) => Err(failure),
            },
            Subcommands::Ctl(ctl) => in_runtime(ctl.run()),
            Subcommands::Demo(demo) => in_runtime(demo.run()),
            Subcommands::OtherGame(command) => in_runtime(command.run()),
            Subcommands::Practice(practice) => in_runtime(practice.run()),
            Subcommands::Web(web) => in_runtime(web.run()),
            Subcommands::Games(games) => games.run(),
            Subcommands::Journal(journal) => in_runtime(journal.run()),
            Subcommands::Report(report) => in_runtime(report.run()),
            Subcommands::Account(account) => in_runtime(account.run()),
            Subcommands::Config(config) => config.run(),
            Subcommands::Eval(eval) => eval.run(),
            Subcommands::Uci(command) => chess_programs::uci(command),
            Subcommands::Xboard(settings) => chess_programs::xboard(settings),
            Subcommands::Worker(worker) => in_runtime(worker.run()),
            Subcommands::Cluster(cluster) => in_runtime(cluster.run()),
            Subcommands::Book(book) => book.run(),
            Subcommands::Lab { arguments } => Err(help::where_the_lab_is(&arguments)),
            Subcommands::Completions { shell } => {
                help::print_completions(shell);
                Ok(())
            }
            Subcommands::Man { output } => help::write_manual(&output),
        };
        match outcome {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                if !failure.is_logged() {
                    // Texts of servers may be part of it.
                    let lines: Vec<_> = failure.to_string().lines().map(|line| printable(line).into_owned()).collect();
                    eprintln!("concilio: {}", lines.join("\n"));
                }
                failure.code()
            }
        }
    }
}

/// Runs the daemon. All tasks of a move run on this thread: none of them waits until another thread wakes up. All else runs in a second
/// runtime, and delays no move.
fn in_two_runtimes<T, F>(daemon: impl FnOnce(Handle) -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let background = Builder::new_multi_thread().worker_threads(1).thread_name("background").enable_all().build()?;
    let runtime = Builder::new_current_thread().enable_all().build()?;
    let outcome = block_on(runtime, daemon(background.handle().clone()));
    background.shutdown_background();
    outcome
}

/// Runs a command that talks to the network. Searches have threads of their own, so two are plenty.
fn in_runtime<T>(command: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    block_on(Builder::new_multi_thread().worker_threads(2).enable_all().build()?, command)
}

/// Runs `work` to its end, without waiting for searches and files still in use.
fn block_on<T>(runtime: Runtime, work: impl Future<Output = T>) -> T {
    // The runtime's loop is compiled once, not for every command.
    let work: Pin<Box<dyn Future<Output = T> + '_>> = Box::pin(work);
    let outcome = runtime.block_on(work);
    runtime.shutdown_background();
    outcome
}
