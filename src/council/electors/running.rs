//! The machines of a pool and their running searches, for display.

use std::{
    sync::{Arc, Mutex, PoisonError, atomic::Ordering::Relaxed},
    time::Duration,
};

use super::{CouncilGame, ElectorSpec, Pool, SearchState, SearchStatus, Task};
use domain::MachineName;

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

#[derive(Clone, Debug, PartialEq)]
pub struct MachineView {
    pub name: MachineName,
    /// True for the machine that plays the games.
    pub here: bool,
    pub cores: usize,
    /// Speed of one core, thousands of nodes a second; `None` before it is measured.
    pub speed: Option<u32>,
    /// The time from a question to its answer; `None` for this machine, and before the first
    /// answer.
    pub lag: Option<Duration>,
    /// Reason why it gets no searches, if any.
    pub closed: Option<&'static str>,
    /// All searches on it; true for those of this process, false for other daemons'.
    pub searches: Vec<(SearchStatus, bool)>,
}

impl MachineView {
    /// Returns the number of searching threads, which may exceed the cores they share.
    pub fn busy(&self) -> usize {
        self.searches.iter().map(|(search, _)| usize::from(search.threads)).sum()
    }
}

impl Pool {
    pub fn machines(&self) -> Vec<MachineView> {
        let here = MachineView {
            name: MachineName::new("this machine"),
            here: true,
            cores: self.cores(),
            speed: None,
            lag: None,
            closed: None,
            searches: self.running.now().into_iter().map(|search| (search, true)).collect(),
        };
        let lent = self.remote.as_ref().map(|remote| remote.machines()).unwrap_or_default();
        std::iter::once(here).chain(lent).collect()
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
