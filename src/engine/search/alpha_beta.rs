//! The main search: principal variation search, fail-soft, with the usual reductions and prunings.
//!
//! Every technique has its usual name; docs/experiments/search.md has the worth of each.

use std::sync::atomic::Ordering::Relaxed;

use arrayvec::ArrayVec;

use super::{
    Parameters,
    history::{LIMIT, Path},
    picker::Picker,
    table::{Bound, Entry},
    value::{self, MAX_PLY, Value},
    worker::Worker,
};
use crate::{
    board::{Board, CheckMap, Move},
    syzygy::Outcome,
};

/// A node of the tree, and the facts known before its moves are searched.
pub(super) struct Node {
    pub ply: usize,
    pub depth: i32,
    /// True if it is expected to fail high.
    pub cut: bool,
    pub in_check: bool,
    /// The static evaluation as the evaluation gave it, for the table.
    pub raw: Value,
    /// The corrected evaluation.
    pub evaluation: Value,
    /// The evaluation is better than at the player's last turn.
    pub improving: bool,
    /// True on a principal variation of this or an earlier search.
    pub principal: bool,
    /// The table's move, if it can be played here.
    pub table_move: Option<Move>,
}

/// A move with the facts known before it is made.
pub(super) struct Candidate {
    mv: Move,
    noisy: bool,
    gives_check: bool,
    history: i32,
    /// Its rank among the moves tried, from 1.
    place: usize,
    /// The late move reduction before closer inspection, in 1/1024 of a ply.
    reduction: i32,
    /// Proposed by other electors at the root, so not reduced.
    hinted: bool,
}

enum Verdict {
    Search,
    Skip,
    /// Nor are the quiet moves after it.
    SkipQuiet,
}

