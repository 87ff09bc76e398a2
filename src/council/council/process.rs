//! The processes of a council: seats, and what each is doing.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::sync::mpsc::UnboundedSender;

use crate::pool::{ElectorSpec, Job, Meter, Report, Seat};
use chess::{Metrics, ProcessMetrics, SearchId};
use engine::SharedTable;

/// Counts the searches of this process.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// A number that no other search of this process has.
pub(super) fn next_serial() -> u64 {
    SERIAL.fetch_add(1, Relaxed)
}

/// The tables that seats of equal evaluation search with together.
#[derive(Debug, Default)]
pub(super) struct Tables(Vec<SharedTable>);

impl Tables {
    /// The table for an elector that shares; made when it is first asked for, of `hash` MiB.
    pub fn of(&mut self, spec: &ElectorSpec, hash: usize) -> Option<SharedTable> {
        let options = spec.instance()?.options(hash, spec.threads);
        if let Some(table) = self.0.iter().find(|table| table.suits(&options)) {
            return Some(table.clone());
        }
        let table = SharedTable::new(&options);
        self.0.push(table.clone());
        Some(table)
    }
}

/// A seat, the search it does for the question now asked, and what that has cost.
#[derive(Debug)]
pub(super) struct Process {
    /// Whose proposals these are, by its place in the roster; `None` for those that do not vote.
    pub elector: Option<usize>,
    seat: Seat,
    current: Option<Search>,
    /// Of its searches that are over.
    nodes: u64,
    busy: Duration,
}

#[derive(Debug)]
struct Search {
    id: SearchId,
    meter: Arc<Meter>,
    since: Instant,
}

impl Process {
    /// On a seat of the pool.
    pub fn on(seat: Seat, elector: Option<usize>) -> Self {
        Self { elector, seat, current: None, nodes: 0, busy: Duration::ZERO }
    }

    pub fn spec(&self) -> &ElectorSpec {
        self.seat.spec()
    }

    /// Forgets the question before.
    pub fn begin_question(&mut self) {
        (self.current, self.nodes, self.busy) = (None, 0, Duration::ZERO);
    }

    /// Begins a search; the one before, if it still runs, is dropped.
    pub fn search(&mut self, job: Job, reports: &UnboundedSender<Report>) {
        self.finish();
        let (id, meter) = (job.task.id.clone(), Arc::clone(&job.meter));
        self.current = Some(Search { id, meter, since: Instant::now() });
        self.seat.search(job, reports);
    }

    /// Whether a report is about what it is doing, and not about something that was asked earlier. Notes what it says.
    pub fn hears(&mut self, report: &Report) -> bool {
        let Some(search) = self.current.as_ref().filter(|search| search.id == *report.search()) else { return false };
        match report {
            Report::Proposal(proposal) => search.meter.count(proposal.nodes),
            Report::Finished(..) => self.finish(),
            Report::Failed(_, elector, why) => {
                tracing::warn!(%elector, why, "an elector failed; the others decide");
                self.finish();
            }
        }
        true
    }

    fn finish(&mut self) {
        if let Some(search) = self.current.take() {
            self.nodes += search.meter.nodes();
            self.busy += search.since.elapsed();
        }
    }

    pub fn is_searching(&self) -> bool {
        self.current.is_some()
    }

    /// Tells it to stop; it is not waited for.
    pub fn stop(&mut self) {
        self.finish();
        self.seat.stop();
    }

    /// Nodes it has visited for this question.
    pub fn nodes(&self) -> u64 {
        self.nodes + self.current.as_ref().map_or(0, |search| search.meter.nodes())
    }

    /// How long it has searched for this question.
    pub fn busy(&self) -> Duration {
        self.busy + self.current.as_ref().map_or(Duration::ZERO, |search| search.since.elapsed())
    }

    pub fn new_game(&self) {
        self.seat.new_game();
    }
}

/// What processes have done for a question, each with the threads of its search. A process of the first phase and the one of
/// the same number in the second are one.
pub(super) fn metrics(phases: &[&[Process]], elapsed: Duration) -> Metrics {
    let mut metrics = Metrics { processes: Vec::new(), elapsed };
    for processes in phases {
        let threads = processes.iter().flat_map(|process| {
            let threads = process.spec().threads.max(1);
            std::iter::repeat_n((process, threads), threads)
        });
        for (number, (process, threads)) in threads.enumerate() {
            let (nodes, busy) = (process.nodes() / threads as u64, process.busy());
            match metrics.processes.get_mut(number) {
                Some(known) => {
                    known.nodes += nodes;
                    known.busy += busy;
                }
                None => {
                    let elector = process.spec().name.clone();
                    metrics.processes.push(ProcessMetrics { elector, nodes, busy });
                }
            }
        }
    }
    metrics
}
