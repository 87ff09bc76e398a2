//! Measurements of the running program, for Prometheus.
//!
//! [`METRICS`] lists all of them with their meaning; `deploy/grafana.json` is drawn from these
//! names, and a test compares them. Events of accounts are counted in one place (`AccountMetrics`); other
//! modules measure their own state, through the same facade. Without an [`install`]ed recorder,
//! measuring does nothing.
//!
//! Labels hold no names of players and no secrets: strangers on a server must not grow the memory.

use std::time::Duration;

use metrics::{counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

use council::electors::Pool;
use domain::ServerName;
use util::Failure;

/// Kind of a measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetricKind {
    /// A growing number.
    Counter,
    /// A number as it is now.
    Gauge,
    /// Frequencies of sizes; seconds or shares.
    Histogram,
}

/// A measurement.
macro_rules! metrics {
    ($($id:ident = $name:literal, $kind:ident, $help:literal;)*) => {
        $(#[doc = $help] pub const $id: &str = $name;)*
        /// All measurements by name, with their meaning and labels.
        pub const METRICS: &[(&str, MetricKind, &str)] = &[$(($name, MetricKind::$kind, $help)),*];
    };
}

metrics! {
    INFO = "concilio_info", Gauge, "1; the label version is the program's";
    CONNECTED = "concilio_connected", Gauge, "1 while connected and logged in, else 0; by account";
    RECONNECTIONS = "concilio_reconnections_total", Counter, "connections that were lost and made again; by account";
    CHALLENGES = "concilio_challenges_total", Counter, "challenges decided; by account and outcome";
    GAMES_RUNNING = "concilio_games_running", Gauge, "games that run; by account";
    GAMES = "concilio_games_total", Counter, "games that are over; by account and result (won, lost, drawn, unplayed)";
    MOVES = "concilio_moves_total", Counter, "moves of the bot; by account and source (council, proof, book, explorer, cloud, chessdb, tablebase, forced, fallback, journal)";
    DECISION_SECONDS = "concilio_decision_seconds", Histogram, "from the question to the decision; by account";
    DECISION_SHARE = "concilio_decision_budget_share", Histogram, "time of a decision as a share of what a normal move was given; by account";
    LATE_DECISIONS = "concilio_late_decisions_total", Counter, "decisions that came later than the clock allowed; by account";
    NODES = "concilio_nodes_total", Counter, "nodes searched for the bot's moves: its rate is the speed; by account";
    ELECTORS_SILENT = "concilio_electors_silent_total", Counter, "electors that had proposed nothing when their council decided; by account";
    MOVE_LAG_SECONDS = "concilio_move_lag_seconds", Histogram, "from sending a move to the server's answer; by account";
    FAULTS = "concilio_faults_total", Counter, "handled faults; by account";
    LIMITS = "concilio_limits_total", Counter, "limits of the server that were reached; by account";
    REQUESTS_LIMITED = "concilio_requests_limited_total", Counter, "requests that the server refused for their number (429); by endpoint";
    JOURNAL_SECONDS = "concilio_journal_seconds", Histogram, "from handing something to the journal to its commit";
    WEBHOOKS = "concilio_webhooks_total", Counter, "messages to the webhook; by outcome (sent, failed, dropped)";
    WORKERS = "concilio_workers", Gauge, "connected workers";
    CORES = "concilio_cores", Gauge, "cores on which electors search; by place (here, lent)";
    WORKERS_UNUSED = "concilio_workers_unused", Gauge, "workers that get no searches: too far away, silent, leaving or distrusted";
    WORKER_LAG = "concilio_worker_lag_seconds", Gauge, "from a question to the answer of the slowest worker that gets searches";
    SEARCHES_LOST = "concilio_worker_searches_lost_total", Counter, "searches that were lost on workers";
    WORKERS_DISTRUSTED = "concilio_workers_distrusted_total", Counter, "times that a worker was found untrue, silent or flooding";
    MESSAGES_DROPPED = "concilio_worker_messages_dropped_total", Counter, "messages of workers that were dropped before they were read";
    SLOW_CONSUMERS = "concilio_nats_slow_consumers_total", Counter, "messages for which a queue of the NATS client had no room";
    RESIDENT_BYTES = "concilio_resident_bytes", Gauge, "memory of this process that is in use; 0 where the system does not say";
}

/// The bounds of the histograms in seconds, and of the histogram of shares.
const SECONDS: [f64; 14] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 60.0];
const SHARES: [f64; 8] = [0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0];

