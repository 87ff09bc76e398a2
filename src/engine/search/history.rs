//! The search's memory of moves and of errors of its evaluation.
//!
//! Every number is pulled towards the newest result by "gravity": `h += bonus - h * |bonus| /
//! limit` keeps it within ±limit and forgets old results. All tables belong to one thread.

use super::Parameters;
use super::value::{self, Value};
use crate::board::{Bitboard, Board, Color, Move, Piece, Role};

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
    /// The pieces and targets of the moves 1, 2 and 4 plies before.
    pub recent: [MovedTo; 3],
    pub threats: Bitboard,
}

/// Quiet moves by from and to.
type FromTo = [Learnt; 64 * 64];

/// Entries of each table of corrections.
const CORRECTIONS: usize = 16_384;
/// The bound of a correction, in 1/64 of a centipawn before weighing.
const CORRECTION_LIMIT: i32 = 1024;

type CorrectionTable = Box<[[Learnt; 2]]>;

pub(super) struct Histories {
    /// Quiet moves by colour, by whether the man leaves an attacked square and whether it goes to one, and by from and to.
    quiet: Box<[[FromTo; 4]; 2]>,
    /// Captures by piece and target, and role taken.
    captures: Box<[[Learnt; 6]]>,
    /// Quiet moves as answers to an earlier move.
    continuations: Box<[Learnt]>,
    /// Keyed by the pawns.
    pawns: CorrectionTable,
    /// Keyed by the other men, of either colour.
    pieces: [CorrectionTable; 2],
    /// Keyed by the material.
    material: CorrectionTable,
}

fn zeroed<T: Clone + Default>(len: usize) -> Box<[T]> {
    vec![T::default(); len].into_boxed_slice()
}

impl Histories {
    pub(super) fn new() -> Self {
        Self {
            quiet: Box::new([[[Learnt(0); 64 * 64]; 4]; 2]),
            captures: zeroed(MOVED),
            continuations: zeroed(MOVED * MOVED),
            pawns: zeroed(CORRECTIONS),
            pieces: [zeroed(CORRECTIONS), zeroed(CORRECTIONS)],
            material: zeroed(CORRECTIONS),
        }
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
        let answer = |earlier: MovedTo| i32::from(self.continuations[earlier.index() * MOVED + moved].0);
        i32::from(self.quiet[board.turn().index()][Self::attacked(mv, *threats)][Self::from_to(mv)].0)
            + answer(recent[0])
            + answer(recent[1])
            + answer(recent[2]) / 2
    }

    #[inline]
    pub(super) fn capture(&self, board: &Board, mv: Move) -> i32 {
        let taken = board.captured(mv).unwrap_or(Role::Pawn);
        i32::from(self.captures[MovedTo::new(board, mv).index()][taken.index()].0)
    }

    /// A quiet move did well (or not) at this depth.
    pub(super) fn learn_quiet(&mut self, board: &Board, mv: Move, path: &Path, bonus: i32) {
        let moved = MovedTo::new(board, mv);
        self.quiet[board.turn().index()][Self::attacked(mv, path.threats)][Self::from_to(mv)].pull(bonus, LIMIT);
        for earlier in path.recent.into_iter().filter(|earlier| *earlier != MovedTo::NONE) {
            self.continuations[earlier.index() * MOVED + moved.index()].pull(bonus, LIMIT);
        }
    }

    /// A capture did well (or not).
    pub(super) fn learn_capture(&mut self, board: &Board, mv: Move, bonus: i32) {
        let taken = board.captured(mv).unwrap_or(Role::Pawn);
        self.captures[MovedTo::new(board, mv).index()][taken.index()].pull(bonus, LIMIT);
    }

    /// The static evaluation with what searches of like positions have added to it on average.
    #[inline]
    pub(super) fn corrected(&self, board: &Board, evaluation: Value, numbers: &Parameters) -> Value {
        let (keys, turn) = (board.keys(), board.turn().index());
        let of = |table: &CorrectionTable, key: u64| i32::from(table[key as usize % CORRECTIONS][turn].0);
        let sum = numbers.correction_pawns * of(&self.pawns, keys.pawns)
            + numbers.correction_pieces * (of(&self.pieces[0], keys.pieces[0]) + of(&self.pieces[1], keys.pieces[1]))
            + numbers.correction_material * of(&self.material, keys.material);
        (evaluation + sum / 4096).clamp(-value::WIN_BOUND + 1, value::WIN_BOUND - 1)
    }

    /// Records that the search of a position found `difference` more than its static evaluation.
    pub(super) fn learn_correction(&mut self, board: &Board, depth: i32, difference: Value) {
        let bonus = (difference * depth / 8).clamp(-CORRECTION_LIMIT / 4, CORRECTION_LIMIT / 4);
        let (keys, turn) = (*board.keys(), board.turn().index());
        let learn = |table: &mut CorrectionTable, key: u64| {
            table[key as usize % CORRECTIONS][turn].pull(bonus, CORRECTION_LIMIT);
        };
        learn(&mut self.pawns, keys.pawns);
        learn(&mut self.pieces[Color::White.index()], keys.pieces[0]);
        learn(&mut self.pieces[Color::Black.index()], keys.pieces[1]);
        learn(&mut self.material, keys.material);
    }
}
