//! `concilio lab`: experiments and measurements.

mod data;

use std::{
    fs::{self, File},
    io::BufReader,
    num::NonZeroUsize,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::available_parallelism,
    time::Duration,
};

use clap::{Args, Subcommand};
use tokio::signal::ctrl_c;

use super::Failure;
use crate::{
    engine::evaluation::WEIGHTS,
    lab::{
        self,
        tune::{Plan, Positions, TuneError, tune},
    },
};

/// Of the lines that are wrong, so many are shown.
const SKIPPED_SHOWN: usize = 10;

/// Experiments and measurements
#[derive(Debug, Args)]
pub(super) struct Lab {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Debug, Subcommand)]
enum Experiment {
    /// How long the daemon itself takes for a move, to connect, and how much memory it holds
    Latency {
        /// How many games at once, in turn
        #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 100], value_name = "COUNTS")]
        games: Vec<usize>,
    },
    /// Make labelled positions for `tune` out of the engine's own games
    Data(data::Data),
    /// Fit the weights of the engine's evaluation to labelled positions
    Tune(Tune),
}

/// Fit the weights of the engine's evaluation to labelled positions
#[derive(Debug, Args)]
#[command(after_help = "POSITIONS has one position a line: a FEN, a semicolon, and the score that white should expect,
from 0 (lost) to 1 (won): the result of the game, or a probability. # begins a comment.
  r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3;0.55
The last tenth is held out, so keep the positions of a game together.

Fit, stop with Ctrl-C, go on with the same command, then build the engine with the outcome:
  concilio lab tune --positions games.txt --state tune.state \\
    --output src/engine/evaluation/weights.rs
  cargo build --release")]
struct Tune {
    /// The labelled positions
    #[arg(long, value_name = "FILE")]
    positions: PathBuf,
    /// Where the weights go, as Rust source to put in the place of src/engine/evaluation/weights.rs
    #[arg(long, value_name = "FILE")]
    output: PathBuf,
    /// Where the fit is kept after every epoch, and taken up from
    #[arg(long, value_name = "FILE")]
    state: Option<PathBuf>,
    /// How often every position is seen
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u32).range(1..=100_000), value_name = "N")]
    epochs: u32,
    /// The longest step of a weight at the start, centipawns
    #[arg(long, default_value_t = 1.2, value_parser = parse_strength, value_name = "X")]
    rate: f64,
    /// How hard each weight is held where it is now; 0 lets go
    #[arg(long, default_value_t = 1e-3, value_parser = parse_strength, value_name = "X")]
    pull: f64,
    /// Threads at work [default: all cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
    /// Of the order in which positions are seen
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
}

impl Lab {
    /// Measures and prints.
    pub(super) async fn run(self) -> Result<(), Failure> {
        match self.experiment {
            Experiment::Latency { games } => {
                let latency = lab::Latency::measure(std::env::current_exe()?, &games).await?;
                print(&latency);
            }
            Experiment::Data(data) => {
                let stop = interrupted();
                tokio::task::spawn_blocking(move || data.run(&stop)).await??;
            }
            Experiment::Tune(tune) => {
                let stop = interrupted();
                tokio::task::spawn_blocking(move || tune.run(&stop)).await??;
            }
        }
        Ok(())
    }
}

/// A flag that Ctrl-C sets.
fn interrupted() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    tokio::spawn(async move {
        if ctrl_c().await.is_ok() {
            flag.store(true, Ordering::Relaxed);
        }
    });
    stop
}

impl Tune {
    /// Fits until the epochs are done or `stop` is set.
    fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let unreadable = |error| Failure::usage(format_args!("--positions {}: {error}", self.positions.display()));
        let file = BufReader::new(File::open(&self.positions).map_err(unreadable)?);
        let (positions, skipped) = Positions::read(file).map_err(unreadable)?;
        for line in skipped.iter().take(SKIPPED_SHOWN) {
            eprintln!("{}:{}: {}", self.positions.display(), line.number, line.reason);
        }
        eprintln!("{} positions, {} lines skipped", positions.len(), skipped.len());
        let plan = Plan {
            epochs: self.epochs,
            rate: self.rate,
            pull: self.pull,
            threads: self.threads.or(available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN),
            seed: self.seed,
        };
        let fitted = tune(&positions, &WEIGHTS, &plan, self.state.as_deref(), stop, |progress| {
            if progress.left.is_none() {
                eprintln!("expected score: 1 / (1 + exp(-centipawns / {:.0}))", 1.0 / progress.scaling);
            }
            let left = progress.left.map_or_else(String::new, |left| format!(", {} s left", left.as_secs()));
            eprintln!(
                "epoch {}/{}: loss {:.6}, held out {:.6}{left}",
                progress.epoch, progress.epochs, progress.training, progress.held_out
            );
        });
        let weights = fitted.map_err(|error| match (&error, &self.state) {
            (TuneError::Stopped(_), Some(_)) => {
                Failure::failed(format_args!("{error}; the same command goes on from there"))
            }
            (TuneError::Stopped(_), None) => Failure::failed(format_args!("{error}; without --state nothing is kept")),
            _ => Failure::from(error),
        })?;
        fs::write(&self.output, weights.to_source())
            .map_err(|error| Failure::failed(format_args!("--output {}: {error}", self.output.display())))?;
        println!("wrote {}; build the engine with it and let it play before you believe it", self.output.display());
        Ok(())
    }
}

fn parse_strength(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| "a number from 0 is wanted".to_owned())
}

fn print(latency: &lab::Latency) {
    let mut starts = latency.starts.clone();
    starts.sort_unstable();
    let median = starts.get(starts.len() / 2).copied().unwrap_or_default();
    println!("start to connected   {:.1} ms (median of {})", milliseconds(median), starts.len());
    match latency.idle_memory {
        Some(kibibytes) => println!("idle memory          {:.1} MiB resident", kibibytes as f64 / 1024.0),
        None => println!("idle memory          not known on this system"),
    }
    println!("\nopponent's move on the stream to our move request, trivial elector, ms");
    println!("{:>14} {:>8} {:>8} {:>8} {:>8}", "games at once", "moves", "p50", "p99", "max");
    for share in &latency.shares {
        println!(
            "{:>14} {:>8} {:>8.3} {:>8.3} {:>8.3}",
            share.games,
            share.delays.len(),
            milliseconds(share.quantile(0.5)),
            milliseconds(share.quantile(0.99)),
            milliseconds(share.quantile(1.0)),
        );
    }
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
