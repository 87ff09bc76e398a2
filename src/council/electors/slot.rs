//! A slot of the pool: one elector behind a handle, on any machine.

use std::fmt;

use tokio_util::sync::CancellationToken;

use super::{CouncilGame, Reports, Task};
use domain::Line;

/// An elector's slot. Dropping it stops the search; a thread ends as soon as the elector lets it.
pub trait Slot<L: CouncilGame = Line>: fmt::Debug + Send + Sync {
    /// Begins a search; reports go to `reports`. A running search is stopped first.
    fn search(&mut self, task: Task<L>, reports: &Reports<L::Move>);

    /// Stops the running search; its last proposal stands.
    fn stop(&self);

    fn new_game(&self);

    /// Cancelled when its elector has been started on this machine, or could not be.
    fn started(&self) -> CancellationToken;

    fn is_away(&self) -> bool {
        false
    }
}
