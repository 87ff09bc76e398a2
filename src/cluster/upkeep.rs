//! Measures a daemon's work for its workers beside reading proposals: choosing one for a search,
//! and reading heartbeats.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use super::{
    identity::{ProcessIdentity, RunId, Sender},
    placement::{self, WantedSlot},
    registry::Registry,
    wire::{self, Addressed, Heartbeat, TableNews, WorkerMessage},
};
use engine::{Belief, EngineOptions, SharedTable, TableEntry};

const ROUNDS: u32 = 200;
/// Entries of a message about a table, as many as the default budget allows.
const ENTRIES: usize = 21;
const WORKERS: u32 = 500;

/// The daemon's time for its workers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Upkeep {
    /// Choosing a worker for an order, for each worker that there is.
    pub choice_by_worker: Duration,
    pub heartbeat: Duration,
    /// Reading or writing a message about a transposition table.
    pub table_message: Duration,
}

impl Upkeep {
    pub fn measure() -> Self {
        let (now, identity) = (Instant::now(), ProcessIdentity::new("measured"));
        let heartbeat = Heartbeat::idle(8, 1000);
        let bytes = wire::encode(&identity, &heartbeat);
        let mut registry = Registry::default();
        for run in 0..WORKERS {
            let sender = Sender { name: format!("worker-{run}"), run: RunId(run.into()) };
            registry.heard(now, &sender, heartbeat.clone(), Some(Duration::from_millis(1)));
        }
        let threads = (0..WORKERS).map(|run| (RunId(run.into()), 1)).collect();
        let begun = Instant::now();
        for _ in 0..ROUNDS {
            let offers = registry.offers(now, RunId(u64::MAX), &threads, None);
            black_box(placement::choose(&offers, WantedSlot { threads: 1, ..WantedSlot::default() }));
        }
        let choice_by_worker = begun.elapsed() / ROUNDS / WORKERS;
        let begun = Instant::now();
        for _ in 0..ROUNDS {
            if let Ok((_, heartbeat)) = wire::decode::<Heartbeat>("worker-7", &bytes, &identity.version) {
                let sender = Sender { name: "worker-7".to_owned(), run: RunId(7) };
                black_box(registry.heard(now, &sender, heartbeat, None));
            }
        }
        let heartbeat = begun.elapsed() / ROUNDS;
        Self { choice_by_worker, heartbeat, table_message: table_message(&identity) }
    }
}

fn table_message(identity: &ProcessIdentity) -> Duration {
    let table = SharedTable::new(&EngineOptions { hash: 1, ..EngineOptions::default() });
    let entries = vec![0; TableEntry::BYTES * ENTRIES];
    let body = WorkerMessage::Table(TableNews { table: table.number(), root: 0, entries });
    let bytes = wire::encode(identity, &Addressed { to: identity.sender.run, body });
    let begun = Instant::now();
    for _ in 0..ROUNDS {
        let read = wire::decode::<Addressed<WorkerMessage>>("worker-7", &bytes, &identity.version);
        if let Ok((_, Addressed { body: WorkerMessage::Table(news), .. })) = read {
            table.hear(&news.batch(), Belief::Moves);
        }
    }
    begun.elapsed() / ROUNDS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_take_time() {
        let upkeep = Upkeep::measure();
        assert!(
            !upkeep.choice_by_worker.is_zero() && !upkeep.heartbeat.is_zero() && !upkeep.table_message.is_zero(),
            "{upkeep:?}"
        );
    }
}
