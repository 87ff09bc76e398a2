//! The machines on which a pool's electors search, for whoever looks on.

use std::time::Duration;

use super::Pool;
use chess::{ElectorName, GameId, MachineName};

/// What a machine does now.
#[derive(Clone, Debug, PartialEq)]
pub struct MachineView {
    /// What its operator calls it.
    pub name: MachineName,
    /// Whether it is the one that plays the games.
    pub here: bool,
    /// How many cores may search on it.
    pub cores: usize,
    /// Speed of one core, thousands of nodes a second; `None` where it was not measured.
    pub speed: Option<u32>,
    /// From a question to its answer; `None` for this machine, and before the first answer.
    pub lag: Option<Duration>,
    /// Why it gets no searches, if it gets none.
    pub closed: Option<&'static str>,
    /// The searches on it, ours and others'.
    pub searches: Vec<SearchView>,
}

/// A search on a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SearchView {
    /// The game it is for.
    pub game: GameId,
    /// The elector that searches.
    pub elector: ElectorName,
    /// How many threads it has.
    pub threads: usize,
    /// How many nodes were visited when the machine last told of it.
    pub nodes: u64,
    /// Whether this process asked for it.
    pub ours: bool,
}

impl MachineView {
    /// How many threads search on it now, more than the cores where they share them.
    pub fn busy(&self) -> usize {
        self.searches.iter().map(|search| search.threads).sum()
    }
}

impl Pool {
    /// The machines whose cores it has now, this one first.
    pub fn machines(&self) -> Vec<MachineView> {
        let searches = self.running.now();
        let here = MachineView {
            name: MachineName::new("this machine"),
            here: true,
            cores: self.cores(),
            speed: None,
            lag: None,
            closed: None,
            searches,
        };
        let lent = self.remote.as_ref().map(|remote| remote.machines()).unwrap_or_default();
        std::iter::once(here).chain(lent).collect()
    }
}
