//! `concilio-lab cluster-latency`: what a cluster costs.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::{Failure, latency::milliseconds};
use crate::{cluster::measure, daemon_program::DaemonProgram, stats::quantile};

/// Measure the time from a task to its first proposal over a NATS server and a worker on this
/// machine, idle and with all cores searching
#[derive(Debug, Args)]
pub struct ClusterLatency {
    #[command(flatten)]
    program: DaemonProgram,
    /// The server's program
    #[arg(long, default_value = "nats-server", value_name = "PROGRAM")]
    nats_server: PathBuf,
    /// Searches for each figure
    #[arg(long, default_value_t = 500, value_parser = clap::value_parser!(u32).range(10..=100_000), value_name = "N")]
    searches: u32,
}

impl ClusterLatency {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let searches = self.searches as usize;
        let ([first_proposals, late], throughput) = measure(self.nats_server, self.program.path()?, searches).await?;
        util::outln!("from a task to its first proposal, ms");
        table(&first_proposals);
        util::outln!("\ndecisions of balanced-7, re-search, 300 ms a move: how late, ms");
        table(&late);
        util::outln!("\nthe server passes on {throughput:.0} messages a second");
        Ok(())
    }
}

fn table(rows: &[(String, Vec<Duration>)]) {
    util::outln!("{:<38} {:>6} {:>8} {:>8} {:>8}", "", "n", "p50", "p99", "max");
    for (name, times) in rows {
        let [p50, p99, most] = [0.5, 0.99, 1.0].map(|part| milliseconds(quantile(times, part)));
        util::outln!("{name:<38} {:>6} {p50:>8.2} {p99:>8.2} {most:>8.2}", times.len());
    }
}
