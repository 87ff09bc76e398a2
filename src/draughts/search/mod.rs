//! Two searches.
//!
//! [`Searcher`] is the search of today: iterative deepening alpha-beta with a transposition table and ordered moves, which
//! goes on at its leaves while captures are compulsory. [`published`] is that of the program IntellidAma: the whole tree to
//! an even depth, and a second look at leaves that are not quiescent. Neither plans a clock: a [`Limits`] says when to end.

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
/// Beyond this a value is a win, below its negative a loss.
const WIN_BOUND: i32 = WIN - 1_000;
/// What a draw is thought to be short of equality, where nothing else is said.
const CONTEMPT: i32 = 20;
/// The longest line from the root, in plies.
const MAX_PLY: usize = 128;

/// How a searcher is set up.
#[derive(Clone, Debug)]
pub struct SearchOptions {
    /// Transposition table, MiB; at least 1.
    pub hash: usize,
    /// What leaves are worth.
    pub evaluation: Evaluation,
    /// Positions of few pieces whose outcome is known.
    pub tables: Option<Arc<EndgameTables>>,
    /// By how much less than equality a draw is worth for the side to move at the root, hundredths of a man; at least 0.
    /// Whoever thinks little of draws plays on where the other may still go wrong.
    pub contempt: i32,
}

impl Default for SearchOptions {
    fn default() -> Self {
        Self { hash: 16, evaluation: Evaluation::default(), tables: None, contempt: CONTEMPT }
    }
}

/// Where a search ends by itself. Every bound that is set holds; none set means until told to stop.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Wall time from the start of the search.
    pub time: Option<Duration>,
    /// Nodes; exact.
    pub nodes: Option<u64>,
    /// Completed iterations, in plies.
    pub depth: Option<u32>,
    /// Only these of the legal moves are searched at the root.
    pub moves: Option<Vec<Move>>,
}

/// A value from the side of the player to move at the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Score {
    /// Hundredths of a man.
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

/// What is known after an iteration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// The best move.
    pub best: Move,
    /// Its value, from the side of the player to move.
    pub score: Score,
    /// How deep every line was searched, in plies.
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
    /// A searcher that remembers nothing yet.
    pub fn new(options: SearchOptions) -> Self {
        let table = Table::new(options.hash);
        Self { options, table }
    }

    /// How it is set up.
    pub fn options(&self) -> &SearchOptions {
        &self.options
    }

    /// Forgets the past, as for a new game.
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

/// The positions of a game that may come back, as the keys by which a search knows them.
fn recent_keys(game: &Game) -> Vec<u64> {
    game.recent().iter().map(Board::key).collect()
}

/// Puts the move that is `first` to the front, and leaves the others in their order.
fn to_front(moves: &mut MoveList, first: usize) {
    if first < moves.len() {
        moves[..=first].rotate_right(1);
    }
}
