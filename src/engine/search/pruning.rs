//! Prunings of a whole node before its moves are searched, and extensions of its best move.
//!
//! Each technique has its usual name; docs/experiments/search.md has the worth of each.

use super::{
    Parameters,
    alpha_beta::Node,
    history::Path,
    picker::Picker,
    table::{Bound, Entry},
    value::{self, Value},
    worker::Worker,
};
use crate::board::{Bitboard, Board, Move};

impl Worker<'_> {
    /// Prunings of a whole node outside the principal variation and out of check: a value that ends it, if one applies.
    pub(super) fn prune_node(
        &mut self,
        board: &Board,
        node: &Node,
        entry: Option<&Entry>,
        alpha: Value,
        beta: Value,
    ) -> Option<Value> {
        let (depth, ply) = (node.depth, node.ply);
        let excluded = self.frame(ply).excluded.is_some();
        // The table's value is a better estimate where its bound allows.
        let estimate = entry
            .map(|entry| (entry.value_at(ply), entry.bound))
            .filter(|(known, bound)| {
                !excluded
                    && !value::is_decisive(*known)
                    && bound.settles(*known, node.evaluation + i32::from(*known < node.evaluation))
            })
            .map_or(node.evaluation, |(known, _)| known);

        // Razoring: far below alpha, only captures can help.
        if depth <= 4 && !excluded && estimate + self.parameters().razor_slope * depth < alpha {
            let value = self.quiescence::<false>(board, alpha, alpha + 1, ply);
            if self.stopped || value <= alpha {
                return Some(value);
            }
        }
        // Reverse futility: far enough above beta that a quiet move will hardly fall below; not where the table has
        // such a move, which may be the only good one.
        let Parameters { reverse_futility_slope, reverse_futility_depth, .. } = *self.parameters();
        let margin = self.less_margin(reverse_futility_slope * (depth - i32::from(node.improving)));
        let guarded = node.principal || node.table_move.is_some_and(|mv| !board.is_noisy(mv));
        if depth <= reverse_futility_depth && !guarded && estimate - margin >= beta && !value::is_decisive(beta) {
            return Some((estimate + beta) / 2);
        }
        // The table's value, passing and ProbCut say nothing about the other moves.
        if excluded {
            return None;
        }
        if let Some(value) = self.null_move(board, node, estimate, beta) {
            return Some(value);
        }
        self.prob_cut(board, node, entry, beta)
    }

    /// Null move: if passing still fails high, a move will too. Not without pieces, where zugzwang is common; at high
    /// depth a reduced search without it confirms.
    fn null_move(&mut self, board: &Board, node: &Node, estimate: Value, beta: Value) -> Option<Value> {
        let (depth, ply, cut) = (node.depth, node.ply, node.cut);
        let turn = board.turn();
        let numbers = *self.parameters();
        if depth < 3
            || estimate < beta
            || node.evaluation < beta - numbers.null_margin_slope * depth + numbers.null_margin_offset
            || value::is_decisive(beta)
            || self.frame_before(ply, 1).null
            || !board.has_pieces(turn)
            || ply < self.null_move_from[turn.index()]
        {
            return None;
        }
        let by_value = ((estimate - beta) / numbers.null_value_step).min(5);
        let reduced = depth - (numbers.null_base + depth / numbers.null_depth_step + by_value);
        let next = self.make_null(board, ply);
        let value = -self.search::<false>(&next, -beta, 1 - beta, reduced, ply + 1, !cut);
        self.undo();
        if self.stopped {
            return Some(0);
        }
        if value < beta {
            return None;
        }
        let value = if value::is_decisive(value) { beta } else { value };
        if depth < 14 || self.null_move_from[turn.index()] > 0 {
            return Some(value);
        }
        self.null_move_from[turn.index()] = ply + 3 * reduced.max(1) as usize / 4 + 1;
        let confirmed = self.search::<false>(board, beta - 1, beta, reduced, ply, false);
        self.null_move_from[turn.index()] = 0;
        (self.stopped || confirmed >= beta).then_some(value)
    }

    /// ProbCut: a capture that beats beta by a margin in a much shallower search will beat it in this one.
    fn prob_cut(&mut self, board: &Board, node: &Node, entry: Option<&Entry>, beta: Value) -> Option<Value> {
        let (depth, ply, cut) = (node.depth, node.ply, node.cut);
        let Parameters { prob_cut_margin, prob_cut_improving, .. } = *self.parameters();
        let goal = beta + prob_cut_margin - prob_cut_improving * i32::from(node.improving);
        let refuted = entry
            .is_some_and(|entry| entry.depth >= depth - 3 && entry.bound != Bound::None && entry.value_at(ply) < goal);
        if depth < 5 || value::is_decisive(beta) || refuted {
            return None;
        }
        let path = Path { recent: self.recent_moves(ply), threats: Bitboard::EMPTY };
        let mut picker = Picker::noisy(board, entry.and_then(|entry| entry.mv), goal - node.evaluation);
        while let Some(mv) = picker.next(board, self.histories, &path, self.parameters()) {
            if picker.is_bad_noisy() {
                break;
            }
            if !board.is_legal(mv) {
                continue;
            }
            let mut next = board.clone();
            self.make(&mut next, board, mv, ply);
            let mut value = -self.quiescence::<false>(&next, -goal, 1 - goal, ply + 1);
            if value >= goal {
                value = -self.search::<false>(&next, -goal, 1 - goal, depth - 4, ply + 1, !cut);
            }
            self.undo();
            if self.stopped {
                return Some(0);
            }
            if value >= goal {
                let (key, raw) = (board.keys().position, node.raw);
                self.shared.table.store(key, ply, Some(mv), value, raw, depth - 3, Bound::Lower, node.principal);
                return Some(value);
            }
        }
        None
    }

    /// Singular extensions: if every other move falls well short of the table's move, that move is searched deeper. If
    /// several beat beta instead, the node is cut at once (`Err` with its value).
    pub(super) fn singularity<const PV: bool>(
        &mut self,
        board: &Board,
        node: &Node,
        entry: &Entry,
        mv: Move,
        beta: Value,
    ) -> Result<i32, Value> {
        let (depth, ply, cut) = (node.depth, node.ply, node.cut);
        let known = entry.value_at(ply);
        let worth_it = depth >= self.parameters().singular_depth
            && entry.depth >= depth - 3
            && matches!(entry.bound, Bound::Lower | Bound::Exact)
            && !value::is_decisive(known)
            && ply < 2 * self.depth.max(1) as usize;
        if !worth_it {
            return Ok(0);
        }
        let Parameters { singular_slope, double_margin, .. } = *self.parameters();
        let goal = known - singular_slope * depth;
        let frame = self.frame_mut(ply);
        frame.excluded = Some(mv);
        let others = self.search::<false>(board, goal - 1, goal, (depth - 1) / 2, ply, cut);
        self.frame_mut(ply).excluded = None;
        Ok(if others < goal {
            let double = !PV && others < goal - double_margin && self.frame_before(ply, 1).double_extensions < 8;
            1 + i32::from(double)
        } else if goal >= beta {
            return Err(goal);
        } else if known >= beta {
            -2
        } else if cut {
            -1
        } else {
            0
        })
    }
}
