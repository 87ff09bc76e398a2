//! Random numbers; their exclusive-or is the key of a position (Zobrist hashing).

use super::types::{Color, Piece, Role, Square};

struct Keys {
    pieces: [[u64; 64]; 12],
    /// Keys by piece and the number of equal pieces before it.
    counts: [[u64; 16]; 12],
    castling: [u64; 16],
    en_passant: [u64; 8],
    black_to_move: u64,
}

/// Advances SplitMix64 (Steele, Lea, Flood 2014) by one step.
const fn next(state: u64) -> (u64, u64) {
    let state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (state, z ^ (z >> 31))
}

const fn row<const N: usize>(mut state: u64) -> (u64, [u64; N]) {
    let mut row = [0; N];
    let mut i = 0;
    while i < N {
        (state, row[i]) = next(state);
        i += 1;
    }
    (state, row)
}

const fn make_keys() -> Keys {
    let mut keys =
        Keys { pieces: [[0; 64]; 12], counts: [[0; 16]; 12], castling: [0; 16], en_passant: [0; 8], black_to_move: 0 };
    let mut state = 1993;
    let mut piece = 0;
    while piece < 12 {
        (state, keys.pieces[piece]) = row(state);
        (state, keys.counts[piece]) = row(state);
        piece += 1;
    }
    (state, keys.castling) = row(state);
    (state, keys.en_passant) = row(state);
    (_, keys.black_to_move) = next(state);
    keys.castling[0] = 0;
    keys
}

static KEYS: Keys = make_keys();

#[inline]
pub(super) fn piece(piece: Piece, square: Square) -> u64 {
    KEYS.pieces[piece.index()][square.index()]
}

/// Returns the key of the `n`-th piece of its kind, counted from 0: the sum over all pieces is the
/// key of the material.
#[inline]
pub(super) fn count(color: Color, role: Role, n: usize) -> u64 {
    KEYS.counts[Piece::new(color, role).index()][n & 15]
}

/// Returns the key of a set of castling rights, four bits.
#[inline]
pub(super) fn castling(rights: u8) -> u64 {
    KEYS.castling[usize::from(rights & 15)]
}

/// Returns the key of the file on which a pawn can be captured en passant.
#[inline]
pub(super) fn en_passant(square: Square) -> u64 {
    KEYS.en_passant[square.file()]
}

#[inline]
pub(super) fn black_to_move() -> u64 {
    KEYS.black_to_move
}
