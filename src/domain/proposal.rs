use std::time::Duration;

use shakmaty::uci::UciMove;

use super::{Bound, ElectorName, MachineName, Score, SearchId};

/// An elector's move after some iteration of its search.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal<M = UciMove> {
    pub search: SearchId,
    pub elector: ElectorName,
    /// The worker's machine; `None` for the machine that plays the game.
    pub machine: Option<MachineName>,
    /// The move: legal in the task's position.
    pub best: M,
    /// The value for the player to move.
    pub score: Score,
    pub bound: Bound,
    /// The last completed iteration, in plies.
    pub depth: u32,
    /// The deepest line searched, in plies.
    pub selective_depth: u32,
    /// Root moves fully searched in the iteration that was not completed (docs/method.md §4, depth criterion).
    pub root_moves_done: u32,
    pub nodes: u64,
    pub time: Duration,
    /// The principal variation, `best` first.
    pub pv: Vec<M>,
}

impl<M: Copy> Proposal<M> {
    /// A move of which no more is known than its value: one ply deep, from one node, at once, on this machine.
    pub fn of_one_ply(search: SearchId, elector: ElectorName, best: M, score: Score) -> Self {
        Self {
            search,
            elector,
            machine: None,
            best,
            score,
            bound: Bound::Exact,
            depth: 1,
            selective_depth: 1,
            root_moves_done: 0,
            nodes: 1,
            time: Duration::ZERO,
            pv: vec![best],
        }
    }
}
