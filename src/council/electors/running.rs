//! The running searches of a pool, for display.

use std::sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed};

use super::{CouncilGame, ElectorSpec, SearchState, SearchStatus, Task};

/// All running searches. Cheap to clone; clones are the same list.
#[derive(Clone, Debug, Default)]
pub(super) struct RunningSearches(Arc<Mutex<Vec<Running>>>);

type Running = (SearchStatus, Arc<SearchState>);

impl RunningSearches {
    /// Adds a search, until its state says that it is over.
    pub(super) fn begin<L: CouncilGame>(&self, spec: &ElectorSpec<L::Kind>, task: &Task<L>) {
        let threads = u16::try_from(task.threads_of(spec.threads)).unwrap_or(u16::MAX);
        let status = SearchStatus { search: task.id.clone(), elector: spec.name.clone(), threads, nodes: 0 };
        let mut searches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        searches.retain(|(_, state)| !state.over.load(Relaxed));
        searches.push((status, Arc::clone(&task.state)));
    }

    pub(super) fn now(&self) -> Vec<SearchStatus> {
        let searches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let running = searches.iter().filter(|(_, state)| !state.over.load(Relaxed));
        running.map(|(status, state)| SearchStatus { nodes: state.nodes(), ..status.clone() }).collect()
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use crate::electors::{ElectorSpec, Pool, SearchReport, Task};
    use domain::{Knowledge, Line, Variant};

    #[test]
    fn running_searches_are_visible() {
        let pool = Pool::new(1);
        let mut slot = pool.slot::<Line>(&ElectorSpec::own(Knowledge::COMPLETE, 1), None);
        let (reports, mut inbox) = mpsc::unbounded_channel();
        slot.search(Task::alone(Line::start(Variant::Standard).into()), &reports);
        assert!(inbox.blocking_recv().is_some_and(|report| report.proposal().is_some()), "it searches without end");
        let here = &pool.machines()[0];
        let [(search, true)] = here.searches.as_slice() else { panic!("one search of ours: {here:?}") };
        assert_eq!((search.search.game.as_str(), search.threads, here.busy()), ("alone", 1, 1));
        slot.stop();
        while !matches!(inbox.blocking_recv(), Some(SearchReport::Finished(..))) {}
        assert!(pool.machines()[0].searches.is_empty());
        assert_eq!(pool.machines()[0].busy(), 0);
    }
}
