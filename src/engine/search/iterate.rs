//! Iterative deepening, aspiration windows and the root.

use std::{cmp::Reverse, sync::atomic::Ordering::Relaxed};

use super::{
    Iteration, Score, ScoreBound,
    alpha_beta::Node,
    table::Bound,
    value::{self, MAX_PLY, Value},
    worker::{RootMove, Worker},
};
use crate::{board::Board, syzygy::Outcome};

/// The least depth at which a better move is reported at once; below it the iteration ends soon
/// enough.
const TELL_AT_ONCE: i32 = 7;

impl Worker<'_> {
    /// Searches deeper and deeper until it is stopped, and returns the result.
    pub(super) fn iterate(&mut self, on_iteration: &mut dyn FnMut(&Iteration)) -> Option<Iteration> {
        let limits = self.shared.limits;
        let deepest = limits.depth.map_or(MAX_PLY as i32 / 2, |depth| (depth as i32).clamp(1, MAX_PLY as i32 / 2));
        let lines = self.options.multi_pv.clamp(1, self.root_moves.len());
        for depth in 1..=deepest {
            self.depth = depth;
            self.root_moves_done = 0;
            for root_move in &mut self.root_moves {
                root_move.previous = root_move.value;
            }
            self.set_draw_value();
            if lines == 1 {
                self.take_hints();
            }
            for line in 0..lines {
                self.pv_index = line;
                self.selective_depth = 0;
                self.aspire(depth, on_iteration);
                if self.stopped {
                    break;
                }
                self.root_moves[..=line].sort_by_key(|root_move| Reverse(root_move.value));
            }
            if self.stopped {
                break;
            }
            self.completed_depth = depth;
            self.root_moves_done = 0;
            for rank in 1..=lines {
                on_iteration(&self.report(rank));
            }
            let best = self.root_moves.first()?.value;
            let mate_found = |moves: u32| value::MATE - best.abs() <= 2 * moves as Value;
            if limits.mate.is_some_and(mate_found) || self.shared.stop.load(Relaxed) {
                break;
            }
        }
        if self.completed_depth == 0 {
            on_iteration(&self.report(1));
        }
        (!self.root_moves.is_empty()).then(|| self.report(1))
    }

    /// A draw gains the side that stands worse and costs the side that stands better.
    fn set_draw_value(&mut self) {
        let contempt = self.options.contempt;
        let standing = self.root_moves.first().map_or(0, |root_move| root_move.previous);
        let share = if standing == -value::INFINITE { 0 } else { standing.clamp(-100, 100) };
        self.draw = -contempt * share / 100;
    }

    /// Aspiration: searches a narrow window around the previous iteration's value, and widens it on
    /// the failing side. Around a value from another process, a failure on either side is searched
    /// again with the full window (docs/method.md §7).
    fn aspire(&mut self, depth: i32, on_better_move: &mut dyn FnMut(&Iteration)) {
        let borrowed = self.better_of_group();
        let expected = borrowed.unwrap_or(self.root_moves[self.pv_index].previous);
        let mut delta = self.parameters().aspiration + expected.abs().min(2000) / 100;
        let (low, high) = self.bounds();
        let (mut alpha, mut beta) = (low, high);
        if depth >= 5 && !value::is_decisive(expected) && low < expected && expected < high {
            (alpha, beta) = ((expected - delta).max(low), (expected + delta).min(high));
        }
        let mut fails_high = 0;
        loop {
            let root = self.root;
            let found = self.search_root(root, alpha, beta, (depth - fails_high).max(1), on_better_move);
            if self.stopped {
                return;
            }
            let from = self.pv_index;
            self.root_moves[from..].sort_by_key(|root_move| Reverse(root_move.value));
            if found <= alpha && alpha > low {
                beta = (alpha + beta) / 2;
                alpha = (found - delta).max(low);
                fails_high = 0;
            } else if found >= beta && beta < high {
                beta = (found + delta).min(high);
                fails_high = (fails_high + 1).min(2);
            } else {
                self.bound = match found {
                    _ if found <= low => ScoreBound::Upper,
                    _ if found >= high => ScoreBound::Lower,
                    _ => ScoreBound::Exact,
                };
                return;
            }
            delta += delta / 2;
            if delta > 800 || value::is_decisive(found) || borrowed.is_some() {
                (alpha, beta) = (low, high);
            }
        }
    }

    /// The root node: all root moves from `pv_index` on. Better moves are reported as they are
    /// found, for a caller that must decide before the iteration ends.
    fn search_root(
        &mut self,
        board: &Board,
        mut alpha: Value,
        beta: Value,
        depth: i32,
        on_better_move: &mut dyn FnMut(&Iteration),
    ) -> Value {
        self.root_moves_done = 0;
        let original_alpha = alpha;
        let entry = self.shared.table.probe(board.keys().position);
        let node = Node { depth, principal: true, ..self.evaluate_node(board, entry.as_ref(), 0) };
        let (path, checks) = (self.path(board, 0), board.check_map());
        self.frame_mut(1).killers = [None; 2];
        self.frame_mut(1).cutoffs = 0;
        let mut best = -value::INFINITE;
        for i in self.pv_index..self.root_moves.len() {
            let mv = self.root_moves[i].mv;
            let nodes_before = self.nodes;
            let mut next = board.clone();
            self.make(&mut next, board, mv, 0);
            let first = i == self.pv_index;
            let hinted = self.root_moves[i].hinted && !first;
            let extended = hinted && self.shared.root.extends_hints && depth > 3;
            let new_depth = depth - 1 + i32::from(extended);
            let place = i - self.pv_index + 1;
            let candidate = self.candidate(board, &node, &checks, &path, (mv, place, hinted));
            let value = self.search_move::<true>(&next, &node, &candidate, alpha, beta, best, new_depth);
            self.undo();
            let spent = self.nodes - nodes_before;
            self.root_moves[i].nodes += spent;
            if self.stopped {
                return best;
            }
            self.root_moves_done += 1;
            if first || value > alpha {
                let pv = self.frame(1).pv.clone();
                let selective_depth = self.selective_depth;
                let root_move = &mut self.root_moves[i];
                root_move.value = value;
                root_move.bound = match value {
                    _ if value <= alpha => ScoreBound::Upper,
                    _ if value >= beta => ScoreBound::Lower,
                    _ => ScoreBound::Exact,
                };
                root_move.selective_depth = selective_depth;
                root_move.pv.clear();
                root_move.pv.push(mv);
                root_move.pv.extend(pv.into_iter().take(MAX_PLY - 1));
            } else {
                self.root_moves[i].value = -value::INFINITE;
            }
            if value > best {
                best = value;
                if value > alpha {
                    alpha = value;
                    if value >= beta {
                        self.learn_cutoff(board, mv, &node, &path, (&[], &[]));
                        break;
                    }
                    if !first && self.pv_index == 0 && self.depth >= TELL_AT_ONCE {
                        on_better_move(&self.told(&self.root_moves[i], 1, value, ScoreBound::Exact));
                    }
                }
            }
        }
        let best_move = self.root_moves[self.pv_index..].iter().max_by_key(|m| m.value);
        if let Some(best_move) = best_move.filter(|_| self.shared.root.is_whole() && self.pv_index == 0) {
            let bound = match best {
                _ if best >= beta => Bound::Lower,
                _ if best <= original_alpha => Bound::Upper,
                _ => Bound::Exact,
            };
            let (key, mv) = (board.keys().position, best_move.mv);
            self.shared.table.store(key, 0, Some(mv), best, node.raw, depth, bound, true);
        }
        best
    }

    /// Returns the root's score if tablebases know it and the search has no better one: a win is
    /// shown as won even before a line reaches the capture that proves it, a draw as level. A mate
    /// that was found is more precise.
    fn settled_score(&self, value: Value) -> Option<Score> {
        let settled = self.shared.settled.as_ref()?;
        let win = value::TABLEBASE_WIN - (settled.plies as Value).min(value::TABLEBASE_WIN - value::WIN_BOUND);
        let known = match settled.outcome {
            Outcome::Win => value.max(win),
            Outcome::Loss => value.min(-win),
            Outcome::Draw => 0,
        };
        Some(Score::from(known))
    }

    /// Returns the current line of a rank. If the last iteration was cut short, a better move that
    /// it had found counts already.
    fn report(&self, rank: usize) -> Iteration {
        let completed = &self.root_moves[rank - 1];
        let line = if rank == 1 && self.stopped {
            // A move that the unfinished iteration has not reached has its value of the one before,
            // if that raised alpha there.
            self.root_moves.iter().max_by_key(|m| m.value).filter(|m| m.value > completed.value).unwrap_or(completed)
        } else {
            completed
        };
        // A bound of an unfinished iteration is that of its window, of a whole one that of the search.
        let known = |value: Value| value != -value::INFINITE;
        let (value, bound) = match (line.value, line.previous) {
            (value, _) if known(value) => (value, if self.stopped { line.bound } else { self.bound }),
            (_, previous) if known(previous) => (previous, self.bound),
            _ => (0, self.bound),
        };
        self.told(line, rank, value, bound)
    }

    /// Builds the report of a line with this value.
    fn told(&self, line: &RootMove, rank: usize, value: Value, bound: ScoreBound) -> Iteration {
        let (score, bound) = self.settled_score(value).map_or((Score::from(value), bound), |s| (s, ScoreBound::Exact));
        Iteration {
            best: line.mv,
            score,
            bound,
            depth: self.completed_depth as u32,
            selective_depth: line.selective_depth as u32,
            root_moves_done: self.root_moves_done,
            rank,
            nodes: self.total_nodes(),
            effort: line.nodes as f64 / self.nodes.max(1) as f64,
            time: self.shared.began.elapsed(),
            table_use: self.shared.table.per_mille_full(),
            tablebase_hits: self.shared.tablebase_hits.load(Relaxed),
            pv: line.pv.to_vec(),
        }
    }
}
