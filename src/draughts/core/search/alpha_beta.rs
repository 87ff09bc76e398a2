//! Iterative deepening alpha-beta, its ordering of moves, and what it does where captures are compulsory.

use std::{
    cmp::Reverse,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Instant,
};

use smallvec::SmallVec;

use super::{
    Iteration, Limits, MAX_PLY, Score, SearchOptions, WIN, WIN_BOUND, recent_keys,
    table::{Bound, Entry, Table},
    to_front,
};
use crate::{
    board::{Board, Move, MoveList, Rules},
    endgame::{EndgameTables, Known},
    game::{Game, REVERSIBLE_PLIES},
};

/// Half of the first window round the value of the iteration before, in hundredths of a man.
const ASPIRATION: i32 = 25;
/// The nodes between two checks of clock and flag; a power of two.
const LOOK: u64 = 256;

/// A position in the tree, `ply` plies below the root, to be searched to a depth.
struct Node {
    board: Board,
    depth: i32,
    ply: usize,
}

pub(super) struct Tree<'a> {
    options: &'a SearchOptions,
    table: &'a mut Table,
    rules: Rules,
    root: Board,
    limits: &'a Limits,
    stop: &'a AtomicBool,
    started: Instant,
    nodes: u64,
    /// The first iteration is always completed, so that there is a move.
    may_stop: bool,
    /// The tables call the root drawn: what they call so below it is searched all the same, for the other may err.
    plays_on: bool,
    /// Keys of the positions from the last irreversible move to the present node.
    path: Vec<u64>,
    /// The reversible plies before each ply of the path.
    reversible: usize,
    killers: [[Option<Move>; 2]; MAX_PLY],
    history: [[[i32; 32]; 32]; 2],
    /// The principal variation from every ply.
    lines: Vec<Vec<Move>>,
}

impl<'a> Tree<'a> {
    pub(super) fn new(
        options: &'a SearchOptions,
        table: &'a mut Table,
        game: &Game,
        limits: &'a Limits,
        stop: &'a AtomicBool,
    ) -> Self {
        let path = recent_keys(game);
        let drawn = |tables: &Arc<EndgameTables>| tables.probe(game.board()) == Some(Known::Draw);
        Self {
            plays_on: options.contempt > 0 && options.tables.as_ref().is_some_and(drawn),
            options,
            table,
            rules: game.rules(),
            root: *game.board(),
            limits,
            stop,
            started: Instant::now(),
            nodes: 0,
            may_stop: false,
            reversible: path.len() - 1,
            path,
            killers: [[None; 2]; MAX_PLY],
            history: [[[0; 32]; 32]; 2],
            lines: vec![Vec::new(); MAX_PLY + 1],
        }
    }

    pub(super) fn iterate(mut self, roots: &MoveList, mut report: impl FnMut(&Iteration)) -> Option<Iteration> {
        let mut roots = roots.clone();
        let mut last: Option<Iteration> = None;
        let mut value = 0;
        let deepest = self.limits.depth.unwrap_or(u32::MAX).clamp(1, MAX_PLY as u32 / 2);
        for depth in 1..=deepest {
            let Some(found) = self.aspire(&mut roots, depth as i32, value) else { break };
            value = found;
            let pv = self.lines[0].clone();
            let iteration = Iteration {
                best: pv[0],
                score: Score::of(value),
                depth,
                nodes: self.nodes,
                time: self.started.elapsed(),
                pv,
            };
            report(&iteration);
            last = Some(iteration);
            self.may_stop = true;
            // A win or loss that is shorter than the search is deep cannot change any more.
            if WIN - value.abs() <= depth as i32 || self.told_to_stop() {
                break;
            }
        }
        last
    }

    /// Searches the root in a narrow window round the expected value, and in wider ones until the value is inside.
    fn aspire(&mut self, roots: &mut MoveList, depth: i32, expected: i32) -> Option<i32> {
        let mut width = if depth < 4 { 2 * WIN } else { ASPIRATION };
        let (mut low, mut high) = (expected - width, expected + width);
        loop {
            let value = self.search_root(roots, depth, low.max(-WIN), high.min(WIN))?;
            width *= 4;
            if value <= low && low > -WIN {
                low = value - width;
            } else if value >= high && high < WIN {
                high = value + width;
            } else {
                return Some(value);
            }
        }
    }

