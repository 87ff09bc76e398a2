//! The budget of a proof, and its count.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use crate::search::Place;

/// The node budget of a proof. A node is a position after a move, as in the search.
pub struct Effort<'a> {
    used: u64,
    most: u64,
    /// The end of a part of the work.
    quota: u64,
    stop: &'a AtomicBool,
    stopped: bool,
    counter: Option<&'a AtomicU64>,
    place: Option<&'a Place>,
}

impl<'a> Effort<'a> {
    /// Allows `nodes` nodes, until `stop` is set.
    pub fn new(nodes: u64, stop: &'a AtomicBool) -> Self {
        Self { used: 0, most: nodes, quota: nodes, stop, stopped: false, counter: None, place: None }
    }

    /// Counts the nodes in `counter`, readable while it runs.
    #[must_use]
    pub fn counted_by(self, counter: &'a AtomicU64) -> Self {
        Self { counter: Some(counter), ..self }
    }

    /// Takes turns with searches in virtual time, and waits for the first one.
    #[must_use]
    pub fn taking_turns(self, place: Option<&'a Place>) -> Self {
        place.into_iter().for_each(Place::enter);
        Self { place, ..self }
    }

    pub fn used(&self) -> u64 {
        self.used
    }

    pub fn left(&self) -> u64 {
        self.most.saturating_sub(self.used)
    }

    /// Returns true if all nodes are used, or it was stopped.
    pub fn is_over(&self) -> bool {
        self.stopped || self.used >= self.most
    }

    /// Limits the next part of the work to `nodes` nodes.
    pub(super) fn allow(&mut self, nodes: u64) {
        self.quota = self.used.saturating_add(nodes).min(self.most);
    }

    /// Returns true if this part of the work is over.
    pub(super) fn is_spent(&self) -> bool {
        self.stopped || self.used >= self.quota
    }

    pub fn spend(&mut self) {
        self.used += 1;
        if let Some(counter) = self.counter {
            counter.store(self.used, Relaxed);
        }
        let turn = self.place.map_or(POLL, Place::turn);
        if self.used.is_multiple_of(turn) {
            self.stopped |= self.stop.load(Relaxed);
            if let Some(place) = self.place.filter(|_| !self.stopped) {
                place.pass();
            }
        }
    }
}

/// Nodes between two checks of the stop flag: well under a millisecond.
const POLL: u64 = 128;
