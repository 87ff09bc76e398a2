//! The main search: principal variation search, fail-soft, with the reductions and prunings of the field.
//!
//! Every technique is introduced by its usual name; what each was worth here stands in docs/experiments.md.

use std::sync::LazyLock;

use arrayvec::ArrayVec;

use super::{
    picker::Picker,
    table::{Bound, Entry},
    value::{self, MAX_PLY, Value},
    worker::Worker,
};
use crate::engine::{
    board::{Board, Move},
    syzygy::Outcome,
};

/// Base reduction in plies of the n-th move at a depth.
static REDUCTIONS: LazyLock<[[i8; 64]; 64]> = LazyLock::new(|| {
    let log = |n: usize| (n.max(1) as f64).ln();
    std::array::from_fn(|depth| std::array::from_fn(|n| (0.75 + log(depth) * log(n) / 2.2) as i8))
});

fn reduction(depth: i32, n: usize) -> i32 {
    i32::from(REDUCTIONS[depth.clamp(0, 63) as usize][n.min(63)])
}

/// What a cut-off at a depth teaches the histories.
fn bonus(depth: i32) -> i32 {
    (180 * depth - 120).min(1800)
}

/// What a node has found out before it looks at moves.
struct Node {
    in_check: bool,
    /// The static evaluation as the evaluation gave it, for the table.
    raw: Value,
    /// The same, corrected.
    evaluation: Value,
    improving: bool,
    principal: bool,
}

