//! One thread's part of a search: its position in the tree and its own memory.

use std::sync::atomic::Ordering::Relaxed;

use arrayvec::ArrayVec;

use super::{
    EngineOptions, Parameters, ScoreBound, Shared,
    history::{Histories, MovedTo, Path},
    turnstile::Place,
    value::{self, MAX_PLY, Value},
};
use crate::{
    board::{Board, Move, MoveList, Position},
    evaluation::{Evaluator, Recipe},
};

pub(super) struct Memory {
    histories: Histories,
    evaluator: Evaluator,
}

impl Memory {
    pub(super) fn new(recipe: Recipe) -> Self {
        Self { histories: Histories::new(), evaluator: Evaluator::new(recipe) }
    }
}

pub(super) type Variation = ArrayVec<Move, MAX_PLY>;

/// The state of one ply of the current line.
#[derive(Clone)]
pub(super) struct Frame {
    /// The piece that was moved from here and where it went.
    pub moved: MovedTo,
    /// True if the move from here was a null move.
    pub null: bool,
    /// The corrected static evaluation, or [`value::NONE`] in check.
    pub evaluation: Value,
    /// The move left out while it is tested whether it is singular.
    pub excluded: Option<Move>,
    /// Quiet moves that refuted a sibling.
    pub killers: [Option<Move>; 2],
    /// The number of extensions by more than a ply on the line.
    pub double_extensions: u32,
    pub cutoffs: u32,
    /// Plies by which the move from here is reduced at present.
    pub reduction: i32,
    pub pv: Variation,
}

impl Default for Frame {
    fn default() -> Self {
        Self {
            moved: MovedTo::NONE,
            null: false,
            evaluation: value::NONE,
            excluded: None,
            killers: [None; 2],
            double_extensions: 0,
            cutoffs: 0,
            reduction: 0,
            pv: Variation::new(),
        }
    }
}

pub(super) struct RootMove {
    pub mv: Move,
    /// The value of the current iteration; `-INFINITE` if it did not raise alpha.
    pub value: Value,
    pub bound: ScoreBound,
    /// The value of the iteration before.
    pub previous: Value,
    pub selective_depth: usize,
    pub nodes: u64,
    /// True if other electors propose it.
    pub hinted: bool,
    pub pv: Variation,
}

/// Nodes between two checks of clock and stop flag: well under a millisecond.
const BATCH: u64 = 512;

/// The node limit of the first iteration, which otherwise ignores all limits (about 3 ms): if
/// everything can be captured it would take millions.
const FIRST_ITERATION: u64 = 4096;

/// Frames before the root's, so that looking back from it stays in bounds.
const BEFORE_ROOT: usize = 6;

