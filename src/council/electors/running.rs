//! The running searches of this machine, for display.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{ElectorSpec, Job, Meter, SearchView};
use crate::CouncilGame;
use domain::{ElectorName, GameId};

/// All running searches. Cheap to clone; clones are the same list.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningSearches(Arc<Mutex<RunningState>>);

#[derive(Debug, Default)]
struct RunningState {
    running: BTreeMap<u64, RunningSearch>,
    begun: u64,
}

#[derive(Debug)]
struct RunningSearch {
    game: GameId,
    elector: ElectorName,
    threads: usize,
    meter: Arc<Meter>,
}

impl RunningSearches {
    /// A search begins; it runs until the guard is dropped.
    pub(super) fn begin<L: CouncilGame>(&self, spec: &ElectorSpec<L::Kind>, job: &Job<L>) -> RunningGuard {
        let search = RunningSearch {
            game: job.task.id.game.clone(),
            elector: spec.name.clone(),
            threads: job.threads_of(spec.threads),
            meter: Arc::clone(&job.meter),
        };
        let mut searches = self.lock();
        searches.begun += 1;
        let number = searches.begun;
        searches.running.insert(number, search);
        RunningGuard { searches: self.clone(), number }
    }

    pub(super) fn now(&self) -> Vec<SearchView> {
        let view = |search: &RunningSearch| SearchView {
            game: search.game.clone(),
            elector: search.elector.clone(),
            threads: search.threads,
            nodes: search.meter.nodes(),
            ours: true,
        };
        self.lock().running.values().map(view).collect()
    }

    fn lock(&self) -> MutexGuard<'_, RunningState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
pub(super) struct RunningGuard {
    searches: RunningSearches,
    number: u64,
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        self.searches.lock().running.remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use tokio::sync::mpsc;

    use crate::electors::{ElectorSpec, Job, Pool, SearchReport};
    use domain::{GameId, Knowledge, Limits, Line, Phase, SearchId, Task, Variant};

    #[test]
    fn running_searches_are_visible() {
        let pool = Pool::new(1);
        let mut slot = pool.slot(&ElectorSpec::own(Knowledge::COMPLETE, 1), None);
        let id = SearchId { game: GameId::new("g"), ply: 0, serial: 1, phase: Phase::First };
        let line = Line::start(Variant::Standard).into();
        let (reports, mut inbox) = mpsc::unbounded_channel();
        slot.search(Job::new(Task { id, line, root_moves: Vec::new(), limits: Limits::default() }), &reports);
        assert!(inbox.blocking_recv().is_some_and(|report| report.proposal().is_some()), "it searches without end");
        let here = &pool.machines()[0];
        let [search] = here.searches.as_slice() else { panic!("one search: {here:?}") };
        assert_eq!((search.game.as_str(), search.threads, search.ours, here.busy()), ("g", 1, true, 1));
        slot.stop();
        while !matches!(inbox.blocking_recv(), Some(SearchReport::Finished(..))) {}
        let begun = Instant::now();
        while !pool.machines()[0].searches.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(60), "it is told of after its end");
            std::thread::yield_now();
        }
        assert_eq!(pool.machines()[0].busy(), 0);
    }
}
