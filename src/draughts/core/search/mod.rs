//! Two searches.
//!
//! [`Searcher`] is the modern one: iterative deepening alpha-beta with a transposition table and
//! ordered moves, extended at its leaves while captures are compulsory. [`published`] is that of
//! the program IntellidAma: the whole tree to an even depth, and a second verification of leaves
//! that are not quiescent. Neither plans a clock: [`Limits`] ends a search.

mod alpha_beta;
pub mod published;
mod table;
#[cfg(test)]
mod tests;

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use crate::{
    board::{Board, Move, MoveList},
    endgame::EndgameTables,
    evaluation::Evaluation,
    game::Game,
};
use alpha_beta::Tree;
use table::Table;

/// The value of a win at the root, less one for every ply until it is reached.
const WIN: i32 = 30_000;
/// Values beyond it are wins, below its negative losses.
const WIN_BOUND: i32 = WIN - 1_000;
/// The default cost of a draw against equality.
const CONTEMPT: i32 = 20;
/// The longest line from the root, in plies.
const MAX_PLY: usize = 128;

#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Transposition table, MiB; at least 1.
    pub hash: usize,
    pub evaluation: Evaluation,
    /// Positions of few pieces with a known result.
    pub tables: Option<Arc<EndgameTables>>,
    /// The cost of a draw against equality for the side to move at the root, hundredths of a man;
    /// at least 0. A side that dislikes draws plays on where the other may still err.
    pub contempt: i32,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { hash: 16, evaluation: Evaluation::default(), tables: None, contempt: CONTEMPT }
    }
}

/// The limits of a search. Every limit that is set holds; without limits the search runs until it
/// is stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Wall time from the start of the search.
    pub time: Option<Duration>,
    /// Nodes, exactly.
    pub nodes: Option<u64>,
    /// Completed iterations, in plies.
    pub depth: Option<u32>,
    /// Root moves to search; `None` searches all.
    pub moves: Option<Vec<Move>>,
}

/// A value from the side of the player to move at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    Points(i32),
    /// Full moves to the end: positive wins, negative loses, zero has lost already.
    Win(i32),
}

impl Score {
    fn of(value: i32) -> Self {
        if value.abs() >= WIN_BOUND {
            Self::Win((WIN - value.abs() + 1) / 2 * value.signum())
        } else {
            Self::Points(value)
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    pub best: Move,
    pub score: Score,
    /// The depth of every line, in plies.
    pub depth: u32,
    /// Positions visited since the start of the search.
    pub nodes: u64,
    /// Wall time since the start of the search.
    pub time: Duration,
    /// The line that both sides are expected to play; the first is [`Iteration::best`].
    pub pv: Vec<Move>,
}

/// The search of today, with what it remembers from move to move.
pub struct Searcher {
    options: SearchOptions,
    table: Table,
}

impl Searcher {
    pub fn new(options: SearchOptions) -> Self {
        let table = Table::new(options.hash);
        Self { options, table }
    }

    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Searches the present position of a game until a limit is reached or `stop` is set, and reports every iteration
    /// that is completed. The result is the last one; at least one is always completed, however tight the limits. There
    /// is none where no move may be played. Equal searches from equal memory under equal limits of nodes or depth are
    /// equal to the node.
    pub fn search(
        &mut self,
        game: &Game,
        limits: &Limits,
        stop: &AtomicBool,
        report: impl FnMut(&Iteration),
    ) -> Option<Iteration> {
        let mut roots = game.legal_moves();
        if let Some(only) = &limits.moves {
            roots.retain(|mv| only.contains(mv));
        }
        if roots.is_empty() {
            return None;
        }
        self.table.next_search();
        Tree::new(&self.options, &mut self.table, game, limits, stop).iterate(&roots, report)
    }
}

/// Returns the positions of a game that may recur, as the search's keys.
fn recent_keys(game: &Game) -> Vec<u64> {
    game.recent().iter().map(Board::key).collect()
}

/// Puts the move that is `first` to the front, and leaves the others in their order.
fn to_front(moves: &mut MoveList, first: usize) {
    if first < moves.len() {
        moves[..=first].rotate_right(1);
    }
}
