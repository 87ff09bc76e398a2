//! A question to a council, and the progress of its answer.

use std::{sync::Arc, time::Duration};

use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::Pondering;
use domain::{GameId, GameLine, Limits, Line, Score, UciMove};

#[derive(Clone, Debug, PartialEq)]
pub struct Progress<M = UciMove> {
    pub electors: usize,
    pub proposals: usize,
    pub distinct_moves: usize,
    pub changes: u32,
    pub leader: Option<M>,
    /// The value for the player to move.
    pub score: Option<Score>,
    /// The depth of its proposal, in plies.
    pub depth: u32,
    /// The current split of the vote: the share of the other electors with another move, 0 to 1.
    pub split: f64,
    /// The leading move's share of its searcher's nodes, 0 to 1, if known.
    pub effort: Option<f64>,
    /// True before a second phase, because it needs its part of the time.
    pub to_be_continued: bool,
}

impl<M> Progress<M> {
    /// Returns the progress of a single elector at this depth, without a change of its move.
    pub(crate) const fn agreed(depth: u32) -> Self {
        Self {
            electors: 1,
            proposals: 1,
            distinct_moves: 1,
            changes: 0,
            leader: None,
            score: None,
            depth,
            split: 0.0,
            effort: None,
            to_be_continued: false,
        }
    }
}

/// The timing of a decision: returns its deadline as the time since the question, given the
/// progress; [`Duration::MAX`] is never. Called after every proposal, and after
/// [`Question::reconsider`].
pub type Timing<M = UciMove> = Box<dyn FnMut(&Progress<M>) -> Duration + Send>;

/// Returns a share of the limits of nodes and time; the depth is unchanged.
pub(super) fn share_of(limits: &Limits, share: f64) -> Limits {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let nodes = limits.nodes.map(|nodes| ((nodes as f64 * share) as u64).max(1));
    Limits { nodes, time: limits.time.map(|time| time.mul_f64(share)), ..*limits }
}

/// Returns the nodes of an elector of this speed in the time of `nodes` nodes of complete knowledge,
/// at least one.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
pub(super) fn times(nodes: u64, speed: f64) -> u64 {
    ((nodes as f64 * speed).round() as u64).max(1)
}

pub(super) fn at_speed(limits: &Limits, speed: f64) -> Limits {
    Limits { nodes: limits.nodes.map(|nodes| times(nodes, speed)), ..*limits }
}

pub struct Question<L: GameLine = Line> {
    pub game: GameId,
    /// The position, as its line. It must have a legal move.
    pub line: Arc<L>,
    /// The timing of the decision; `None`: when every elector has finished.
    pub timing: Option<Timing<L::Move>>,
    /// Bounds for every elector, such as nodes.
    pub limits: Limits,
    /// Moves not to be considered, unless there are no others.
    pub excluded: Vec<L::Move>,
    /// Cancel it to get the decision at once. (Cancelling the call itself gives no decision.)
    pub answer_now: CancellationToken,
    /// Notify it to call the timing again after an outside event, such as the expected move of the
    /// opponent: pondering then becomes a timed search.
    pub reconsider: Arc<Notify>,
    /// All expected lines, while the opponent thinks.
    pub pondering: Option<Pondering<L>>,
    /// True for virtual time: searchers with a common table or score advance in step, by nodes, as if
    /// each had a core. Any machine repeats such a run exactly. For experiments; it takes one core.
    pub in_step: bool,
}

impl<L: GameLine> Question<L> {
    /// Creates a question about a position without limits: answered when every elector has
    /// finished, or on demand.
    pub fn new(game: GameId, line: Arc<L>) -> Self {
        Self {
            game,
            line,
            timing: None,
            limits: Limits::default(),
            excluded: Vec::new(),
            answer_now: CancellationToken::new(),
            reconsider: Arc::default(),
            pondering: None,
            in_step: false,
        }
    }

    /// Returns the legal moves without the excluded ones; empty means all.
    pub(super) fn root_moves(&self) -> Vec<L::Move> {
        if self.excluded.is_empty() {
            return Vec::new();
        }
        let mut moves = self.line.legal_moves();
        moves.retain(|uci| !self.excluded.contains(uci));
        moves
    }
}
