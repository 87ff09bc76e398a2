use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Clocks, GameId};

/// The phase of the council that a search belongs to (docs/method.md §4, re-search).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Phase {
    First,
    /// Complete knowledge searches the proposed moves.
    Second,
}

/// The identity of one search. A proposal with another identity is stale and dropped.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SearchId {
    pub game: GameId,
    pub ply: usize,
    /// Counts the searches of this process, so that a takeback does not confuse two searches of the same ply.
    pub serial: u64,
    pub phase: Phase,
}

impl fmt::Display for SearchId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}#{}/{:?}", self.game, self.ply, self.serial, self.phase)
    }
}

/// The limits of a search. Every limit that is set holds; without limits the search runs until it
/// is stopped.
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
