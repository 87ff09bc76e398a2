//! What an elector is asked.

use std::{fmt, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Clocks, GameId, GameLine, Line};

/// Which of the council's two phases a search belongs to (docs/method.md §4, re-search).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    /// Electors propose.
    First,
    /// Complete knowledge searches the proposed moves.
    Second,
}

/// The identity of one search. A proposal whose identity is not the one asked for is stale and is dropped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SearchId {
    /// The game it is for.
    pub game: GameId,
    /// How many moves had been played.
    pub ply: usize,
    /// Counts the searches of this process, so that a takeback does not confuse two searches of the same ply.
    pub serial: u64,
    /// The phase that it belongs to.
    pub phase: Phase,
}

impl fmt::Display for SearchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}#{}/{:?}", self.game, self.ply, self.serial, self.phase)
    }
}

/// Where a search ends by itself. Every bound that is set holds; none set means until told to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall time from the start of the search.
    pub time: Option<Duration>,
    /// Nodes, summed over threads.
    pub nodes: Option<u64>,
    /// Completed iterations, in plies.
    pub depth: Option<u32>,
    /// The game's clocks, for engines that plan by themselves. Bounds above still hold.
    pub clocks: Option<Clocks>,
}

/// A search to do: all an elector gets to know.
#[derive(Clone, Debug)]
pub struct Task<L: GameLine = Line> {
    /// Whose answer it will be.
    pub id: SearchId,
    /// The position, as its line.
    pub line: Arc<L>,
    /// The root moves to search; empty means all legal ones.
    pub root_moves: Vec<L::Move>,
    /// Where the search ends by itself.
    pub limits: Limits,
}
