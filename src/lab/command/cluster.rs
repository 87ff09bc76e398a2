//! `concilio-lab cluster-latency` and `concilio-lab scale`: what a cluster costs, and how far it reaches.

use std::{path::PathBuf, time::Duration};

use clap::Args;

use super::{Failure, latency::milliseconds};
use crate::{
    cluster::{
        Costs, measure,
        scale::{CREDIBLE, ELECTORS, MoveLoad, PUBLISHED, SATURATED, SETS, reach, simulate},
    },
    daemon_program::DaemonProgram,
    stats::quantile,
};

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

/// Simulate clusters of 1 to 1,000 workers from the cost of messages and searches on this machine
#[derive(Debug, Args)]
#[command(
    after_help = "Messages and searches are measured first, in a few seconds. The server's figures come from `concilio-lab cluster-latency`:
  concilio-lab scale --throughput 200000 --way 100 --cores 8"
)]
pub struct ScaleCluster {
    /// Cores of each worker
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=1024))]
    cores: u16,
    /// Time of a move, ms
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(10..=3_600_000), value_name = "MS")]
    move_time: u64,
    /// Messages a second that the server passes on
    #[arg(long, default_value_t = 200_000, value_parser = clap::value_parser!(u32).range(1..), value_name = "N")]
    throughput: u32,
    /// One way through the server and the network, µs
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(0..=10_000_000), value_name = "US")]
    way: u32,
}

const HEADER: &str =
    " workers  searches  messages  coordinator  server  verify last begins ms   delay p50      p99 ms  counted";

impl ScaleCluster {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let costs = Costs::measure(f64::from(self.throughput), Duration::from_micros(u64::from(self.way))).await;
        print_costs(&costs);
        let cores = usize::from(self.cores);
        let load = |workers| simulate(workers, cores, Duration::from_millis(self.move_time), &costs);
        util::outln!("\n{} cores a worker, {} ms a move", self.cores, self.move_time);
        util::outln!("{HEADER}");
        for workers in [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000] {
            print_load(&load(workers));
        }
        util::outln!("beyond {CREDIBLE} workers nothing was measured: those rows extrapolate what one worker costs");
        limits(cores, load);
        Ok(())
    }
}

fn print_costs(costs: &Costs) {
    let micro = |duration: Duration| duration.as_secs_f64() * 1e6;
    util::outln!("measured: an order {:.1} µs ({} bytes)", micro(costs.order), costs.sizes.0);
    util::outln!("          a proposal {:.1} µs to read and check ({} bytes)", micro(costs.proposal), costs.sizes.1);
    let (count, each) = (micro(costs.count), micro(costs.count_by_elector));
    util::outln!("          {count:.1} µs + {each:.3} µs for each elector to count it");
    let choice = micro(costs.upkeep.choice_by_worker);
    util::outln!("          {choice:.3} µs for each worker to choose one for an order");
    util::outln!("          {:.1} µs to read a heartbeat", micro(costs.upkeep.heartbeat));
    util::outln!("          {:.1} µs to read a message about a table", micro(costs.upkeep.table_message));
    util::outln!("          {:.1} µs of a home core to verify a move", micro(costs.verification));
    util::outln!("          a search proposes {} times in a second", costs.iterations.len());
    util::outln!(
        "given:    {:.1} µs for the server to pass on a message, {:.0} µs one way",
        micro(costs.broker),
        micro(costs.way)
    );
}

fn print_load(load: &MoveLoad) {
    let MoveLoad { workers, searches, messages, coordinator, broker, verification, last_begins, delay, counted } = load;
    let [begins, p50, p99] = [*last_begins, delay.0, delay.1].map(milliseconds);
    util::outln!(
        "{workers:>8} {searches:>9} {messages:>9} {:>10.1} % {:>5.1} % {:>5.1} % {begins:>14.2} {p50:>11.2} {p99:>11.2} {:>6.1} %",
        coordinator * 100.0,
        broker * 100.0,
        verification * 100.0,
        counted * 100.0
    );
}

/// Prints the number of workers at which coordinator, server and verification reach their limits.
fn limits(cores: usize, load: impl Fn(usize) -> MoveLoad) {
    const MOST: usize = 20_000;
    let say = |what: &str, workers: usize| {
        let searches = (workers * cores).min(ELECTORS);
        let beyond = if workers >= MOST { "beyond " } else { "" };
        util::outln!("{what} at {beyond}{workers} workers ({searches} searches)");
    };
    let busy = SATURATED * 100.0;
    util::outln!();
    say(&format!("the coordinator is {busy:.0} % busy"), reach(MOST, |workers| load(workers).coordinator));
    say(&format!("the server is {busy:.0} % busy"), reach(MOST, |workers| load(workers).broker));
    let [published, sets] = [PUBLISHED, SETS].map(|electors| electors.div_ceil(cores));
    util::outln!(
        "the method has an elector for each core up to {published} workers with the largest published roster ({PUBLISHED} electors),"
    );
    util::outln!(
        "up to {sets} with every set of knowledge once ({SETS}); from there on cores only make groups larger, each on one machine"
    );
}
