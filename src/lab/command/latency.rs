//! `concilio-lab latency`: what the daemon itself takes.

use std::time::Duration;

use clap::Args;

use super::Failure;
use crate::{daemon_program::DaemonProgram, stats::quantile};

/// How long the daemon itself takes for a move, to connect, and how much memory it holds
#[derive(Debug, Args)]
pub(super) struct MeasureLatency {
    #[command(flatten)]
    program: DaemonProgram,
    /// How many games at once, in turn, 1 to 100 each
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [1_u16, 8, 100],
        value_parser = clap::value_parser!(u16).range(1..=100),
        value_name = "COUNTS"
    )]
    games: Vec<u16>,
    /// How many read the page's events meanwhile, in turn, up to 1000 each; 0 is a daemon without its page
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "0",
        value_parser = clap::value_parser!(u16).range(0..=1000),
        value_name = "COUNTS"
    )]
    watchers: Vec<u16>,
}

impl MeasureLatency {
    /// Measures and prints.
    pub(super) async fn run(self) -> Result<(), Failure> {
        let whole = |counts: &[u16]| -> Vec<usize> { counts.iter().map(|count| usize::from(*count)).collect() };
        let (games, watchers) = (whole(&self.games), whole(&self.watchers));
        let latency = crate::Latency::measure(self.program.path()?, &games, &watchers).await?;
        print(&latency);
        Ok(())
    }
}

fn print(latency: &crate::Latency) {
    let mut starts = latency.starts.clone();
    starts.sort_unstable();
    let median = starts.get(starts.len() / 2).copied().unwrap_or_default();
    chess::outln!("start to connected   {:.1} ms (median of {})", milliseconds(median), starts.len());
    match latency.idle_memory {
        Some(kibibytes) => chess::outln!("idle memory          {:.1} MiB resident", kibibytes as f64 / 1024.0),
        None => chess::outln!("idle memory          not known on this system"),
    }
    chess::outln!("\nopponent's move on the stream to our move request, trivial elector, ms");
    chess::outln!("{:>14} {:>9} {:>8} {:>8} {:>8} {:>8}", "games at once", "watchers", "moves", "p50", "p99", "max");
    for share in &latency.shares {
        chess::outln!(
            "{:>14} {:>9} {:>8} {:>8.3} {:>8.3} {:>8.3}",
            share.games,
            share.watchers,
            share.delays.len(),
            milliseconds(quantile(&share.delays, 0.5)),
            milliseconds(quantile(&share.delays, 0.99)),
            milliseconds(quantile(&share.delays, 1.0)),
        );
    }
}

pub(super) fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
