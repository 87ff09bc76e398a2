//! The searchers of a council: a slot of the pool each, what it is searching, and what that has cost.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::{
    CouncilGame,
    electors::{ElectorSpec, Job, Meter, SearchReport, Slot},
};
use domain::{GameId, GameLine, Metrics, Phase, ProcessMetrics, SearchId};
use engine::SharedTable;

/// A place in the council: its elector and its purpose.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Seat<K> {
    pub spec: ElectorSpec<K>,
    /// The elector for which it proposes, by its place in the roster; `None` for those that do not vote.
    pub elector: Option<usize>,
    /// The number of the adviser; `None` for all others.
    pub adviser: Option<usize>,
    /// True if it may search on other machines.
    pub elastic: bool,
}

impl<K> Seat<K> {
    /// One that does not vote.
    pub(super) fn of(spec: ElectorSpec<K>, elastic: bool) -> Self {
        Self { spec, elector: None, adviser: None, elastic }
    }
}

/// Counts the searches of this process.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// The identity of a new search of this line: no other search of this process has its number.
pub(super) fn search_id(game: &GameId, line: &impl GameLine, phase: Phase) -> SearchId {
    SearchId { game: game.clone(), ply: line.ply(), serial: SERIAL.fetch_add(1, Relaxed), phase }
}

/// The tables that slots of equal evaluation search with together, each with its machine in virtual time.
#[derive(Debug, Default)]
pub(super) struct Tables(Vec<(usize, SharedTable)>);

impl Tables {
    /// The table for an elector that shares; made when it is first asked for, of `hash` MiB.
    pub(super) fn of<L: CouncilGame>(
        &mut self,
        spec: &ElectorSpec<L::Kind>,
        hash: usize,
        machine: usize,
    ) -> Option<SharedTable> {
        let options = L::table_options(spec, hash)?;
        let known = self.0.iter().find(|(of, table)| *of == machine && table.suits(&options));
        if let Some((_, table)) = known {
            return Some(table.clone());
        }
        let table = SharedTable::new(&options);
        self.0.push((machine, table.clone()));
        Some(table)
    }

    /// The next question belongs to another game.
    pub(super) fn new_game(&self) {
        self.0.iter().for_each(|(_, table)| table.forget());
    }

    pub(super) fn all(&self) -> Vec<(usize, SharedTable)> {
        self.0.clone()
    }
}

/// A slot, the search it does for the question now asked, and what that has cost.
#[derive(Debug)]
pub(super) struct CouncilSearcher<L: CouncilGame> {
    /// The elector that proposes here, by its place in the roster; `None` for those that do not vote.
    pub elector: Option<usize>,
    /// The number of the adviser that searches here; `None` for all others.
    pub adviser: Option<usize>,
    /// Delay of its task and its proposals in virtual time, in nodes, if it is on another machine.
    pub on_the_way: u64,
    slot: Slot<L>,
    /// True if the slot may search on other machines.
    elastic: bool,
    current: Option<CurrentSearch>,
    nodes: u64,
    busy: Duration,
}

#[derive(Debug)]
struct CurrentSearch {
    id: SearchId,
    meter: Arc<Meter>,
    since: Instant,
}

impl<L: CouncilGame> CouncilSearcher<L> {
    /// Creates a searcher on a slot, elastic or not, without a place in the council.
    pub(super) fn on(slot: Slot<L>, elastic: bool, on_the_way: u64) -> Self {
        Self { elector: None, adviser: None, on_the_way, slot, elastic, current: None, nodes: 0, busy: Duration::ZERO }
    }

    /// Returns true if the slot has this elector and elasticity.
    pub(super) fn suits(&self, seat: &Seat<L::Kind>) -> bool {
        self.elastic == seat.elastic && *self.spec() == seat.spec
    }

    pub(super) fn seated(self, seat: &Seat<L::Kind>) -> Self {
        Self { elector: seat.elector, adviser: seat.adviser, ..self }
    }

    pub(super) fn spec(&self) -> &ElectorSpec<L::Kind> {
        self.slot.spec()
    }

    /// Forgets the question before.
    pub(super) fn begin_question(&mut self) {
        (self.current, self.nodes, self.busy) = (None, 0, Duration::ZERO);
    }

    /// Begins a search; the one before, if it still runs, is dropped.
    pub(super) fn search(&mut self, job: Job<L>, reports: &UnboundedSender<SearchReport<L::Move>>) {
        self.finish();
        let (id, meter) = (job.task.id.clone(), Arc::clone(&job.meter));
        self.current = Some(CurrentSearch { id, meter, since: Instant::now() });
        self.slot.search(job, reports);
    }

    /// Returns true if a report belongs to the current search, and records it.
    pub(super) fn accepts(&mut self, report: &SearchReport<L::Move>) -> bool {
        let Some(search) = self.current.as_ref().filter(|search| search.id == *report.search()) else { return false };
        match report {
            SearchReport::Proposal(proposal) => search.meter.count(proposal.nodes),
            SearchReport::Finished(..) => self.finish(),
            SearchReport::Failed(_, elector, why) => {
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

    pub(super) fn is_searching(&self) -> bool {
        self.current.is_some()
    }

    pub(super) fn is_searching_here(&self) -> bool {
        self.is_searching() && !self.slot.is_away()
    }

    pub(super) fn stop(&mut self) {
        self.finish();
        self.slot.stop();
    }

    /// Nodes it has visited for this question.
    pub(super) fn nodes(&self) -> u64 {
        self.nodes + self.current.as_ref().map_or(0, |search| search.meter.nodes())
    }

    /// A number that grows while it is at work.
    pub(super) fn signs_of_life(&self) -> u64 {
        self.nodes() + self.current.as_ref().map_or(0, |search| search.meter.words())
    }

    /// The share of its nodes that its best move took, 0 to 1, where it says so and still searches.
    pub(super) fn effort(&self) -> Option<f64> {
        self.current.as_ref()?.meter.effort()
    }

    pub(super) fn busy(&self) -> Duration {
        self.busy + self.current.as_ref().map_or(Duration::ZERO, |search| search.since.elapsed())
    }

    pub(super) fn new_game(&self) {
        self.slot.new_game();
    }

    /// Cancelled when its elector has been started, or could not be.
    pub(super) fn started(&self) -> CancellationToken {
        self.slot.started()
    }
}

/// Returns the searchers' work for a question, each with its threads. A searcher of the first phase
/// and the one of the same number in the second are one.
pub(super) fn metrics<L: CouncilGame>(phases: &[&[CouncilSearcher<L>]], elapsed: Duration) -> Metrics {
    let mut metrics = Metrics { processes: Vec::new(), elapsed };
    for searchers in phases {
        let threads = searchers.iter().flat_map(|searcher| {
            let threads = searcher.spec().threads.max(1);
            std::iter::repeat_n((searcher, threads), threads)
        });
        for (number, (searcher, threads)) in threads.enumerate() {
            let (nodes, busy) = (searcher.nodes() / threads as u64, searcher.busy());
            match metrics.processes.get_mut(number) {
                Some(known) => {
                    known.nodes += nodes;
                    known.busy += busy;
                }
                None => {
                    let elector = searcher.spec().name.clone();
                    metrics.processes.push(ProcessMetrics { elector, nodes, busy });
                }
            }
        }
    }
    metrics
}
