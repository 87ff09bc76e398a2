//! The search of the program IntellidAma (E. Rossinelli, 2010), as its paper describes it.
//!
//! It builds the whole tree to an even depth, evaluates the leaves, searches two plies beyond each
//! to see whether it is quiescent, and takes the best by minimax; there is no pruning, because the
//! tree is built before it is evaluated. Here the tree is walked instead of stored, which gives the
//! same values in less memory; [`PublishedSettings::whole_tree`] off omits the part that alpha-beta
//! would cut, which gives the same values in less time.

use std::{
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use super::{Iteration, Score};
use crate::{
    board::{Board, Color, Move, Rules, spread},
    evaluation::Strategy,
    game::Game,
    random::Random,
};

/// The value of a side that cannot move, less the plies until then (ours: the paper gives none).
const LOST: i32 = 1_000_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedSettings {
    pub strategy: Strategy,
    /// The depth in full moves, each of two plies; at least 1.
    pub depth: u32,
    /// True to check leaves for quiescence, two plies beyond.
    pub quiescence: bool,
    /// True to check leaves that are not quiescent once more, two plies further.
    pub second_iteration: bool,
    /// True to search the whole tree, as the program did. Without it the same choice comes sooner.
    pub whole_tree: bool,
}

impl Default for PublishedSettings {
    fn default() -> Self {
        Self { strategy: Strategy::FullyGuarded, depth: 3, quiescence: true, second_iteration: true, whole_tree: true }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedChoice {
    pub best: Move,
    /// The value for the side to move, including the random amount.
    pub value: i32,
    /// Positions visited, including those of verifications.
    pub nodes: u64,
}

impl PublishedChoice {
    /// The choice at this depth in full moves, in the form of the other search.
    pub fn iteration(&self, depth: u32, time: Duration) -> Iteration {
        Iteration {
            best: self.best,
            score: self.score(),
            depth: 2 * depth,
            nodes: self.nodes,
            time,
            pv: vec![self.best],
        }
    }
    /// The value as that of the other search, where a win is known as one.
    pub fn score(&self) -> Score {
        let plies = LOST - self.value.abs();
        if plies < LOST / 2 { Score::Win((plies + 1) / 2 * self.value.signum()) } else { Score::Points(self.value) }
    }
}

/// The search, with the random numbers by which it does not always play the same move.
#[derive(Clone, Debug)]
pub struct Published {
    pub settings: PublishedSettings,
    seeds: Random,
}

struct Walk<'a> {
    settings: PublishedSettings,
    /// Decides the random amounts of this move's tree.
    seed: u64,
    rules: Rules,
    computer: Color,
    stop: &'a AtomicBool,
    nodes: u64,
}

impl Published {
    pub fn new(settings: PublishedSettings, seed: u64) -> Self {
        Self { settings, seeds: Random::new(seed) }
    }

    /// Chooses a move; none where no move may be played, or where `stop` was set before it was found.
    pub fn choose(&mut self, game: &Game, stop: &AtomicBool) -> Option<PublishedChoice> {
        let board = game.board();
        let mut walk = Walk {
            settings: self.settings,
            seed: self.seeds.below(u64::MAX),
            rules: game.rules(),
            computer: board.to_move(),
            stop,
            nodes: 0,
        };
        let mut best: Option<(Move, i32)> = None;
        for mv in game.legal_moves() {
            let window = [best.map_or(-LOST, |(_, highest)| highest), LOST];
            let value =
                walk.value(&board.after(&mv), &mv, [1, 2 * walk.settings.depth.max(1)], window, Leaf::Checked)?;
            if best.is_none_or(|(_, highest)| value > highest) {
                best = Some((mv, value));
            }
        }
        best.map(|(best, value)| PublishedChoice { best, value, nodes: walk.nodes })
    }

    /// Chooses one full move deep in any case, then deepens by one move up to the set depth or
    /// until `stop`: the paper knows no time. `report` receives every choice with its depth in full
    /// moves; none if no move is legal.
    pub fn deepen(&mut self, game: &Game, stop: &AtomicBool, mut report: impl FnMut(u32, PublishedChoice)) {
        let deepest = self.settings.depth.max(1);
        for depth in 1..=deepest {
            self.settings.depth = depth;
            let first = AtomicBool::new(false);
            let Some(choice) = self.choose(game, if depth == 1 { &first } else { stop }) else { break };
            report(depth, choice);
        }
        self.settings.depth = deepest;
    }
}

#[derive(Clone, Copy)]
enum Leaf {
    Static,
    /// Leaves are checked for quiescence for the first time.
    Checked,
    /// Leaves lie below a leaf that was not quiescent.
    CheckedAgain,
}

impl Walk<'_> {
    /// Returns the minimax value of a position for the computer, which moves at even plies. `last`
    /// is the move that led here; the position is `ply` plies below the root of a tree that is
    /// `depth` plies deep. Values outside the window need only be known to be outside. `None` if
    /// stopped.
    fn value(
        &mut self,
        board: &Board,
        last: &Move,
        [ply, depth]: [u32; 2],
        [mut low, mut high]: [i32; 2],
        leaf: Leaf,
    ) -> Option<i32> {
        self.nodes += 1;
        if self.stop.load(Relaxed) {
            return None;
        }
        let moves = board.legal_moves(self.rules);
        let maximise = board.to_move() == self.computer;
        if moves.is_empty() {
            let lost = LOST - ply as i32;
            return Some(if maximise { -lost } else { lost });
        }
        if ply >= depth {
            return self.leaf_value(board, last, ply, [low, high], leaf);
        }
        let mut best = if maximise { -LOST } else { LOST };
        for mv in moves {
            let value = self.value(&board.after(&mv), &mv, [ply + 1, depth], [low, high], leaf)?;
            if maximise {
                best = best.max(value);
                low = low.max(best);
            } else {
                best = best.min(value);
                high = high.min(best);
            }
            if low >= high && !self.settings.whole_tree {
                break;
            }
        }
        Some(best)
    }

    /// Returns the evaluation with the paper's small random amount (0 to 2; the range is ours),
    /// equal for a position anywhere in the tree.
    fn static_value(&self, board: &Board) -> i32 {
        self.settings.strategy.value(board, self.computer) + (spread(board.key() ^ self.seed) % 3) as i32
    }

    fn leaf_value(&mut self, board: &Board, last: &Move, ply: u32, window: [i32; 2], leaf: Leaf) -> Option<i32> {
        let seen = self.static_value(board);
        let check = match leaf {
            Leaf::Static => false,
            Leaf::Checked => self.settings.quiescence,
            Leaf::CheckedAgain => self.settings.second_iteration,
        };
        if !check {
            return Some(seen);
        }
        let after = self.value(board, last, [ply, ply + 2], [-LOST, LOST], Leaf::Static)?;
        let margin = self.settings.strategy.quiescence_margin(!board.to_move(), last);
        if seen - after <= margin {
            return Some(seen);
        }
        // The two plies are appended to the tree. Their leaves are checked in their turn, once.
        match leaf {
            Leaf::Checked if self.settings.second_iteration => {
                self.value(board, last, [ply, ply + 2], window, Leaf::CheckedAgain)
            }
            _ => Some(after),
        }
    }
}