    fn search_root(&mut self, roots: &mut MoveList, depth: i32, alpha: i32, beta: i32) -> Option<i32> {
        let node = Node { board: self.root, depth, ply: 0 };
        self.enter()?;
        let (mut best, mut best_index) = (-WIN, 0);
        for index in 0..roots.len() {
            let mv = roots[index];
            let lower = best.max(alpha);
            let value = match index {
                0 => self.child(&node, &mv, depth - 1, alpha, beta)?,
                _ => self.scout(&node, &mv, 0, depth - 1, lower, beta)?,
            };
            if value > best || index == 0 {
                (best, best_index) = (value, index);
                if value > alpha || index == 0 {
                    self.extend_line(0, mv);
                }
            }
            if value >= beta {
                break;
            }
        }
        to_front(roots, best_index);
        Some(best)
    }

    fn told_to_stop(&self) -> bool {
        self.stop.load(Relaxed) || self.limits.time.is_some_and(|time| self.started.elapsed() >= time)
    }

    /// Counts a node; `None` at a limit, where the search ends and its values are of no use.
    fn enter(&mut self) -> Option<()> {
        if self.may_stop {
            let out_of_nodes = self.limits.nodes.is_some_and(|nodes| self.nodes >= nodes);
            if out_of_nodes || self.nodes.is_multiple_of(LOOK) && self.told_to_stop() {
                return None;
            }
        }
        self.nodes += 1;
        Some(())
    }

    /// Returns the value of a move for the side that makes it, searched `depth` plies deep beyond it.
    fn child(&mut self, node: &Node, mv: &Move, depth: i32, alpha: i32, beta: i32) -> Option<i32> {
        let before = self.reversible;
        self.reversible = if node.board.is_irreversible(mv) { 0 } else { before + 1 };
        let board = node.board.after(mv);
        self.path.push(board.key());
        let value = self.search(&Node { board, depth, ply: node.ply + 1 }, -beta, -alpha);
        self.path.pop();
        self.reversible = before;
        Some(-value?)
    }

    /// The line from a ply is a move and the line from the next.
    fn extend_line(&mut self, ply: usize, mv: Move) {
        let (upper, lower) = self.lines.split_at_mut(ply + 1);
        upper[ply].clear();
        upper[ply].push(mv);
        upper[ply].extend_from_slice(&lower[0]);
    }

    /// Returns the value of a draw for the side to move `ply` plies below the root.
    fn draw(&self, ply: usize) -> i32 {
        if ply.is_multiple_of(2) { -self.options.contempt } else { self.options.contempt }
    }

    /// Returns true if the position is drawn by the rules; its second occurrence counts already: a move that was good once is good
    /// again.
    fn is_drawn(&self) -> bool {
        let earlier = self.path.len() - 1;
        let (here, past) = (self.path[earlier], &self.path[earlier - self.reversible.min(earlier)..earlier]);
        self.rules == Rules::Official && (self.reversible >= REVERSIBLE_PLIES || past.contains(&here))
    }

    /// Returns the endgame tables' value, unless the forty-move rule might intervene.
    fn known(&self, board: &Board, ply: usize) -> Option<i32> {
        // The tables hold what the official rules make of a position.
        let tables = self.options.tables.as_ref().filter(|_| self.rules == Rules::Official)?;
        let value = |plies: u32| {
            let in_time = self.reversible + plies as usize <= REVERSIBLE_PLIES;
            in_time.then_some(WIN - ply as i32 - plies as i32)
        };
        match tables.probe(board)? {
            Known::Draw => (!self.plays_on).then(|| self.draw(ply)),
            Known::Win(plies) => value(plies),
            Known::Loss(plies) => value(plies).map(|value| -value),
        }
    }

    fn search(&mut self, node: &Node, alpha: i32, beta: i32) -> Option<i32> {
        self.enter()?;
        let Node { board, depth, ply } = node;
        self.lines[*ply].clear();
        let lost = |this: &Self| board.legal_moves(this.rules).is_empty().then_some(*ply as i32 - WIN);
        if self.is_drawn() {
            // A side without a move has lost before anything is drawn.
            return Some(lost(self).unwrap_or(self.draw(*ply)));
        }
        if let Some(value) = self.known(board, *ply) {
            return Some(value);
        }
        if *depth <= 0 && !board.must_capture() || ply + 1 >= MAX_PLY {
            return Some(lost(self).unwrap_or_else(|| self.options.evaluation.value(board)));
        }
        self.interior(node, alpha, beta)
    }

