//! Captures until the position is quiet enough for a static evaluation.

use super::{
    history::Path,
    picker::Picker,
    table::Bound,
    value::{self, MAX_PLY, Value},
    worker::Worker,
};
use crate::board::{Bitboard, Board, EXCHANGE_VALUES};

impl Worker<'_> {
    /// Returns the value of `board` when only captures (all moves if in check) are searched.
    /// Fail-soft.
    pub(super) fn quiescence<const PV: bool>(
        &mut self,
        board: &Board,
        mut alpha: Value,
        beta: Value,
        ply: usize,
    ) -> Value {
        if self.visit() {
            return 0;
        }
        if PV {
            self.frame_mut(ply).pv.clear();
            self.selective_depth = self.selective_depth.max(ply);
        }
        if self.is_draw(board, ply) {
            return self.draw_value(ply);
        }
        if ply >= MAX_PLY - 1 {
            return if board.in_check() { 0 } else { self.evaluate(board) };
        }

        let key = board.keys().position;
        let entry = self.shared.table.probe(key);
        let principal = PV || entry.is_some_and(|entry| entry.principal);
        if let Some(entry) = entry.filter(|_| !PV) {
            let known = entry.value_at(ply);
            if entry.bound.settles(known, beta) {
                return known;
            }
        }

        let in_check = board.in_check();
        let raw = match entry {
            _ if in_check => value::NONE,
            Some(entry) if entry.evaluation != value::NONE => entry.evaluation,
            _ => self.evaluate(board),
        };
        let mut best = value::mated_in(ply);
        let mut hopeless_below = -value::INFINITE;
        if !in_check {
            best = self.corrected(board, raw, ply);
            if let Some(entry) = entry {
                let known = entry.value_at(ply);
                if !value::is_decisive(known) && entry.bound.settles(known, best + i32::from(known < best)) {
                    best = known;
                }
            }
            if best >= beta {
                best = self.towards_beta(best, beta);
                if entry.is_none_or(|entry| entry.bound == Bound::None) {
                    self.shared.table.store(key, ply, None, best, raw, 0, Bound::Lower, false);
                }
                return best;
            }
            alpha = alpha.max(best);
            hopeless_below = best + self.parameters().quiescence_margin;
        }

        let old_alpha = alpha;
        let table_move = entry.and_then(|entry| entry.mv);
        let mut picker =
            if in_check { Picker::new(board, table_move, [None; 2]) } else { Picker::noisy(board, table_move, 0) };
        // Quiet moves occur in check alone, where threats matter little.
        let path = Path { recent: self.recent_moves(ply), threats: Bitboard::EMPTY };
        let mut best_move = None;
        while let Some(mv) = picker.next(board, self.histories, &path, self.parameters()) {
            if best > -value::WIN_BOUND {
                // The remaining captures lose material.
                if picker.is_bad_noisy() {
                    break;
                }
                // One evasion that is not mated was found: other quiet ones are not needed.
                if in_check && !board.is_noisy(mv) {
                    picker.skip_quiet();
                    continue;
                }
                // Even winning the man for nothing would not do.
                let victim = board.captured(mv).map_or(0, |role| EXCHANGE_VALUES[role.index()]);
                if !in_check && mv.promotion().is_none() && hopeless_below + victim <= alpha {
                    best = best.max(hopeless_below + victim);
                    continue;
                }
            }
            if !board.is_legal(mv) {
                continue;
            }
            let mut next = board.clone();
            self.make(&mut next, board, mv, ply);
            let found = -self.quiescence::<PV>(&next, -beta, -alpha, ply + 1);
            self.undo();
            if self.stopped {
                return 0;
            }
            if found > best {
                best = found;
                if found > alpha {
                    best_move = Some(mv);
                    alpha = found;
                    if PV {
                        self.update_pv(ply, mv);
                    }
                    if found >= beta {
                        break;
                    }
                }
            }
        }
        let bound = if best >= beta {
            best = self.towards_beta(best, beta);
            Bound::Lower
        } else if PV && best > old_alpha {
            Bound::Exact
        } else {
            Bound::Upper
        };
        self.shared.table.store(key, ply, best_move, best, raw, 0, bound, principal);
        best
    }

    /// Moves a value above beta part of the way back: a search of captures alone cannot tell how
    /// far above beta the true value is.
    fn towards_beta(&self, value: Value, beta: Value) -> Value {
        if value::is_decisive(value) || value::is_decisive(beta) {
            return value;
        }
        value + (beta - value) * self.parameters().quiescence_to_beta / 100
    }
}
