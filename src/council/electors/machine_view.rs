//! The machines of a pool's electors, for display.

use std::time::Duration;

use super::{Pool, SearchStatus};
use domain::MachineName;

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
