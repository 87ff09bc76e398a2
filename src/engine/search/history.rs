//! The search's memory of moves and of errors of its evaluation.
//!
//! Every number is pulled towards the newest result by "gravity": `h += bonus - h * |bonus| /
//! limit` keeps it within ±limit and forgets old results. All tables belong to one thread.

use super::Parameters;
use super::value::{self, Value};
use crate::{
    board::{Bitboard, Board, Keys, Move, Piece, Role},
    pages::{Pages, Zero, prefetch},
};

pub(super) const LIMIT: i32 = 16_384;

#[derive(Clone, Copy, Default)]
#[repr(transparent)]
struct Learnt(i16);

impl Learnt {
    #[inline]
    fn pull(&mut self, bonus: i32, limit: i32) {
        let bonus = bonus.clamp(-limit, limit);
        let old = i32::from(self.0);
        self.0 = (old + bonus - old * bonus.abs() / limit) as i16;
    }
}

/// A piece and the square it went to, as one index; or nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct MovedTo(u16);

const MOVED: usize = 12 * 64 + 1;

impl MovedTo {
    /// No move, or a null move.
    pub(super) const NONE: Self = Self(12 * 64);

    #[inline]
    pub(super) fn new(board: &Board, mv: Move) -> Self {
        board.piece_on(mv.from()).map_or(Self::NONE, |piece| Self::of(piece, mv))
    }

    #[inline]
    fn of(piece: Piece, mv: Move) -> Self {
        Self((piece.index() * 64 + mv.to().index()) as u16)
    }

    #[inline]
    fn index(self) -> usize {
        usize::from(self.0)
    }
}

#[derive(Clone, Copy)]
pub(super) struct Path {
    /// The pieces and targets of the moves 1, 2, 4 and 6 plies before.
    pub recent: [MovedTo; 4],
    pub threats: Bitboard,
}

/// Entries of each table of corrections.
const CORRECTIONS: usize = 16_384;
/// The bound of a correction, in 1/64 of a centipawn before weighing.
const CORRECTION_LIMIT: i32 = 1024;

pub(super) struct Histories(Pages<Tables>);

/// One thread's tables, side by side in one large page.
struct Tables {
    /// Quiet moves by colour, by attacks on their origin and target, and by from and to.
    quiet: [[[Learnt; 64 * 64]; 4]; 2],
    /// Captures by piece and target, and role taken.
    captures: [[Learnt; 6]; MOVED],
    /// Quiet moves as answers to an earlier move.
    continuations: [[Learnt; MOVED]; MOVED],
    /// Errors of the evaluation by [`correction_keys`] and player to move.
    corrections: [[[Learnt; 2]; CORRECTIONS]; 6],
}

// SAFETY: integers, of which zero is one.
unsafe impl Zero for Tables {}

impl Histories {
    pub(super) fn new() -> Self {
        Self(Pages::zeroed(1))
    }

    #[inline]
    fn tables(&self) -> &Tables {
        &self.0[0]
    }

    #[inline]
    fn tables_mut(&mut self) -> &mut Tables {
        &mut self.0[0]
    }

    #[inline]
    fn from_to(mv: Move) -> usize {
        mv.from().index() * 64 + mv.to().index()
    }

    /// Returns the index by attacks on the squares of origin and target.
    #[inline]
    fn attacked(mv: Move, threats: Bitboard) -> usize {
        2 * usize::from(threats.has(mv.from())) + usize::from(threats.has(mv.to()))
    }

    /// Returns the success of a quiet move, here and as an answer to the moves before. Within ±4
    /// limits.
    #[inline]
    pub(super) fn quiet(&self, board: &Board, mv: Move, path: &Path) -> i32 {
        let Path { recent, threats } = path;
        let moved = MovedTo::new(board, mv).index();
        let tables = self.tables();
        let answer = |earlier: MovedTo| i32::from(tables.continuations[earlier.index()][moved].0);
        i32::from(tables.quiet[board.turn().index()][Self::attacked(mv, *threats)][Self::from_to(mv)].0)
            + answer(recent[0])
            + answer(recent[1])
            + (answer(recent[2]) + answer(recent[3])) / 2
    }