    /// Returns the stored value if it suffices for the window.
    fn remembered(entry: Option<Entry>, node: &Node, alpha: i32, beta: i32) -> Option<i32> {
        let entry = entry.filter(|entry| i32::from(entry.depth) >= node.depth && beta - alpha == 1)?;
        let value = from_table(entry.value.into(), node.ply);
        let enough = match entry.bound {
            Bound::Exact => true,
            Bound::Lower => value >= beta,
            Bound::Upper => value <= alpha,
        };
        enough.then_some(value)
    }

    fn interior(&mut self, node: &Node, original: i32, beta: i32) -> Option<i32> {
        let ply = node.ply;
        let key = *self.path.last().unwrap_or(&0);
        let entry = self.table.probe(key);
        if let Some(value) = Self::remembered(entry, node, original, beta) {
            return Some(value);
        }
        let moves = node.board.legal_moves(self.rules);
        if moves.is_empty() {
            return Some(ply as i32 - WIN);
        }
        // A single reply is no choice: it costs no depth, unless the line could then go on for ever.
        let extension = i32::from(moves.len() == 1 && node.depth > 0 && ply < MAX_PLY / 2);
        let depth = node.depth - 1 + extension;
        let order = self.order(&node.board, &moves, ply, entry.map(|entry| entry.best.into()));
        let (mut best, mut best_index, mut alpha) = (-WIN, 0, original);
        for (rank, &index) in order.iter().enumerate() {
            let mv = moves[index];
            let value = match rank {
                0 => self.child(node, &mv, depth, alpha, beta)?,
                _ => self.scout(node, &mv, reduction(depth, rank, &mv), depth, alpha, beta)?,
            };
            if value > best || rank == 0 {
                (best, best_index) = (value, index);
            }
            if value > alpha {
                alpha = value;
                self.extend_line(ply, mv);
            }
            if alpha >= beta {
                self.remember_cut(node, mv);
                break;
            }
        }
        let bound = match best {
            best if best >= beta => Bound::Lower,
            best if best > original => Bound::Exact,
            _ => Bound::Upper,
        };
        self.table.store(key, to_table(best, ply), node.depth, bound, best_index);
        Some(best)
    }

    /// Searches a move that is expected to be no better than the best: with a null window, late
    /// moves less deep, and in full if it is better.
    fn scout(&mut self, node: &Node, mv: &Move, reduction: i32, depth: i32, alpha: i32, beta: i32) -> Option<i32> {
        let mut value = self.child(node, mv, depth - reduction, alpha, alpha + 1)?;
        if value > alpha && reduction > 0 {
            value = self.child(node, mv, depth, alpha, alpha + 1)?;
        }
        if value > alpha && value < beta {
            value = self.child(node, mv, depth, alpha, beta)?;
        }
        Some(value)
    }

    /// The places of the moves in the order in which they are tried: the table's, those that cut before, then by history.
    fn order(&self, board: &Board, moves: &MoveList, ply: usize, first: Option<usize>) -> SmallVec<[usize; 16]> {
        let history = &self.history[board.to_move() as usize];
        let worth = |index: usize| {
            let mv = moves[index];
            if first == Some(index) {
                i32::MAX
            } else if let Some(age) = self.killers[ply].iter().position(|killer| *killer == Some(mv)) {
                i32::MAX - 1 - age as i32
            } else {
                history[mv.from().index()][mv.to().index()]
            }
        };
        let mut order: SmallVec<[usize; 16]> = (0..moves.len()).collect();
        order.sort_by_key(|&index| Reverse(worth(index)));
        order
    }

    /// A move that refuted the one before it is tried early in like positions.
    fn remember_cut(&mut self, node: &Node, mv: Move) {
        let killers = &mut self.killers[node.ply];
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
        let depth = node.depth.max(0);
        let worth = &mut self.history[node.board.to_move() as usize][mv.from().index()][mv.to().index()];
        *worth += depth * depth;
        if *worth > 1 << 20 {
            self.history.iter_mut().flatten().flatten().for_each(|worth| *worth /= 2);
        }
    }
}

fn reduction(depth: i32, rank: usize, mv: &Move) -> i32 {
    if depth < 2 || rank < 3 || mv.is_capture() { 0 } else { 1 + i32::from(depth >= 5 && rank >= 6) }
}

/// A win counted from the root as one counted from a node, which is the same however the node is reached.
fn to_table(value: i32, ply: usize) -> i32 {
    if value.abs() >= WIN_BOUND { value + ply as i32 * value.signum() } else { value }
}

fn from_table(value: i32, ply: usize) -> i32 {
    if value.abs() >= WIN_BOUND { value - ply as i32 * value.signum() } else { value }
}
