//! A slot of the pool: one elector behind a handle, on any machine.

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use std::fmt;

use super::{CouncilGame, ElectorSpec, SearchReport, Task};
use domain::Line;

/// The interface of a slot on any machine.
pub(super) trait SearchSlot<L: CouncilGame>: fmt::Debug + Send + Sync {
    /// Begins a search; stops a running one first.
    fn search(&mut self, task: Task<L>, reports: &UnboundedSender<SearchReport<L::Move>>);

    fn stop(&self);

    /// Forgets the last game.
    fn new_game(&self);

    /// Cancelled when its elector has been started on this machine, or could not be.
    fn started(&self) -> CancellationToken;

    /// Returns true if it searches on another machine.
    fn is_away(&self) -> bool {
        false
    }
}

/// The handle of an elector's slot. Dropping it stops the search; a thread ends as soon as the elector lets it.
#[derive(Debug)]
pub struct Slot<L: CouncilGame = Line> {
    spec: ElectorSpec<L::Kind>,
    place: Box<dyn SearchSlot<L>>,
}

impl<L: CouncilGame> Slot<L> {
    pub(super) fn of(spec: ElectorSpec<L::Kind>, place: impl SearchSlot<L> + 'static) -> Self {
        Self { spec, place: Box::new(place) }
    }

    pub fn spec(&self) -> &ElectorSpec<L::Kind> {
        &self.spec
    }

    /// Begins a search; reports go to `reports`. A running search is stopped first.
    pub fn search(&mut self, task: Task<L>, reports: &UnboundedSender<SearchReport<L::Move>>) {
        self.place.search(task, reports);
    }

    /// Stops the running search; its last proposal stands.
    pub fn stop(&self) {
        self.place.stop();
    }

    pub fn new_game(&self) {
        self.place.new_game();
    }

    /// Cancelled when its elector has been started on this machine, or could not be.
    pub(crate) fn started(&self) -> CancellationToken {
        self.place.started()
    }

    /// Returns true if it searches on another machine.
    pub(crate) fn is_away(&self) -> bool {
        self.place.is_away()
    }
}
