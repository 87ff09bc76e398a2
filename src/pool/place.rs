//! Where an elector may sit: a thread of this process, or a machine that somebody lends.

use std::fmt::Debug;

use tokio::sync::mpsc::UnboundedSender;

use super::{ElectorSpec, Job, Report};

/// What a [`Seat`](super::Seat) stands on. It keeps the pool's invariants: every search is answered with exactly one
/// [`Report::Finished`] or [`Report::Failed`], after all its proposals, and every proposed move is legal.
pub trait Place: Debug + Send + Sync {
    /// Begins a search; a search still running is told to stop first.
    fn search(&mut self, job: Job, reports: &UnboundedSender<Report>);

    /// Tells the running search to stop; its last proposal stands.
    fn stop(&self);

    /// Forgets the last game.
    fn new_game(&self);
}

/// Somebody who knows of places beside the threads of this process.
pub trait Elsewhere: Debug + Send + Sync {
    /// A place for an elector. Dropping it ends the search and gives the place back.
    fn place(&self, spec: &ElectorSpec) -> Box<dyn Place>;
}