pub(super) struct Worker<'a> {
    pub id: usize,
    pub shared: &'a Shared<'a>,
    /// The place among the other threads in virtual time.
    place: Option<&'a Place>,
    pub options: &'a EngineOptions,
    evaluator: &'a mut Evaluator,
    pub histories: &'a mut Histories,
    pub root: &'a Board,
    pub root_moves: Vec<RootMove>,
    /// The first root move that belongs to the principal variation being searched (multi-PV).
    pub pv_index: usize,
    pub root_moves_done: u32,
    /// Keys of all positions up to the current one.
    pub keys: Vec<u64>,
    frames: Box<[Frame]>,
    pub nodes: u64,
    uncounted: u64,
    /// Nodes between two checks of the limits.
    batch: u64,
    pub selective_depth: usize,
    pub completed_depth: i32,
    pub bound: ScoreBound,
    pub depth: i32,
    pub stopped: bool,
    /// No null move for this side before this ply (verification search).
    pub null_move_from: [usize; 2],
    /// The value of a draw for the player to move at the root.
    pub draw: Value,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        id: usize,
        shared: &'a Shared<'a>,
        options: &'a EngineOptions,
        memory: &'a mut Memory,
        position: &'a Position,
        moves: &MoveList,
        place: Option<&'a Place>,
    ) -> Self {
        let root_moves = moves
            .iter()
            .map(|mv| RootMove {
                mv: *mv,
                value: -value::INFINITE,
                bound: ScoreBound::Exact,
                previous: -value::INFINITE,
                selective_depth: 0,
                nodes: 0,
                hinted: false,
                pv: [*mv].into_iter().collect(),
            })
            .collect();
        let mut keys = Vec::with_capacity(position.past().len() + MAX_PLY + 8);
        keys.extend_from_slice(position.past());
        keys.push(position.board().keys().position);
        if let Some(place) = place {
            place.enter();
        }
        let batch = place.map_or(BATCH, Place::turn);
        Self {
            id,
            shared,
            place,
            options,
            evaluator: &mut memory.evaluator,
            histories: &mut memory.histories,
            root: position.board(),
            root_moves,
            pv_index: 0,
            root_moves_done: 0,
            keys,
            frames: vec![Frame::default(); MAX_PLY + BEFORE_ROOT + 4].into_boxed_slice(),
            nodes: 0,
            uncounted: 0,
            batch,
            selective_depth: 0,
            completed_depth: 0,
            bound: ScoreBound::Exact,
            depth: 0,
            stopped: false,
            null_move_from: [0; 2],
            draw: 0,
        }
    }

    #[inline]
    pub(super) fn frame(&self, ply: usize) -> &Frame {
        &self.frames[ply + BEFORE_ROOT]
    }

    #[inline]
    pub(super) fn frame_mut(&mut self, ply: usize) -> &mut Frame {
        &mut self.frames[ply + BEFORE_ROOT]
    }

    /// The frame `back` plies before `ply`, at most [`BEFORE_ROOT`].
    #[inline]
    pub(super) fn frame_before(&self, ply: usize, back: usize) -> &Frame {
        &self.frames[ply + BEFORE_ROOT - back]
    }

    /// Returns the pieces and targets of the moves 1, 2, 4 and 6 plies before.
    #[inline]
    pub(super) fn recent_moves(&self, ply: usize) -> [MovedTo; 4] {
        [1, 2, 4, 6].map(|back| self.frame_before(ply, back).moved)
    }

    /// Returns the context of quiet moves at a ply.
    #[inline]
    pub(super) fn path(&self, board: &Board, ply: usize) -> Path {
        Path { recent: self.recent_moves(ply), threats: board.threats() }
    }

    /// The static evaluation, corrected by searches of similar positions.
    #[inline]
    pub(super) fn corrected(&self, board: &Board, evaluation: Value, ply: usize) -> Value {
        self.histories.corrected(board, evaluation, self.last_moves(ply), self.parameters())
    }

    /// Returns the pieces and targets of the last two moves.
    #[inline]
    pub(super) fn last_moves(&self, ply: usize) -> [MovedTo; 2] {
        [1, 2].map(|back| self.frame_before(ply, back).moved)
    }

    /// The numbers of the search.
    #[inline]
    pub(super) fn parameters(&self) -> &'a Parameters {
        &self.options.parameters
    }

    /// Makes `line` the principal variation of a ply: a move and what follows it.
    pub(super) fn update_pv(&mut self, ply: usize, mv: Move) {
        let (before, after) = self.frames.split_at_mut(ply + BEFORE_ROOT + 1);
        if let (Some(here), Some(next)) = (before.last_mut(), after.first()) {
            here.pv.clear();
            here.pv.push(mv);
            here.pv.extend(next.pv.iter().copied().take(MAX_PLY - 1));
        }
    }

    /// Counts a node; returns true if the search is over.
    #[inline]
    pub(super) fn visit(&mut self) -> bool {
        if self.stopped {
            return true;
        }
        self.nodes += 1;
        self.uncounted += 1;
        if self.uncounted >= self.batch || (self.shared.threads == 1 && self.shared.limits.nodes.is_some()) {
            self.check_limits();
        }
        self.stopped
    }

    #[cold]
    fn check_limits(&mut self) {
        let counted = self.shared.nodes.fetch_add(self.uncounted, Relaxed) + self.uncounted;
        let poll = self.nodes.is_multiple_of(self.batch);
        self.uncounted = 0;
        let limits = &self.shared.limits;
        let over = limits.nodes.is_some_and(|nodes| counted >= nodes)
            || (poll
                && (self.shared.stop.load(Relaxed)
                    || self.shared.done.load(Relaxed)
                    || limits.time.is_some_and(|time| self.shared.began.elapsed() >= time)));
        if over && (self.id != 0 || self.completed_depth > 0 || self.nodes > FIRST_ITERATION) {
            self.stopped = true;
        } else if let (true, Some(place)) = (poll, self.place) {
            place.pass();
        }
    }

    /// Plies of a reduction, by the selectivity of the search.
    #[inline]
    pub(super) fn more_selective(&self, plies: i32) -> i32 {
        plies * i32::from(self.options.selectivity) / 100
    }

    /// A margin of pruning in centipawns, by the selectivity of the search.
    #[inline]
    pub(super) fn less_margin(&self, margin: Value) -> Value {
        margin * 100 / i32::from(self.options.selectivity.max(1))
    }

    pub(super) fn total_nodes(&self) -> u64 {
        self.shared.nodes.load(Relaxed) + self.uncounted
    }

    /// The static evaluation for the player to move, before correction. It fades as the fifty-move rule draws near.
    pub(super) fn evaluate(&mut self, board: &Board) -> Value {
        let value = self.evaluator.evaluate(board);
        let value = value * (220 - i32::from(board.halfmoves().min(100))) / 220;
        value.clamp(-value::WIN_BOUND + 1, value::WIN_BOUND - 1)
    }

    /// Returns the value of a draw for the player to move at `ply`. A little noise keeps the search
    /// from preferring one of several ways to repeat.
    #[inline]
    pub(super) fn draw_value(&self, ply: usize) -> Value {
        let noise = 1 - (self.nodes & 2) as Value;
        if ply.is_multiple_of(2) { self.draw + noise } else { noise - self.draw }
    }

    /// Returns true if the position is drawn by rule. Within the search one repetition suffices: a
    /// side that could avoid it once can avoid it again.
    pub(super) fn is_draw(&self, board: &Board, ply: usize) -> bool {
        if board.halfmoves() >= 100 && (!board.in_check() || !board.legal_moves().is_empty()) {
            return true;
        }
        board.is_insufficient() || self.is_repetition(board, ply)
    }

    fn is_repetition(&self, board: &Board, ply: usize) -> bool {
        let key = board.keys().position;
        let reach = usize::from(board.halfmoves());
        let mut before_root = 0;
        for (i, earlier) in self.keys.iter().rev().enumerate().skip(4).step_by(2) {
            if i > reach {
                break;
            }
            if *earlier == key {
                if i < ply {
                    return true;
                }
                before_root += 1;
                if before_root == 2 {
                    return true;
                }
            }
        }
        false
    }

    /// Steps from `board` by `mv`, which it plays on `next`, a copy of `board`; notes the move in the frame and the new
    /// key. Undone by [`Self::undo`].
    pub(super) fn make(&mut self, next: &mut Board, board: &Board, mv: Move, ply: usize) {
        self.shared.table.prefetch(board.likely_key_after(mv));
        next.play(mv, board);
        let frame = self.frame_mut(ply);
        frame.moved = MovedTo::new(board, mv);
        frame.null = false;
        self.keys.push(next.keys().position);
        self.histories.prefetch(next, self.last_moves(ply + 1));
    }

    /// Passes the turn.
    pub(super) fn make_null(&mut self, board: &Board, ply: usize) -> Board {
        let next = board.after_null();
        self.shared.table.prefetch(next.keys().position);
        let frame = self.frame_mut(ply);
        frame.moved = MovedTo::NONE;
        frame.null = true;
        self.keys.push(next.keys().position);
        next
    }

    pub(super) fn undo(&mut self) {
        self.keys.pop();
    }
}
