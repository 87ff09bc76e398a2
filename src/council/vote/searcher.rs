//! The searchers of a council: each has a slot of the pool, its current search, and the cost so far.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use crate::{
    CouncilGame,
    electors::{ElectorSpec, Reports, SearchReport, SearchState, Slot, Task},
};
use domain::{GameId, GameLine, Phase, ProcessMetrics, SearchId};

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Role<K> {
    pub spec: ElectorSpec<K>,
    /// The place of its elector in the roster; `None` without a vote.
    pub elector: Option<usize>,
    /// The number of the adviser; `None` for other searchers.
    pub adviser: Option<usize>,
    /// True if it may search on other machines.
    pub elastic: bool,
}

impl<K> Role<K> {
    pub(super) fn of(spec: ElectorSpec<K>, elastic: bool) -> Self {
        Self { spec, elector: None, adviser: None, elastic }
    }
}

static SERIAL: AtomicU64 = AtomicU64::new(0);

/// Returns the identity of a new search of this line, with a number unique in this process.
pub(super) fn search_id(game: &GameId, line: &impl GameLine, phase: Phase) -> SearchId {
    SearchId { game: game.clone(), ply: line.ply(), serial: SERIAL.fetch_add(1, Relaxed), phase }
}

#[derive(Debug)]
pub(super) struct CouncilSearcher<L: CouncilGame> {
    pub role: Role<L::Kind>,
    /// Delay of its task and its proposals in virtual time, in nodes, if it is on another machine.
    pub on_the_way: u64,
    slot: Box<dyn Slot<L>>,
    current: Option<(SearchId, Arc<SearchState>)>,
    nodes: u64,
    busy: Duration,
}

impl<L: CouncilGame> CouncilSearcher<L> {
    pub(super) fn on(slot: Box<dyn Slot<L>>, role: Role<L::Kind>, on_the_way: u64) -> Self {
        Self { role, on_the_way, slot, current: None, nodes: 0, busy: Duration::ZERO }
    }

    pub(super) fn suits(&self, role: &Role<L::Kind>) -> bool {
        self.role.elastic == role.elastic && self.role.spec == role.spec
    }

    pub(super) fn begin_question(&mut self) {
        (self.current, self.nodes, self.busy) = (None, 0, Duration::ZERO);
    }

    pub(super) fn search(&mut self, task: Task<L>, reports: &Reports<L::Move>) {
        self.finish();
        self.current = Some((task.id.clone(), Arc::clone(&task.state)));
        self.slot.search(task, reports);
    }

    /// Returns true if a report belongs to the current search, and records it.
    pub(super) fn accepts(&mut self, report: &SearchReport<L::Move>) -> bool {
        let Some((_, search)) = self.current.as_ref().filter(|(id, _)| id == report.search()) else { return false };
        match report {
            SearchReport::Proposal(proposal) => search.count(proposal.nodes),
            SearchReport::Finished(..) => self.finish(),
            SearchReport::Failed(_, elector, why) => {
                tracing::warn!(%elector, why, "an elector failed; the others decide");
                self.finish();
            }
        }
        true
    }

    fn finish(&mut self) {
        if let Some((_, search)) = self.current.take() {
            self.nodes += search.nodes();
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

    pub(super) fn nodes(&self) -> u64 {
        self.nodes + self.current.as_ref().map_or(0, |(_, search)| search.nodes())
    }

    /// Returns a number that grows while it is at work.
    pub(super) fn signs_of_life(&self) -> u64 {
        self.nodes() + self.current.as_ref().map_or(0, |(_, search)| search.words())
    }

    /// Returns its best move's share of the nodes, 0 to 1, if known and still searching.
    pub(super) fn effort(&self) -> Option<f64> {
        self.current.as_ref()?.1.effort()
    }

    pub(super) fn busy(&self) -> Duration {
        self.busy + self.current.as_ref().map_or(Duration::ZERO, |(_, search)| search.since.elapsed())
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
pub(super) fn processes<L: CouncilGame>(phases: &[&[CouncilSearcher<L>]]) -> Vec<ProcessMetrics> {
    let mut processes: Vec<ProcessMetrics> = Vec::new();
    for searchers in phases {
        let threads = searchers.iter().flat_map(|searcher| {
            let threads = searcher.role.spec.threads.max(1);
            std::iter::repeat_n((searcher, threads), threads)
        });
        for (number, (searcher, threads)) in threads.enumerate() {
            let (nodes, busy) = (searcher.nodes() / threads as u64, searcher.busy());
            match processes.get_mut(number) {
                Some(known) => {
                    known.nodes += nodes;
                    known.busy += busy;
                }
                None => {
                    let elector = searcher.role.spec.name.clone();
                    processes.push(ProcessMetrics { elector, nodes, busy });
                }
            }
        }
    }
    processes
}
