//! Thinking in the opponent's time about several replies at once.

use std::sync::{Arc, OnceLock};

use tokio::sync::Notify;

use domain::Line;

/// Several positions, one of which will be the question: the electors are spread over them, the first one's share being the
/// largest, until it is known which one it is. Cheap to clone; clones are the same.
///
/// A question that ponders is about `line` only if nothing else was settled; its timing should be endless until
/// [`Self::settle`] has been called and [`Question::reconsider`](super::Question::reconsider) been notified, which `settle`
/// does. If none of them comes, cancel the question.
#[derive(Clone, Debug)]
pub struct Pondering<L = Line> {
    lines: Arc<[Arc<L>]>,
    settled: Arc<OnceLock<usize>>,
    /// The position that the decision is about.
    decided: Arc<OnceLock<usize>>,
    reconsider: Arc<Notify>,
}

impl<L: PartialEq> Pondering<L> {
    /// Ponders these positions, the likeliest first. `reconsider` is that of the question.
    pub fn new(lines: Vec<Arc<L>>, reconsider: Arc<Notify>) -> Self {
        Self { lines: lines.into(), settled: Arc::default(), decided: Arc::default(), reconsider }
    }

    /// Reports the position on the board. Electors that searched it go on, the others turn to it.
    /// `false` if it was not expected.
    pub fn settle(&self, line: &L) -> bool {
        let Some(index) = self.lines.iter().position(|candidate| **candidate == *line) else { return false };
        let settled = *self.settled.get_or_init(|| index) == index;
        self.reconsider.notify_one();
        settled
    }

    /// The position that the decision is about: where one is found before it is known which position has come, it may be another one.
    pub fn decided(&self) -> Option<&Arc<L>> {
        self.decided.get().and_then(|index| self.lines.get(*index))
    }

    /// Limits the decision to this position.
    pub(super) fn decide(&self, line: &L) {
        if let Some(index) = self.lines.iter().position(|candidate| **candidate == *line) {
            let _ = self.decided.set(index);
        }
    }

    /// The position that has come, once that is known.
    pub(super) fn settled(&self) -> Option<&Arc<L>> {
        self.settled.get().and_then(|index| self.lines.get(*index))
    }

    /// Returns the line that an elector ponders, by its place in the roster.
    pub(super) fn line_of(&self, place: usize) -> Option<&Arc<L>> {
        self.settled().or_else(|| self.lines.get(place % self.lines.len().max(1)))
    }
}