impl Worker<'_> {
    /// The value of `board` searched `depth` plies, between `alpha` and `beta` exact, outside a bound. `PV` nodes have an
    /// open window; `cut` nodes are expected to fail high.
    pub fn search<const PV: bool>(
        &mut self,
        board: &Board,
        mut alpha: Value,
        mut beta: Value,
        mut depth: i32,
        ply: usize,
        cut: bool,
    ) -> Value {
        if depth <= 0 {
            return self.quiescence::<PV>(board, alpha, beta, ply);
        }
        if self.visit() {
            return 0;
        }
        if PV {
            self.frame_mut(ply).pv.clear();
            self.selective_depth = self.selective_depth.max(ply);
        }

        // Draws, and the limit of the recursion.
        if self.is_draw(board, ply) {
            return self.draw_value(ply);
        }
        if ply >= MAX_PLY - 1 {
            return if board.in_check() { 0 } else { self.evaluate(board) };
        }
        // Upcoming repetition: the player to move can have at least a draw.
        let excluded = self.frame(ply).excluded;
        if alpha < 0 && excluded.is_none() && board.can_repeat(&self.keys, ply) {
            alpha = alpha.max(self.draw_value(ply));
            if alpha >= beta {
                return alpha;
            }
        }
        // Mate distance pruning: no line from here is better than mating at once or worse than being mated now.
        alpha = alpha.max(value::mated_in(ply));
        beta = beta.min(-value::mated_in(ply + 1));
        if alpha >= beta {
            return alpha;
        }

        // What the table knows.
        let key = board.keys().position;
        let entry = if excluded.is_some() { None } else { self.shared.table.probe(key) };
        let table_move = match excluded {
            Some(_) => None,
            None => entry.and_then(|entry| entry.mv).filter(|mv| board.is_pseudo_legal(*mv)),
        };
        if let Some(entry) = entry.filter(|entry| !PV && entry.depth >= depth && board.halfmoves() < 90) {
            let known = entry.value_at(ply);
            if entry.bound.settles(known, beta) {
                if let Some(mv) = table_move.filter(|mv| known >= beta && !board.is_noisy(*mv)) {
                    let recent = self.recent_moves(ply);
                    self.histories.learn_quiet(board, mv, &recent, bonus(depth) / 2);
                }
                return known;
            }
        }

        // Tablebases settle what a capture or a pawn's move has led to.
        if board.halfmoves() == 0
            && excluded.is_none()
            && let Some(tables) = self.options.tablebases.as_ref().filter(|tables| tables.covers(board))
            && let Some(outcome) = tables.outcome(board)
        {
            return match outcome {
                Outcome::Win => value::TABLEBASE_WIN - ply as Value,
                Outcome::Loss => ply as Value - value::TABLEBASE_WIN,
                Outcome::Draw => self.draw_value(ply),
            };
        }

        let node = self.look(board, entry.as_ref(), ply, PV, excluded.is_some());
        self.frame_mut(ply + 1).cutoffs = 0;
        self.frame_mut(ply + 1).killers = [None; 2];
        if !PV
            && !node.in_check
            && excluded.is_none()
            && let Some(value) = self.prune_node(board, &node, entry.as_ref(), alpha, beta, depth, ply, cut)
        {
            return value;
        }
        if self.stopped {
            return 0;
        }
        // Internal iterative reduction: without a table move the ordering is poor; the next iteration will be better.
        if depth >= 4 && (PV || cut) && table_move.is_none() && excluded.is_none() {
            depth -= 1;
        }
        self.search_moves::<PV>(board, &node, entry.as_ref(), table_move, alpha, beta, depth, ply, cut)
    }

    /// Evaluates a node and compares it with the plies before.
    fn look(&mut self, board: &Board, entry: Option<&Entry>, ply: usize, pv: bool, excluded: bool) -> Node {
        let in_check = board.in_check();
        let raw = match entry {
            _ if in_check => value::NONE,
            Some(entry) if entry.evaluation != value::NONE => entry.evaluation,
            _ => self.evaluate(board),
        };
        let evaluation = if in_check { value::NONE } else { self.histories.corrected(board, raw) };
        if !excluded {
            let inherited = self.frame_before(ply, 2).double_extensions.min(if ply == 0 { 0 } else { u32::MAX });
            let frame = self.frame_mut(ply);
            frame.evaluation = evaluation;
            frame.double_extensions = inherited;
            if let Some(known) = entry
                && !in_check
                && known.bound == Bound::None
            {
                frame.cutoffs = 0;
            }
        }
        // Improving: better than at our last turn, so prune less on high values and more on low ones.
        let before = |back| self.frame_before(ply, back).evaluation;
        let improving = !in_check
            && match (before(2), before(4)) {
                (value::NONE, value::NONE) => true,
                (value::NONE, earlier) | (earlier, _) => evaluation > earlier,
            };
        Node { in_check, raw, evaluation, improving, principal: pv || entry.is_some_and(|entry| entry.principal) }
    }

    /// Prunings of a whole node outside the principal variation and out of check: a value that ends it, if one applies.
    #[expect(clippy::too_many_arguments, reason = "the state of one node")]
    fn prune_node(
        &mut self,
        board: &Board,
        node: &Node,
        entry: Option<&Entry>,
        alpha: Value,
        beta: Value,
        depth: i32,
        ply: usize,
        cut: bool,
    ) -> Option<Value> {
        // The table's value is a better estimate where its bound allows.
        let estimate = entry
            .map(|entry| (entry.value_at(ply), entry.bound))
            .filter(|(known, bound)| {
                !value::is_decisive(*known)
                    && bound.settles(*known, node.evaluation + i32::from(*known < node.evaluation))
            })
            .map_or(node.evaluation, |(known, _)| known);

        // Razoring: far below alpha, only captures can help.
        if depth <= 4 && estimate + 260 * depth < alpha {
            let value = self.quiescence::<false>(board, alpha, alpha + 1, ply);
            if self.stopped || value <= alpha {
                return Some(value);
            }
        }
        // Reverse futility: so far above beta that a quiet move will hardly fall below.
        let margin = 75 * (depth - i32::from(node.improving));
        if depth <= 8 && !node.principal && estimate - margin >= beta && !value::is_decisive(beta) {
            return Some((estimate + beta) / 2);
        }
        if let Some(value) = self.null_move(board, node, estimate, beta, depth, ply, cut) {
            return Some(value);
        }
        self.prob_cut(board, node, entry, beta, depth, ply, cut)
    }

    /// Null move: if passing still fails high, a move will too. Not without pieces, where zugzwang is common; at high
    /// depth a reduced search without it confirms.
    #[expect(clippy::too_many_arguments, reason = "the state of one node")]
    fn null_move(
        &mut self,
        board: &Board,
        node: &Node,
        estimate: Value,
        beta: Value,
        depth: i32,
        ply: usize,
        cut: bool,
    ) -> Option<Value> {
        let turn = board.turn();
        if depth < 3
            || estimate < beta
            || node.evaluation < beta - 20 * depth + 120
            || value::is_decisive(beta)
            || self.frame_before(ply, 1).null
            || !board.has_pieces(turn)
            || ply < self.null_move_from[turn.index()]
        {
            return None;
        }
        let reduced = depth - (4 + depth / 4 + ((estimate - beta) / 180).min(3));
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
    #[expect(clippy::too_many_arguments, reason = "the state of one node")]
    fn prob_cut(
        &mut self,
        board: &Board,
        node: &Node,
        entry: Option<&Entry>,
        beta: Value,
        depth: i32,
        ply: usize,
        cut: bool,
    ) -> Option<Value> {
        let goal = beta + 190 - 40 * i32::from(node.improving);
        let refuted = entry
            .is_some_and(|entry| entry.depth >= depth - 3 && entry.bound != Bound::None && entry.value_at(ply) < goal);
        if depth < 5 || value::is_decisive(beta) || refuted {
            return None;
        }
        let recent = self.recent_moves(ply);
        let mut picker = Picker::noisy(board, entry.and_then(|entry| entry.mv), goal - node.evaluation);
        while let Some(mv) = picker.next(board, self.histories, &recent) {
            if picker.is_bad_noisy() {
                break;
            }
            if !board.is_legal(mv) {
                continue;
            }
            let next = self.make(board, mv, ply);
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

    /// Searches the moves of a node one after the other.
    #[expect(clippy::too_many_arguments, reason = "the state of one node")]
    fn search_moves<const PV: bool>(
        &mut self,
        board: &Board,
        node: &Node,
        entry: Option<&Entry>,
        table_move: Option<Move>,
        mut alpha: Value,
        beta: Value,
        depth: i32,
        ply: usize,
        cut: bool,
    ) -> Value {
        let old_alpha = alpha;
        let excluded = self.frame(ply).excluded;
        let recent = self.recent_moves(ply);
        let mut picker = Picker::new(board, table_move, self.frame(ply).killers);
        let table_move_is_noisy = table_move.is_some_and(|mv| board.is_noisy(mv));
        let mut best = -value::INFINITE;
        let mut best_move = None;
        let mut tried = 0;
        let checks = board.check_map();
        let mut quiet_tried: ArrayVec<Move, 64> = ArrayVec::new();
        let mut noisy_tried: ArrayVec<Move, 32> = ArrayVec::new();

        while let Some(mv) = picker.next(board, self.histories, &recent) {
            if Some(mv) == excluded || !board.is_legal(mv) {
                continue;
            }
            tried += 1;
            let noisy = board.is_noisy(mv);
            let history =
                if noisy { self.histories.capture(board, mv) } else { self.histories.quiet(board, mv, &recent) };

            let gives_check = checks.gives_check(board, mv);
            let mut reduced_by = reduction(depth, tried) - history / if noisy { 8192 } else { 12_288 };
            if best > -value::WIN_BOUND && board.has_pieces(board.turn()) {
                let left = (depth - reduced_by).max(0);
                if !noisy {
                    // Late move pruning: after so many moves the rest will not help.
                    if tried > ((4 + depth * depth) / (2 - i32::from(node.improving))) as usize {
                        picker.skip_quiet();
                    }
                    // Futility: the evaluation is so low that a quiet move will not reach alpha.
                    let hope = node.evaluation + 110 + 85 * left + history / 256;
                    if !node.in_check && !gives_check && left <= 8 && hope <= alpha {
                        picker.skip_quiet();
                        continue;
                    }
                    // History pruning: it has failed too often.
                    if left <= 4 && !gives_check && history < -4000 * depth {
                        picker.skip_quiet();
                        continue;
                    }
                }
                // Exchange pruning: it loses more than the depth left can win back.
                let loss = if noisy { -95 * depth } else { -24 * left * left };
                if depth <= 9 && !board.exchange_reaches(mv, loss) {
                    continue;
                }
            }

            let extension = match entry {
                Some(entry) if Some(mv) == table_move && excluded.is_none() => {
                    match self.singularity::<PV>(board, entry, mv, beta, depth, ply, cut) {
                        Ok(extension) => extension,
                        Err(value) => return value,
                    }
                }
                _ => 0,
            };
            if self.stopped {
                return 0;
            }
            let inherited = self.frame_before(ply, 1).double_extensions;
            self.frame_mut(ply).double_extensions = inherited + u32::from(extension >= 2);

            let next = self.make(board, mv, ply);
            let new_depth = depth - 1 + extension;
            let mut value = alpha;
            let mut full = !PV || tried > 1;
            if depth >= 2 && tried > 1 + usize::from(PV) {
                // Late move reductions: less depth for moves that come late, corrected by what is known about them.
                reduced_by += i32::from(cut) * 2 + i32::from(!node.improving) - i32::from(node.principal)
                    + i32::from(table_move_is_noisy)
                    + i32::from(self.frame(ply + 1).cutoffs > 3)
                    - i32::from(gives_check)
                    - i32::from(self.frame(ply).killers.contains(&Some(mv)))
                    - i32::from(PV);
                if noisy {
                    reduced_by /= 2;
                }
                let lowered = (new_depth - reduced_by).clamp(1, new_depth.max(1));
                value = -self.search::<false>(&next, -alpha - 1, -alpha, lowered, ply + 1, true);
                full = value > alpha && lowered < new_depth;
                if full {
                    // Surprisingly good: look deeper than planned; hardly good: a little less deep.
                    let adjusted = new_depth + i32::from(value > best + 60) - i32::from(value < best + 8);
                    if adjusted > lowered {
                        value = -self.search::<false>(&next, -alpha - 1, -alpha, adjusted, ply + 1, !cut);
                    }
                    full = false;
                }
            }
            if full {
                value = -self.search::<false>(&next, -alpha - 1, -alpha, new_depth, ply + 1, !cut);
            }
            if PV && (tried == 1 || (value > alpha && !self.stopped)) {
                value = -self.search::<true>(&next, -beta, -alpha, new_depth, ply + 1, false);
            }
            self.undo();
            if self.stopped {
                return 0;
            }

            if value > best {
                best = value;
                if value > alpha {
                    best_move = Some(mv);
                    alpha = value;
                    if PV {
                        self.update_pv(ply, mv);
                    }
                    if value >= beta {
                        self.frame_mut(ply).cutoffs += 1;
                        self.learn_cutoff(board, mv, depth, ply, &quiet_tried, &noisy_tried);
                        break;
                    }
                }
            }
            if noisy {
                let _ = noisy_tried.try_push(mv);
            } else {
                let _ = quiet_tried.try_push(mv);
            }
        }

        if tried == 0 {
            return match excluded {
                Some(_) => alpha,
                None if node.in_check => value::mated_in(ply),
                None => self.draw_value(ply),
            };
        }
        let bound = if best >= beta {
            Bound::Lower
        } else if PV && best > old_alpha {
            Bound::Exact
        } else {
            Bound::Upper
        };
        if excluded.is_none() {
            let key = board.keys().position;
            self.shared.table.store(key, ply, best_move, best, node.raw, depth, bound, node.principal);
            // The evaluation learns from searches that a capture did not decide.
            let quiet = best_move.is_none_or(|mv| !board.is_noisy(mv));
            if !node.in_check && quiet && !value::is_decisive(best) && disagrees(bound, best, node.evaluation) {
                self.histories.learn_correction(board, depth, best - node.evaluation);
            }
        }
        best
    }

    /// Singular extensions: if every other move falls well short of the table's move, that move is searched deeper. If
    /// several beat beta instead, the node is cut at once (`Err` with its value).
    #[expect(clippy::too_many_arguments, reason = "the state of one node")]
    fn singularity<const PV: bool>(
        &mut self,
        board: &Board,
        entry: &Entry,
        mv: Move,
        beta: Value,
        depth: i32,
        ply: usize,
        cut: bool,
    ) -> Result<i32, Value> {
        let known = entry.value_at(ply);
        let worth_it = depth >= 7
            && entry.depth >= depth - 3
            && matches!(entry.bound, Bound::Lower | Bound::Exact)
            && !value::is_decisive(known)
            && ply < 2 * self.depth.max(1) as usize;
        if !worth_it {
            return Ok(0);
        }
        let goal = known - 2 * depth;
        let frame = self.frame_mut(ply);
        frame.excluded = Some(mv);
        let others = self.search::<false>(board, goal - 1, goal, (depth - 1) / 2, ply, cut);
        self.frame_mut(ply).excluded = None;
        Ok(if others < goal {
            let double = !PV && others < goal - 20 && self.frame_before(ply, 1).double_extensions < 8;
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

    /// A move has refuted the one before: remember what did well and what did not.
    fn learn_cutoff(&mut self, board: &Board, mv: Move, depth: i32, ply: usize, quiet: &[Move], noisy: &[Move]) {
        let bonus = bonus(depth);
        let recent = self.recent_moves(ply);
        if board.is_noisy(mv) {
            self.histories.learn_capture(board, mv, bonus);
        } else {
            let killers = &mut self.frame_mut(ply).killers;
            if killers[0] != Some(mv) {
                *killers = [Some(mv), killers[0]];
            }
            // A cut-off by the first move at low depth says little.
            if depth > 3 || !quiet.is_empty() {
                self.histories.learn_quiet(board, mv, &recent, bonus);
            }
            for other in quiet {
                self.histories.learn_quiet(board, *other, &recent, -bonus);
            }
        }
        for other in noisy {
            self.histories.learn_capture(board, *other, -bonus);
        }
    }
}

/// Whether a search's result says that the evaluation was wrong in its direction.
fn disagrees(bound: Bound, value: Value, evaluation: Value) -> bool {
    match bound {
        Bound::Lower => value > evaluation,
        Bound::Upper => value < evaluation,
        Bound::Exact => true,
        Bound::None => false,
    }
}
