//! Thinking in the opponent's time about several replies at once.

use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

use domain::Line;

/// Several expected lines. The electors are spread over them, the first line with the largest share, until the opponent's move
/// settles one. Cheap to clone; clones are the same.
///
/// The timing of the question should be endless until [`Self::settle`], which notifies
/// [`Question::reconsider`](super::Question::reconsider). Without a settled line the question is about its own `line`. If the
/// opponent plays another move, cancel the question.
#[derive(Clone, Debug)]
pub struct Pondering<L = Line> {
    lines: Arc<[Arc<L>]>,
    settled: Arc<OnceLock<usize>>,
    /// Index of the decision's line.
    decided: Arc<OnceLock<usize>>,
    reconsider: Arc<Notify>,
}

impl<L: PartialEq> Pondering<L> {
    /// Creates a pondering of these lines, the likeliest first. `reconsider` is the question's own.
    pub fn new(lines: Vec<Arc<L>>, reconsider: Arc<Notify>) -> Self {
        Self { lines: lines.into(), settled: Arc::default(), decided: Arc::default(), reconsider }
    }

    /// Reports the line on the board. Its electors go on, and the others turn to it. Returns false
    /// for an unexpected line.
    pub fn settle(&self, line: &L) -> bool {
        let Some(index) = self.lines.iter().position(|candidate| **candidate == *line) else { return false };
        let settled = *self.settled.get_or_init(|| index) == index;
        self.reconsider.notify_one();
        settled
    }

    /// Returns the line of the decision. A decision before [`Self::settle`] may be about another line than the settled one.
    pub fn decided(&self) -> Option<&Arc<L>> {
        self.decided.get().and_then(|index| self.lines.get(*index))
    }

    pub(super) fn decide(&self, line: &L) {
        if let Some(index) = self.lines.iter().position(|candidate| **candidate == *line) {
            let _ = self.decided.set(index);
        }
    }

    pub(super) fn settled(&self) -> Option<&Arc<L>> {
        self.settled.get().and_then(|index| self.lines.get(*index))
    }

    pub(super) fn line_of(&self, place: usize) -> Option<&Arc<L>> {
        self.settled().or_else(|| self.lines.get(place % self.lines.len().max(1)))
    }
}