    #[inline]
    pub(super) fn capture(&self, board: &Board, mv: Move) -> i32 {
        let taken = board.captured(mv).unwrap_or(Role::Pawn);
        i32::from(self.tables().captures[MovedTo::new(board, mv).index()][taken.index()].0)
    }

    /// Learns from the success (or failure) of a quiet move.
    pub(super) fn learn_quiet(&mut self, board: &Board, mv: Move, path: &Path, bonus: i32) {
        let moved = MovedTo::new(board, mv);
        let tables = self.tables_mut();
        tables.quiet[board.turn().index()][Self::attacked(mv, path.threats)][Self::from_to(mv)].pull(bonus, LIMIT);
        for earlier in path.recent.into_iter().filter(|earlier| *earlier != MovedTo::NONE) {
            tables.continuations[earlier.index()][moved.index()].pull(bonus, LIMIT);
        }
    }

    /// Learns from the success (or failure) of a capture.
    pub(super) fn learn_capture(&mut self, board: &Board, mv: Move, bonus: i32) {
        let taken = board.captured(mv).unwrap_or(Role::Pawn);
        self.tables_mut().captures[MovedTo::new(board, mv).index()][taken.index()].pull(bonus, LIMIT);
    }

    /// The static evaluation, corrected by the average difference that searches of similar positions found.
    #[inline]
    pub(super) fn corrected(
        &self,
        board: &Board,
        evaluation: Value,
        last: [MovedTo; 2],
        numbers: &Parameters,
    ) -> Value {
        let Parameters { correction_pawns, correction_pieces, correction_material, .. } = *numbers;
        let Parameters { correction_minors, correction_moves, .. } = *numbers;
        let weights = [
            correction_pawns,
            correction_pieces,
            correction_pieces,
            correction_material,
            correction_minors,
            correction_moves,
        ];
        let turn = board.turn().index();
        let known = self.tables().corrections.iter().zip(correction_keys(board, last));
        let sum: i32 = known.zip(weights).map(|((table, key), weight)| weight * i32::from(table[key][turn].0)).sum();
        (evaluation + sum / 4096).clamp(-value::WIN_BOUND + 1, value::WIN_BOUND - 1)
    }

    /// Requests the memory of a position's corrections before they are needed.
    #[inline]
    pub(super) fn prefetch(&self, board: &Board, last: [MovedTo; 2]) {
        let turn = board.turn().index();
        let known = self.tables().corrections.iter().zip(correction_keys(board, last));
        known.for_each(|(table, key)| prefetch(&table[key][turn]));
    }

    /// Records that the search of a position found `difference` more than its static evaluation.
    pub(super) fn learn_correction(&mut self, board: &Board, depth: i32, difference: Value, last: [MovedTo; 2]) {
        let bonus = (difference * depth / 8).clamp(-CORRECTION_LIMIT / 4, CORRECTION_LIMIT / 4);
        for (table, key) in self.tables_mut().corrections.iter_mut().zip(correction_keys(board, last)) {
            table[key][board.turn().index()].pull(bonus, CORRECTION_LIMIT);
        }
    }
}

/// The places of a position in the tables of corrections: by its pawns, the other men of either colour, the material, the
/// minor pieces, and the last two moves.
#[inline]
fn correction_keys(board: &Board, [last, before]: [MovedTo; 2]) -> [usize; 6] {
    let Keys { pawns, pieces: [white, black], material, minors, .. } = *board.keys();
    let moves = (last.index() * MOVED + before.index()) as u64;
    // Fibonacci hashing (Knuth, The Art of Computer Programming 3, 6.4): the high bits are well mixed.
    let moves = moves.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    [pawns, white, black, material, minors, moves].map(|key| key as usize % CORRECTIONS)
}
