//! Where an elector may sit: a thread of this process, or a machine that somebody lends.

use std::fmt::Debug;

use tokio::sync::mpsc::UnboundedSender;

use super::{ElectorSpec, Job, Report, roaming::Home};
use engine::SharedTable;

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

/// Somebody who knows of cores beside those of this machine.
pub trait Elsewhere: Debug + Send + Sync {
    /// What this process may count on now.
    fn cores(&self) -> LentCores;

    /// Somewhere for an elector to search from time to time; `None` for one that cannot leave this machine. Those that are given
    /// the same `table` share one on every machine on which they meet. Dropping it gives everything back.
    fn lodge(&self, spec: &ElectorSpec, table: Option<&SharedTable>) -> Option<Box<dyn Lodging>>;
}

/// How many cores others lend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LentCores {
    /// All together.
    pub together: usize,
    /// The most on one machine.
    pub widest: usize,
}

/// An elector's lodging elsewhere. Each search may run on another machine, or on none.
pub trait Lodging: Debug + Send + Sync {
    /// Takes a search if there is a core for it now: from then on it is answered as by a [`Place`], or given back to `home`
    /// if it is lost before its first proposal. `false` if it was not taken.
    fn search(&mut self, job: &Job, reports: &UnboundedSender<Report>, home: Home) -> bool;

    /// Tells the search that it took to stop, if one runs.
    fn stop(&mut self);

    /// Forgets the last game.
    fn new_game(&self);
}
