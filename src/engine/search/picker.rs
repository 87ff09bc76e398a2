//! Moves in the order in which they are worth searching.
//!
//! The table's move, captures that do not lose material, killers, quiet moves by history, losing captures. Each stage is
//! generated only when the one before it is used up: most nodes are left before.

use arrayvec::ArrayVec;

use super::{
    Parameters,
    history::{Histories, Path},
};
use crate::board::{Board, EXCHANGE_VALUES, Move, MoveList, Role, Stage as Generated};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
enum Stage {
    TableMove,
    GenerateNoisy,
    GoodNoisy,
    Killers,
    GenerateQuiet,
    Quiet,
    BadNoisy,
    End,
}

/// Yields pseudo-legal moves, the most promising first.
pub(super) struct Picker {
    stage: Stage,
    table_move: Option<Move>,
    killers: [Option<Move>; 2],
    killers_tried: usize,
    moves: MoveList,
    /// The scores of `moves`.
    scores: ArrayVec<i32, 256>,
    bad: ArrayVec<Move, 64>,
    bad_tried: usize,
    /// A capture is good if its exchanges are worth at least this.
    threshold: i32,
    with_quiet: bool,
}

impl Picker {
    pub(super) fn new(board: &Board, table_move: Option<Move>, killers: [Option<Move>; 2]) -> Self {
        Self::make(board, table_move, killers, 0, true)
    }

    /// Captures and queen promotions that are worth at least `threshold` centipawns.
    pub(super) fn noisy(board: &Board, table_move: Option<Move>, threshold: i32) -> Self {
        let table_move = table_move.filter(|mv| board.is_noisy(*mv) && board.exchange_reaches(*mv, threshold));
        Self::make(board, table_move, [None; 2], threshold, false)
    }

    fn make(
        board: &Board,
        table_move: Option<Move>,
        killers: [Option<Move>; 2],
        threshold: i32,
        with_quiet: bool,
    ) -> Self {
        Self {
            stage: Stage::TableMove,
            table_move: table_move.filter(|mv| board.is_pseudo_legal(*mv)),
            killers,
            killers_tried: 0,
            moves: MoveList::new(),
            scores: ArrayVec::new(),
            bad: ArrayVec::new(),
            bad_tried: 0,
            threshold,
            with_quiet,
        }
    }

    /// Leaves out the quiet moves that have not been yielded yet.
    pub(super) fn skip_quiet(&mut self) {
        self.with_quiet = false;
    }

    /// Returns true while the picker yields captures that lose material.
    pub(super) fn is_bad_noisy(&self) -> bool {
        self.stage == Stage::BadNoisy
    }

    /// The next move that is not known to be illegal, or nothing at the end.
    pub(super) fn next(
        &mut self,
        board: &Board,
        histories: &Histories,
        path: &Path,
        numbers: &Parameters,
    ) -> Option<Move> {
        loop {
            match self.stage {
                Stage::TableMove => {
                    self.stage = Stage::GenerateNoisy;
                    if self.table_move.is_some() {
                        return self.table_move;
                    }
                }
                Stage::GenerateNoisy => {
                    self.generate(board, Generated::Noisy, |mv| score_noisy(board, histories, mv));
                    self.stage = Stage::GoodNoisy;
                }
                Stage::GoodNoisy => match self.best() {
                    Some((mv, score)) => {
                        // A capture that has done well may cost a little.
                        let threshold =
                            if self.with_quiet { -score * numbers.capture_order / 8192 } else { self.threshold };
                        if board.exchange_reaches(mv, threshold.min(self.threshold)) {
                            return Some(mv);
                        }
                        let _ = self.bad.try_push(mv);
                    }
                    None if self.with_quiet => self.stage = Stage::Killers,
                    None => self.stage = Stage::BadNoisy,
                },
                Stage::Killers => match self.killers.get(self.killers_tried) {
                    Some(killer) => {
                        self.killers_tried += 1;
                        if let Some(mv) = killer.filter(|mv| {
                            Some(*mv) != self.table_move && !board.is_noisy(*mv) && board.is_pseudo_legal(*mv)
                        }) {
                            return Some(mv);
                        }
                    }
                    None => self.stage = Stage::GenerateQuiet,
                },
                Stage::GenerateQuiet => {
                    if self.with_quiet {
                        let checks = board.check_map();
                        self.generate(board, Generated::Quiet, |mv| {
                            let safe_check = checks.gives_check(board, mv) && board.exchange_reaches(mv, -80);
                            let check = if safe_check { numbers.check_order } else { 0 };
                            histories.quiet(board, mv, path) + check
                        });
                    }
                    self.stage = Stage::Quiet;
                }
                Stage::Quiet => match self.best().filter(|_| self.with_quiet) {
                    Some((mv, _)) if self.killers.contains(&Some(mv)) => {}
                    Some((mv, _)) => return Some(mv),
                    None => self.stage = Stage::BadNoisy,
                },
                Stage::BadNoisy => {
                    if let Some(mv) = self.bad.get(self.bad_tried) {
                        self.bad_tried += 1;
                        return Some(*mv);
                    }
                    self.stage = Stage::End;
                }
                Stage::End => return None,
            }
        }
    }

    fn generate(&mut self, board: &Board, stage: Generated, score: impl Fn(Move) -> i32) {
        self.moves.clear();
        board.generate(stage, &mut self.moves);
        if let Some(i) = self.moves.iter().position(|mv| Some(*mv) == self.table_move) {
            self.moves.remove(i);
        }
        self.scores.clear();
        self.scores.extend(self.moves.iter().map(|mv| score(*mv)));
    }

    /// Takes out the best remaining move: sorting all would be wasted on an early cut-off.
    fn best(&mut self) -> Option<(Move, i32)> {
        let most = self.scores.iter().copied().fold(i32::MIN, i32::max);
        let i = self.scores.iter().position(|score| *score == most)?;
        Some((self.moves.swap_remove(i), self.scores.swap_remove(i)))
    }
}

/// Scores captures: most valuable victim first, then the history.
fn score_noisy(board: &Board, histories: &Histories, mv: Move) -> i32 {
    let victim = board.captured(mv).map_or(0, |role| EXCHANGE_VALUES[role.index()]);
    let promotion = if mv.promotion() == Some(Role::Queen) { 900 } else { 0 };
    8 * (victim + promotion) + histories.capture(board, mv) / 3
}
