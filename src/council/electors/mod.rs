//! The places where electors run.
//!
//! An [`Elector`] gets a [`Task`] and returns [`Proposal`](domain::Proposal)s until it is done or
//! stopped. It has a [`Slot`]: an operating system thread of its own, at lower priority than the
//! daemon's, so that no search ever delays a move that is ready to be sent. All slots of all games
//! compete for the cores under the kernel's scheduler, which shares them fairly. With a
//! [`RemotePool`], searches without a core here run on other machines.
//!
//! Invariants:
//! - a slot answers every search with exactly one [`SearchReport::Finished`] or
//!   [`SearchReport::Failed`], after all its proposals;
//! - every proposed move has been checked to be legal in the task's position, wherever the elector
//!   runs;
//! - a slot whose search does not end is abandoned, and another one opened; its thread ends with
//!   its search;
//! - a table is only shared between electors that evaluate alike.

pub mod cecp;
mod cores;
mod elastic_slot;
mod elector;
mod engine_game;
mod game;
mod local_slot;
mod machine_view;
mod memory;
mod own;
mod positions;
mod priority;
mod process;
mod program;
mod prover;
mod remote;
mod running;
mod slot;
mod spec;
mod start;
mod task;
mod transcript;
pub mod uci;
mod verification;
mod virtual_machines;

pub use elector::{Elector, ElectorFailure, ElectorResult};
pub use engine_game::{EngineChat, EngineGame};
pub use game::CouncilGame;
pub use local_slot::local_slot;
pub use machine_view::MachineView;
pub(crate) use memory::MemoryClaim;
pub use memory::memory_for_tables;
pub use process::{Process, kill_engines};
pub use program::{EngineProgram, EngineProtocol, ErrorOutput};
pub(crate) use remote::next_arrival;
pub use remote::{Fallback, RemotePool, RemoteSlot};
pub use slot::Slot;
pub use spec::{ElectorKind, ElectorMaker, ElectorSpec, Instance, SearchPriority, net_file};
pub use start::variants_of;
pub use task::{Guidance, Hints, Reports, SearchReport, SearchState, SearchStatus, Task};
pub use verification::{Verification, VerificationLength};
pub use virtual_machines::VirtualMachines;

use std::{sync::Arc, time::Duration};

use tokio::sync::{Notify, watch};

use cores::Cores;
use elastic_slot::ElasticSlot;
use engine::{EngineOptions, SharedTable};
use local_slot::LocalSlot;
use memory::{BackgroundTable, TableMemory};
use running::RunningSearches;

/// The cores on which the electors of this process search. Cheap to clone; clones are the same pool.
#[derive(Clone, Debug)]
pub struct Pool {
    cores: Arc<Cores>,
    memory: Arc<TableMemory>,
    background: Arc<BackgroundTable>,
    remote: Option<Arc<dyn RemotePool>>,
    /// The number of councils that decide now.
    deciding: watch::Sender<usize>,
    running: RunningSearches,
    virtual_machines: Option<VirtualMachines>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoresAtHand {
    pub here: usize,
    /// The cores of this machine and of others.
    pub together: usize,
    /// The most on one machine.
    pub widest: usize,
}

impl Pool {
    /// Creates a pool over `cores` cores; 0 takes all.
    pub fn new(cores: usize) -> Self {
        let all = std::thread::available_parallelism().map_or(1, usize::from);
        let cores = Arc::new(Cores::new(if cores == 0 { all } else { cores }));
        let memory = Arc::new(TableMemory::new(memory_for_tables()));
        Self {
            cores,
            memory,
            background: Arc::default(),
            remote: None,
            deciding: watch::Sender::default(),
            running: RunningSearches::default(),
            virtual_machines: None,
        }
    }

    pub fn with_remote(cores: usize, remote: Option<Arc<dyn RemotePool>>) -> Self {
        Self { remote, ..Self::new(cores) }
    }

    /// A pool over the cores of other machines alone, to measure them.
    pub fn of_remote(remote: Arc<dyn RemotePool>) -> Self {
        Self { cores: Arc::new(Cores::new(0)), ..Self::with_remote(1, Some(remote)) }
    }

