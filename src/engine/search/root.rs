//! Facts about the root beside the position, by which the phases of a council and the processes of
//! a group help each other.

use std::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};

use super::{
    Place, Score, ScoreBound,
    value::{self, Value},
    worker::Worker,
};
use crate::board::Move;

/// Called before every iteration.
pub type MovesNow<'a> = dyn Fn() -> Vec<Move> + Sync + 'a;

/// External facts about the root. The default is none.
#[derive(Clone, Copy, Default)]
pub struct Root<'a> {
    /// The moves to consider; empty: all legal ones.
    pub moves: &'a [Move],
    /// Moves that other electors propose: searched right after the best one, without reduction.
    pub hints: Option<&'a MovesNow<'a>>,
    /// True to search hinted moves a ply deeper.
    pub extends_hints: bool,
    /// Only values between these two matter, for the player to move.
    pub window: Option<(Score, Score)>,
    /// The best value found by the processes of a group for the player to move. This search raises
    /// it before every iteration; if another process has raised it higher, the aspiration window
    /// lies around it.
    pub best_of_group: Option<&'a BestOfGroup>,
    /// Counts the nodes while the search runs.
    pub nodes: Option<&'a AtomicU64>,
    /// The place among searches of other engines that take turns in virtual time. Only for an
    /// engine of one thread.
    pub place: Option<&'a Place>,
}

impl Root<'_> {
    /// Returns true if the search covers all moves and all values: only then its result is a fact
    /// about the position.
    pub(super) fn is_whole(&self) -> bool {
        self.moves.is_empty() && self.window.is_none()
    }
}

/// The best value found by a group of processes that search the same position (docs/method.md §7, score sharing).
#[derive(Debug)]
pub struct BestOfGroup(AtomicI32);

impl Default for BestOfGroup {
    fn default() -> Self {
        Self(AtomicI32::new(-value::INFINITE))
    }
}

impl BestOfGroup {
    /// Raises it to `own`; returns the value before if it was better.
    fn raise(&self, own: Value) -> Option<Value> {
        let before = self.0.fetch_max(own, Relaxed);
        (before > own).then_some(before)
    }
}

impl Score {
    /// The inverse of `Score::from(Value)`, as exactly as a number of moves allows.
    fn to_value(self) -> Value {
        match self {
            Self::Cp(centipawns) => centipawns.clamp(1 - value::WIN_BOUND, value::WIN_BOUND - 1),
            Self::Mate(moves) if moves > 0 => value::MATE - 2 * moves + 1,
            Self::Mate(moves) => -value::MATE - 2 * moves,
        }
    }
}

impl Worker<'_> {
    /// Returns the values between which the root's value matters.
    pub(super) fn bounds(&self) -> (Value, Value) {
        let (low, high) = match self.shared.root.window {
            Some((low, high)) => (low.to_value(), high.to_value()),
            None => (-value::INFINITE, value::INFINITE),
        };
        if low < high { (low, high) } else { (high - 1, high) }
    }

    /// Returns the value of another process of the group, if it is better than the own one.
    pub(super) fn better_of_group(&self) -> Option<Value> {
        let own = self.root_moves.first().map_or(-value::INFINITE, |root_move| root_move.previous);
        let own = if self.bound == ScoreBound::Exact { own } else { -value::INFINITE };
        self.shared.root.best_of_group?.raise(own)
    }

    /// Moves the hinted root moves behind the best one, or to the front if there is no best one yet.
    pub(super) fn take_hints(&mut self) {
        let Some(hints) = self.shared.root.hints else { return };
        let hints = hints();
        for root_move in &mut self.root_moves {
            root_move.hinted = hints.contains(&root_move.mv);
        }
        let best = usize::from(self.completed_depth > 0);
        self.root_moves[best..].sort_by_key(|root_move| !root_move.hinted);
    }
}