const SUM_UP: Duration = Duration::from_secs(60);

pub fn install() -> Result<Recorder, Failure> {
    let builder = PrometheusBuilder::new().set_buckets(&SECONDS)?;
    let recorder = builder.set_buckets_for_metric(Matcher::Full(DECISION_SHARE.to_owned()), &SHARES)?.build_recorder();
    let handle = recorder.handle();
    metrics::set_global_recorder(recorder).map_err(|_| Failure::failed("a recorder is installed already"))?;
    for &(name, kind, help) in METRICS {
        match kind {
            MetricKind::Counter => describe_counter!(name, help),
            MetricKind::Gauge => describe_gauge!(name, help),
            MetricKind::Histogram => describe_histogram!(name, help),
        }
    }
    gauge!(INFO, "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    // A count without events is 0, not unknown.
    counter!(FAULTS, "account" => "").increment(0);
    for name in [SEARCHES_LOST, WORKERS_DISTRUSTED, MESSAGES_DROPPED, SLOW_CONSUMERS] {
        counter!(name).increment(0);
    }
    Ok(Recorder(handle))
}

/// All measurements so far. Cheap to clone.
#[derive(Clone)]
pub struct Recorder(PrometheusHandle);

impl Recorder {
    /// Returns everything in Prometheus' text format. Memory, cores and workers are measured only here.
    pub fn text(&self, pool: &Pool) -> String {
        let machines = pool.machines();
        let (here, lent): (Vec<_>, Vec<_>) = machines.iter().partition(|machine| machine.here);
        let cores =
            |machines: &[&council::electors::MachineView]| machines.iter().map(|machine| machine.cores).sum::<usize>();
        gauge!(WORKERS).set(lent.len() as f64);
        gauge!(CORES, "where" => "here").set(cores(&here) as f64);
        gauge!(CORES, "where" => "lent").set(cores(&lent) as f64);
        let used = || lent.iter().filter(|machine| machine.closed.is_none());
        gauge!(WORKERS_UNUSED).set((lent.len() - used().count()) as f64);
        gauge!(WORKER_LAG).set(used().filter_map(|machine| machine.lag).max().unwrap_or_default().as_secs_f64());
        gauge!(RESIDENT_BYTES).set(resident_bytes() as f64);
        self.0.render()
    }

    /// Sums up the histograms every minute, for ever: each sample takes memory until then.
    pub async fn sum_up(self) {
        let mut minutes = tokio::time::interval(SUM_UP);
        loop {
            minutes.tick().await;
            self.0.run_upkeep();
        }
    }
}

pub(crate) fn games_running(account: &ServerName, games: usize) {
    gauge!(GAMES_RUNNING, "account" => account.to_string()).set(games as f64);
}

pub(crate) fn webhook(outcome: &'static str) {
    counter!(WEBHOOKS, "outcome" => outcome).increment(1);
}

pub(crate) fn journal_took(time: Duration) {
    histogram!(JOURNAL_SECONDS).record(time.as_secs_f64());
}

/// Returns the resident memory of this process; 0 if it is unknown.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    resident_kibibytes(&status).unwrap_or(0) * 1024
}

/// Reads the resident memory from `/proc/self/status`: unlike `statm` it does not count in pages.
fn resident_kibibytes(status: &str) -> Option<u64> {
    status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metric_names_follow_prometheus() {
        for &(name, kind, _) in METRICS {
            let plain = name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
            assert!(plain && name.starts_with("concilio_"), "{name}");
            assert_eq!(name.ends_with("_total"), kind == MetricKind::Counter, "{name}");
        }
    }

    #[test]
    fn memory_is_counted_in_bytes() {
        assert_eq!(resident_kibibytes("Name:\tconcilio\nVmRSS:\t   20480 kB\nThreads:\t9\n"), Some(20_480));
        assert_eq!(resident_kibibytes("Name:\tconcilio\n"), None);
    }

    #[test]
    fn adapter_metrics_are_in_the_list() {
        assert_eq!(platform::REQUESTS_LIMITED, REQUESTS_LIMITED);
    }
}
