//! A slot of the pool: one elector behind a handle, wherever it searches.

use tokio::sync::mpsc::UnboundedSender;

use super::{
    ElectorSpec, Job, SearchReport, elastic_slot::ElasticSlot, local_slot::LocalSlot, running::RunningSearches,
};
use engine::SharedTable;

/// The handle of an elector's slot. Dropping it stops the search; a thread ends as soon as the elector lets it.
#[derive(Debug)]
pub struct Slot {
    spec: ElectorSpec,
    kind: SlotKind,
}

#[derive(Debug)]
enum SlotKind {
    Local(Box<LocalSlot>),
    Elastic(ElasticSlot),
}

impl Slot {
    /// Opens a slot on a thread of this process. The elector starts at once: an engine may need a while before it can
    /// search. `table` is searched with together with the other slots that were given it.
    pub fn local(spec: ElectorSpec, table: Option<&SharedTable>) -> Self {
        let slot = LocalSlot::start(&spec, table, &RunningSearches::default());
        Self::of(spec, slot)
    }

    /// A slot on this thread.
    pub(super) fn of(spec: ElectorSpec, slot: LocalSlot) -> Self {
        Self { spec, kind: SlotKind::Local(Box::new(slot)) }
    }

    /// A slot that may search on other machines.
    pub(super) fn elastic(spec: ElectorSpec, slot: ElasticSlot) -> Self {
        Self { spec, kind: SlotKind::Elastic(slot) }
    }

    /// The elector that searches here.
    pub fn spec(&self) -> &ElectorSpec {
        &self.spec
    }

    /// Begins a search; reports go to `reports`. A search still running is told to stop first.
    pub fn search(&mut self, job: Job, reports: &UnboundedSender<SearchReport>) {
        match &mut self.kind {
            SlotKind::Local(slot) => slot.search(job, reports),
            SlotKind::Elastic(slot) => slot.search(job, reports),
        }
    }

    /// Tells the running search to stop; its last proposal stands.
    pub fn stop(&self) {
        match &self.kind {
            SlotKind::Local(slot) => slot.stop(),
            SlotKind::Elastic(slot) => slot.stop(),
        }
    }

    /// Forgets the last game.
    pub fn new_game(&self) {
        match &self.kind {
            SlotKind::Local(slot) => slot.new_game(),
            SlotKind::Elastic(slot) => slot.new_game(),
        }
    }
}
