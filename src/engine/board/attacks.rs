//! Attacks of pieces on a given board.
//!
//! Leapers read a table made at compile time. Sliders use magic multiplication ("fancy magics",
//! Pradyumna Kannan): the relevant occupied squares, times a number found by trial, index a table
//! of attacks. The slider table is filled at its first use (well under 10 ms).

use std::sync::LazyLock;

use super::{
    bitboard::Bitboard,
    magics::{BISHOP_MAGICS, ROOK_MAGICS},
    types::{Color, Role, Square},
};

const ROOK_STEPS: [(i32, i32); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const BISHOP_STEPS: [(i32, i32); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
const KNIGHT_STEPS: [(i32, i32); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];
const KING_STEPS: [(i32, i32); 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];

/// Returns the squares reached from `square` in `steps`, at most `reach` times each, up to and
/// including the first of `occupied`.
const fn walk(square: usize, steps: &[(i32, i32)], reach: usize, occupied: u64) -> u64 {
    let mut reached = 0;
    let mut i = 0;
    while i < steps.len() {
        let (mut file, mut rank) = ((square % 8) as i32, (square / 8) as i32);
        let mut left = reach;
        while left > 0 {
            file += steps[i].0;
            rank += steps[i].1;
            if file < 0 || file > 7 || rank < 0 || rank > 7 {
                break;
            }
            let bit = 1u64 << (rank * 8 + file);
            reached |= bit;
            if occupied & bit != 0 {
                break;
            }
            left -= 1;
        }
        i += 1;
    }
    reached
}

const fn table(steps: &[(i32, i32)], reach: usize) -> [Bitboard; 64] {
    let mut table = [Bitboard::EMPTY; 64];
    let mut square = 0;
    while square < 64 {
        table[square] = Bitboard(walk(square, steps, reach, 0));
        square += 1;
    }
    table
}

static KNIGHT: [Bitboard; 64] = table(&KNIGHT_STEPS, 1);
static KING: [Bitboard; 64] = table(&KING_STEPS, 1);
static ROOK_RAYS: [Bitboard; 64] = table(&ROOK_STEPS, 7);
static BISHOP_RAYS: [Bitboard; 64] = table(&BISHOP_STEPS, 7);
static PAWN: [[Bitboard; 64]; 2] = [table(&[(-1, 1), (1, 1)], 1), table(&[(-1, -1), (1, -1)], 1)];

/// The start of a square's attacks in the table, and their index.
#[derive(Clone, Copy)]
struct Magic {
    mask: u64,
    factor: u64,
    shift: u32,
    start: usize,
}

impl Magic {
    #[inline]
    fn index(&self, occupied: u64) -> usize {
        self.start + ((occupied & self.mask).wrapping_mul(self.factor) >> self.shift) as usize
    }
}

struct Sliders {
    rook: [Magic; 64],
    bishop: [Magic; 64],
    answers: Box<[Bitboard]>,
}

/// 2^relevant bits summed over the squares: 102400 for rooks, 5248 for bishops.
const ANSWERS: usize = 102_400 + 5_248;

static SLIDERS: LazyLock<Sliders> = LazyLock::new(|| {
    let mut answers = vec![Bitboard::EMPTY; ANSWERS].into_boxed_slice();
    let mut start = 0;
    let mut fill = |square: usize, steps: &[(i32, i32)], factor: u64| {
        let mask = relevant(square, steps);
        let magic = Magic { mask, factor, shift: 64 - mask.count_ones(), start };
        start += 1 << mask.count_ones();
        // All subsets of the mask, by the carry-rippler.
        let mut occupied = 0u64;
        loop {
            answers[magic.index(occupied)] = Bitboard(walk(square, steps, 7, occupied));
            occupied = occupied.wrapping_sub(mask) & mask;
            if occupied == 0 {
                break;
            }
        }
        magic
    };
    let rook = std::array::from_fn(|square| fill(square, &ROOK_STEPS, ROOK_MAGICS[square]));
    let bishop = std::array::from_fn(|square| fill(square, &BISHOP_STEPS, BISHOP_MAGICS[square]));
    Sliders { rook, bishop, answers }
});

/// Returns the squares that can block a slider: its lines without their last squares.
fn relevant(square: usize, steps: &[(i32, i32)]) -> u64 {
    steps.iter().fold(0, |mask, step| {
        let line = Bitboard(walk(square, &[*step], 7, 0));
        mask | line.filter(|s| walk(s.index(), &[*step], 1, 0) != 0).fold(0, |inner, s| inner | 1 << s.index())
    })
}

#[inline]
pub fn knight(square: Square) -> Bitboard {
    KNIGHT[square.index()]
}

#[inline]
pub fn king(square: Square) -> Bitboard {
    KING[square.index()]
}

/// Returns the attacks of a pawn of `color` on `square`.
#[inline]
pub fn pawn(square: Square, color: Color) -> Bitboard {
    PAWN[color.index()][square.index()]
}

/// Returns the attacks of a bishop on `square` with `occupied` squares.
#[inline]
pub fn bishop(square: Square, occupied: Bitboard) -> Bitboard {
    let sliders = &*SLIDERS;
    sliders.answers[sliders.bishop[square.index()].index(occupied.0)]
}

/// Returns the attacks of a rook on `square` with `occupied` squares.
#[inline]
pub fn rook(square: Square, occupied: Bitboard) -> Bitboard {
    let sliders = &*SLIDERS;
    sliders.answers[sliders.rook[square.index()].index(occupied.0)]
}

/// Returns the attacks of a queen on `square` with `occupied` squares.
#[inline]
pub fn queen(square: Square, occupied: Bitboard) -> Bitboard {
    bishop(square, occupied) | rook(square, occupied)
}

/// Returns the attacks of a rook on `square` of an empty board.
#[inline]
pub fn rook_rays(square: Square) -> Bitboard {
    ROOK_RAYS[square.index()]
}

/// Returns the attacks of a bishop on `square` of an empty board.
#[inline]
pub fn bishop_rays(square: Square) -> Bitboard {
    BISHOP_RAYS[square.index()]
}

/// Returns the attacks of a piece other than a pawn on `square`.
#[inline]
pub fn of(role: Role, square: Square, occupied: Bitboard) -> Bitboard {
    match role {
        Role::Pawn => Bitboard::EMPTY,
        Role::Knight => knight(square),
        Role::Bishop => bishop(square, occupied),
        Role::Rook => rook(square, occupied),
        Role::Queen => queen(square, occupied),
        Role::King => king(square),
    }
}

/// The squares between two squares of a common line, and the whole line.
struct Lines {
    between: [[Bitboard; 64]; 64],
    line: [[Bitboard; 64]; 64],
}

static LINES: Lines = lines();

const fn lines() -> Lines {
    let mut lines = Lines { between: [[Bitboard::EMPTY; 64]; 64], line: [[Bitboard::EMPTY; 64]; 64] };
    let mut a = 0;
    while a < 64 {
        let mut i = 0;
        while i < 8 {
            let (file, rank) = if i < 4 { ROOK_STEPS[i] } else { BISHOP_STEPS[i - 4] };
            let whole = walk(a, &[(file, rank), (-file, -rank)], 7, 0) | 1 << a;
            // Step by step along the ray.
            let mut before = 0;
            let mut reach = 1;
            while reach <= 7 {
                let until = walk(a, &[(file, rank)], reach, 0);
                let step = until & !before;
                if step == 0 {
                    break;
                }
                let b = step.trailing_zeros() as usize;
                lines.between[a][b] = Bitboard(before);
                lines.line[a][b] = Bitboard(whole);
                before = until;
                reach += 1;
            }
            i += 1;
        }
        a += 1;
    }
    lines
}

/// The squares strictly between two squares of a common line; empty if there is none.
#[inline]
pub fn between(a: Square, b: Square) -> Bitboard {
    LINES.between[a.index()][b.index()]
}

/// The whole line through two squares; empty if there is none.
#[inline]
pub fn line(a: Square, b: Square) -> Bitboard {
    LINES.line[a.index()][b.index()]
}