    /// Lets the pool stand for several machines in virtual time.
    #[must_use]
    pub fn standing_for(self, virtual_machines: VirtualMachines) -> Self {
        Self { virtual_machines: Some(virtual_machines), ..self }
    }

    pub(crate) fn virtual_machines(&self) -> Option<VirtualMachines> {
        self.virtual_machines
    }

    /// Limits the memory of all tables, MiB.
    #[cfg(test)]
    pub(crate) fn limited_to(self, memory: usize) -> Self {
        Self { memory: Arc::new(TableMemory::new(Some(memory))), ..self }
    }

    /// Claims memory for the tables of a council, MiB: less than `wanted` near the limit of this process.
    pub(crate) fn claim_memory(&self, wanted: usize) -> MemoryClaim {
        self.memory.claim(wanted)
    }

    /// Returns an empty shared table of `options.hash` MiB. Background searches, one after the other, get the same memory: taking
    /// and freeing it for each of their moves would delay the moves of other games by some 10 ms.
    pub(crate) fn shared_table(&self, options: &EngineOptions, priority: SearchPriority) -> SharedTable {
        match priority {
            SearchPriority::Background => self.background.table(&self.memory, options),
            SearchPriority::Usual | SearchPriority::Adviser => SharedTable::new(options),
        }
    }

    pub fn cores(&self) -> usize {
        self.cores.all
    }

    /// Returns the cores available for a move of this length; `None`: without end.
    pub fn cores_for(&self, time: Option<Duration>) -> CoresAtHand {
        let lent = self.remote.as_ref().map(|remote| remote.cores(time)).unwrap_or_default();
        let here = self.cores();
        CoresAtHand {
            here,
            together: here + lent.iter().sum::<usize>(),
            widest: lent.into_iter().fold(here, usize::max),
        }
    }

    /// Watches for new machines from now on.
    pub(crate) fn arrivals(&self) -> Option<watch::Receiver<u64>> {
        self.remote.as_ref()?.arrivals()
    }

    /// Returns the signal for the verifier of other machines' proposals; `None` without other
    /// machines.
    pub(crate) fn verifier(&self) -> Option<Arc<Notify>> {
        self.remote.as_ref().map(|remote| remote.verifier())
    }

    /// Returns the share of `cores` cores for one of the councils that decide now, at least one.
    pub fn fair_share_of(&self, cores: usize) -> usize {
        (cores / (*self.deciding.borrow()).max(1)).max(1)
    }

    /// Opens a slot for an elector, here or wherever there is a core. Slots that are given the same `table` search with one
    /// together on every machine on which they meet.
    pub fn slot<L: CouncilGame>(&self, spec: &ElectorSpec<L::Kind>, table: Option<&SharedTable>) -> Box<dyn Slot<L>> {
        let local = LocalSlot::<L>::start(spec, table, &self.running);
        match self.remote.as_deref().and_then(|remote| L::remote_slot(remote, spec, table)) {
            Some(remote) => {
                let (cores, table) = (Arc::clone(&self.cores), table.map(SharedTable::number));
                Box::new(ElasticSlot::new(cores, spec, table, local, remote))
            }
            None => Box::new(local),
        }
    }

    /// Counts a council as deciding until the guard is dropped.
    pub(crate) fn deciding(&self) -> DecidingCouncil {
        self.deciding.send_modify(|councils| *councils += 1);
        DecidingCouncil(self.deciding.clone())
    }

    /// Waits until no council decides.
    pub async fn idle(&self) {
        // It fails only without a sender, and the pool is one.
        let _ = self.deciding.subscribe().wait_for(|councils| *councils == 0).await;
    }
}

/// Counts a council in [`Pool::fair_share_of`].
#[derive(Debug)]
pub(crate) struct DecidingCouncil(watch::Sender<usize>);

impl Drop for DecidingCouncil {
    fn drop(&mut self) {
        self.0.send_modify(|councils| *councils -= 1);
    }
}