impl Worker<'_> {
    /// The value of `board` searched `depth` plies, between `alpha` and `beta` exact, outside a bound. `PV` nodes have an
    /// open window; `cut` nodes are expected to fail high.
    pub(super) fn search<const PV: bool>(
        &mut self,
        board: &Board,
        mut alpha: Value,
        mut beta: Value,
        depth: i32,
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

        // Transposition table.
        let entry = self.shared.table.probe(board.keys().position);
        let table_move = entry.and_then(|entry| entry.mv).filter(|mv| board.is_pseudo_legal(*mv));
        if let Some(entry) =
            entry.filter(|entry| !PV && excluded.is_none() && entry.depth >= depth && board.halfmoves() < 90)
        {
            let known = entry.value_at(ply);
            if entry.bound.settles(known, beta) {
                if let Some(mv) = table_move.filter(|mv| known >= beta && !board.is_noisy(*mv)) {
                    let path = self.path(board, ply);
                    let bonus = self.bonus(depth) / 2;
                    self.histories.learn_quiet(board, mv, &path, bonus);
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
            self.shared.tablebase_hits.fetch_add(1, Relaxed);
            return match outcome {
                Outcome::Win => value::TABLEBASE_WIN - ply as Value,
                Outcome::Loss => ply as Value - value::TABLEBASE_WIN,
                Outcome::Draw => self.draw_value(ply),
            };
        }

        let mut node = self.evaluate_node(board, entry.as_ref(), ply);
        (node.depth, node.cut, node.table_move) = (depth, cut, table_move);
        node.principal |= PV;
        let before = self.frame_before(ply, 1);
        if excluded.is_none() && !node.in_check && before.evaluation != value::NONE {
            // Hindsight: a reduced move that worsened nothing deserves more depth, one that lost much less still.
            let lost = node.evaluation + before.evaluation;
            if before.reduction >= 3 && lost <= 0 {
                node.depth += 1;
            } else if before.reduction >= 2 && depth >= 2 && lost > self.parameters().hindsight_margin {
                node.depth -= 1;
            }
        }
        self.frame_mut(ply + 1).cutoffs = 0;
        self.frame_mut(ply + 1).killers = [None; 2];
        if !PV
            && !node.in_check
            && let Some(value) = self.prune_node(board, &node, entry.as_ref(), alpha, beta)
        {
            return value;
        }
        if self.stopped {
            return 0;
        }
        // Internal iterative reduction: without a table move the ordering is poor; the next iteration will be better.
        if node.depth >= 4 && (PV || cut) && table_move.is_none() && excluded.is_none() {
            node.depth -= 1;
        }
        self.search_moves::<PV>(board, &node, entry.as_ref(), alpha, beta)
    }

    /// Evaluates a node and compares it with the plies before. Stores the evaluation of a new position at once, because most
    /// nodes end before their value is stored.
    pub(super) fn evaluate_node(&mut self, board: &Board, entry: Option<&Entry>, ply: usize) -> Node {
        let in_check = board.in_check();
        let raw = match entry {
            _ if in_check => value::NONE,
            Some(entry) if entry.evaluation != value::NONE => entry.evaluation,
            _ => self.evaluate(board),
        };
        if entry.is_none() && !in_check {
            self.shared.table.store(board.keys().position, ply, None, 0, raw, 0, Bound::None, false);
        }
        let evaluation = if in_check { value::NONE } else { self.corrected(board, raw, ply) };
        self.frame_mut(ply).evaluation = evaluation;
        // Improving: better than at our last turn, so prune less on high values and more on low ones.
        let before = |back| self.frame_before(ply, back).evaluation;
        let improving = !in_check
            && match (before(2), before(4)) {
                (value::NONE, value::NONE) => true,
                (value::NONE, earlier) | (earlier, _) => evaluation > earlier,
            };
        let principal = entry.is_some_and(|entry| entry.principal);
        Node { ply, depth: 0, cut: false, in_check, raw, evaluation, improving, principal, table_move: None }
    }

    /// Searches the moves of a node one after the other.
    fn search_moves<const PV: bool>(
        &mut self,
        board: &Board,
        node: &Node,
        entry: Option<&Entry>,
        mut alpha: Value,
        beta: Value,
    ) -> Value {
        let (ply, table_move, old_alpha) = (node.ply, node.table_move, alpha);
        let excluded = self.frame(ply).excluded;
        let path = self.path(board, ply);
        let checks = board.check_map();
        let mut picker = Picker::new(board, table_move, self.frame(ply).killers);
        let table_move_is_noisy = table_move.is_some_and(|mv| board.is_noisy(mv));
        let mut best = -value::INFINITE;
        let mut best_move = None;
        let mut tried = 0;
        let mut quiet_tried: ArrayVec<Move, 64> = ArrayVec::new();
        let mut noisy_tried: ArrayVec<Move, 32> = ArrayVec::new();

        while let Some(mv) = picker.next(board, self.histories, &path, self.parameters()) {
            if Some(mv) == excluded || !board.is_legal(mv) {
                continue;
            }
            tried += 1;
            let mut candidate = self.candidate(board, node, &checks, &path, (mv, tried, false));
            let noisy = candidate.noisy;
            if best > -value::WIN_BOUND && board.has_pieces(board.turn()) {
                // Late move pruning: late moves are skipped.
                let base = self.parameters().late_move_base;
                let enough = (base + node.depth * node.depth) / (2 - i32::from(node.improving));
                if !noisy && tried > enough as usize {
                    picker.skip_quiet();
                }
                match judge(board, node, &candidate, alpha, self.parameters()) {
                    Verdict::Search => {}
                    Verdict::Skip => continue,
                    Verdict::SkipQuiet => {
                        picker.skip_quiet();
                        continue;
                    }
                }
            }

            let extension = match entry {
                Some(entry) if Some(mv) == table_move && excluded.is_none() => {
                    match self.singularity::<PV>(board, node, entry, mv, beta) {
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

            let mut next = board.clone();
            self.make(&mut next, board, mv, ply);
            candidate.reduction += self.parameters().reduction_noisy_table_move * i32::from(table_move_is_noisy);
            let new_depth = node.depth - 1 + extension;
            let value = self.search_move::<PV>(&next, node, &candidate, alpha, beta, best, new_depth);
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
                        self.learn_cutoff(board, mv, node, &path, (&quiet_tried, &noisy_tried));
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
            self.shared.table.store(key, ply, best_move, best, node.raw, node.depth, bound, node.principal);
            // The evaluation learns from searches that no capture decided.
            let quiet = best_move.is_none_or(|mv| !board.is_noisy(mv));
            if !node.in_check && quiet && !value::is_decisive(best) && disagrees(bound, best, node.evaluation) {
                self.histories.learn_correction(board, node.depth, best - node.evaluation, self.last_moves(ply));
            }
        }
        best
    }

    /// Gathers the facts about a move, the `place`-th of its node.
    pub(super) fn candidate(
        &self,
        board: &Board,
        node: &Node,
        checks: &CheckMap,
        path: &Path,
        (mv, place, hinted): (Move, usize, bool),
    ) -> Candidate {
        let noisy = board.is_noisy(mv);
        let history = if noisy { self.histories.capture(board, mv) } else { self.histories.quiet(board, mv, path) };
        let reduction = self.reduction(node.depth, place) - self.reduction_by_history(history, noisy);
        let gives_check = checks.gives_check(board, mv);
        Candidate { mv, noisy, gives_check, history, place, reduction, hinted }
    }

    /// Searches one move, already made: reduced and with a null window first, in full where that is surpassed.
    #[expect(clippy::too_many_arguments, reason = "the window, the node and the move")]
    pub(super) fn search_move<const PV: bool>(
        &mut self,
        next: &Board,
        node: &Node,
        candidate: &Candidate,
        alpha: Value,
        beta: Value,
        best: Value,
        new_depth: i32,
    ) -> Value {
        let (ply, place) = (node.ply, candidate.place);
        let mut value = alpha;
        let mut full = !PV || place > 1;
        if node.depth >= 2 && place > 1 + usize::from(PV) && !candidate.hinted {
            // A negative reduction extends, by a ply at most.
            let lowered = (new_depth - self.reduced_by::<PV>(node, candidate)).clamp(1, new_depth.max(0) + 1);
            let Parameters { deeper_margin, shallower_margin, .. } = *self.parameters();
            self.frame_mut(ply).reduction = new_depth - lowered;
            value = -self.search::<false>(next, -alpha - 1, -alpha, lowered, ply + 1, true);
            self.frame_mut(ply).reduction = 0;
            if value > alpha && lowered < new_depth {
                // Surprisingly good moves are searched deeper than planned, hardly good ones less
                // deep.
                let adjusted =
                    new_depth + i32::from(value > best + deeper_margin) - i32::from(value < best + shallower_margin);
                if adjusted > lowered {
                    value = -self.search::<false>(next, -alpha - 1, -alpha, adjusted, ply + 1, !node.cut);
                }
            }
            full = false;
        }
        if full {
            value = -self.search::<false>(next, -alpha - 1, -alpha, new_depth, ply + 1, !node.cut);
        }
        if PV && (place == 1 || (value > alpha && !self.stopped)) {
            value = -self.search::<true>(next, -beta, -alpha, new_depth, ply + 1, false);
        }
        value
    }

    /// Late move reductions: less depth for late moves, corrected by other facts about them. Plies.
    fn reduced_by<const PV: bool>(&self, node: &Node, candidate: &Candidate) -> i32 {
        let numbers = self.parameters();
        let more = numbers.reduction_at_cut_node * i32::from(node.cut)
            + numbers.reduction_not_improving * i32::from(!node.improving)
            + numbers.reduction_after_cutoffs * i32::from(self.frame(node.ply + 1).cutoffs > 3);
        let less = numbers.reduction_principal * i32::from(node.principal)
            + numbers.reduction_open_window * i32::from(PV)
            + numbers.reduction_check * i32::from(candidate.gives_check)
            + numbers.reduction_killer * i32::from(self.frame(node.ply).killers.contains(&Some(candidate.mv)));
        let reduction = candidate.reduction + more - less;
        (if candidate.noisy { reduction / 2 } else { reduction }) / 1024
    }

    /// The reduction of the n-th move at a depth, in 1/1024 of a ply.
    fn reduction(&self, depth: i32, n: usize) -> i32 {
        let Parameters { reduction_base, reduction_slope, .. } = *self.parameters();
        let logs = logarithm(depth.max(1) as usize) * logarithm(n);
        self.more_selective(reduction_base + ((reduction_slope * logs) >> 14))
    }

    /// Returns the reduction's decrease by a move's history, in 1/1024 of a ply.
    fn reduction_by_history(&self, history: i32, noisy: bool) -> i32 {
        let Parameters { reduction_by_history, reduction_by_capture_history, .. } = *self.parameters();
        let full = if noisy { reduction_by_capture_history } else { reduction_by_history };
        history * full / LIMIT
    }

    /// Returns the histories' bonus for a cut-off at a depth.
    fn bonus(&self, depth: i32) -> i32 {
        let Parameters { bonus_slope, bonus_offset, bonus_limit, .. } = *self.parameters();
        (bonus_slope * depth - bonus_offset).min(bonus_limit)
    }

    /// Returns their malus for moves tried before in vain; always positive.
    fn malus(&self, depth: i32) -> i32 {
        let Parameters { malus_slope, malus_offset, malus_limit, .. } = *self.parameters();
        (malus_slope * depth - malus_offset).min(malus_limit)
    }

    /// Learns from a cut-off by `mv`, and from the moves tried in vain before it.
    pub(super) fn learn_cutoff(
        &mut self,
        board: &Board,
        mv: Move,
        node: &Node,
        path: &Path,
        (quiet, noisy): (&[Move], &[Move]),
    ) {
        let (bonus, malus) = (self.bonus(node.depth), self.malus(node.depth));
        if board.is_noisy(mv) {
            self.histories.learn_capture(board, mv, bonus);
        } else {
            let killers = &mut self.frame_mut(node.ply).killers;
            if killers[0] != Some(mv) {
                *killers = [Some(mv), killers[0]];
            }
            // A cut-off by the first move at low depth carries little information.
            if node.depth > 3 || !quiet.is_empty() {
                self.histories.learn_quiet(board, mv, path, bonus);
            }
            for other in quiet {
                self.histories.learn_quiet(board, *other, path, -malus);
            }
        }
        for other in noisy {
            self.histories.learn_capture(board, *other, -malus);
        }
    }
}

/// 128 times the natural logarithm, of 64 at most.
fn logarithm(n: usize) -> i32 {
    const LOGARITHMS: [u16; 64] = [
        0, 0, 89, 141, 177, 206, 229, 249, 266, 281, 295, 307, 318, 328, 338, 347, 355, 363, 370, 377, 383, 390, 396,
        401, 407, 412, 417, 422, 427, 431, 435, 440, 444, 448, 451, 455, 459, 462, 466, 469, 472, 475, 478, 481, 484,
        487, 490, 493, 496, 498, 501, 503, 506, 508, 511, 513, 515, 518, 520, 522, 524, 526, 528, 530,
    ];
    i32::from(LOGARITHMS[n.min(63)])
}

/// Applies the prunings of a single move.
fn judge(board: &Board, node: &Node, candidate: &Candidate, alpha: Value, numbers: &Parameters) -> Verdict {
    let left = (node.depth - (candidate.reduction >> 10)).max(0);
    if !candidate.noisy && !candidate.gives_check {
        // Futility: the evaluation is so low that a quiet move will not reach alpha.
        let by_history = candidate.history * numbers.futility_by_history / LIMIT;
        let hope = node.evaluation + numbers.futility_base + numbers.futility_slope * left + by_history;
        if !node.in_check && left <= numbers.futility_depth && hope <= alpha {
            return Verdict::SkipQuiet;
        }
        // History pruning: it has failed too often.
        if left <= 4 && candidate.history < -numbers.history_pruning * node.depth {
            return Verdict::SkipQuiet;
        }
    }
    // Exchange pruning: it loses more than the depth left can win back.
    let loss =
        if candidate.noisy { -numbers.exchange_noisy * node.depth } else { -numbers.exchange_quiet * left * left };
    if node.depth <= numbers.exchange_depth && !board.exchange_reaches(candidate.mv, loss) {
        Verdict::Skip
    } else {
        Verdict::Search
    }
}

/// Returns true if a search's result shows that the evaluation was wrong in its direction.
fn disagrees(bound: Bound, value: Value, evaluation: Value) -> bool {
    match bound {
        Bound::Lower => value > evaluation,
        Bound::Upper => value < evaluation,
        Bound::Exact => true,
        Bound::None => false,
    }
}
