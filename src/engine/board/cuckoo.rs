//! Detection of a possible repetition one ply early (Marcel van Kervinck's cuckoo tables).
//!
//! If the keys of two positions differ by exactly one reversible move, the player to move can go back to the earlier
//! one. A cuckoo hash finds that move from the difference of the keys.

use std::sync::LazyLock;

use super::{
    Bitboard, Board, attacks,
    types::{Piece, Role, Square},
    zobrist,
};

const SIZE: usize = 8192;

struct Table {
    keys: Box<[u64; SIZE]>,
    moves: Box<[(Square, Square); SIZE]>,
}

const fn first(key: u64) -> usize {
    key as usize % SIZE
}

const fn second(key: u64) -> usize {
    (key >> 16) as usize % SIZE
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table { keys: Box::new([0; SIZE]), moves: Box::new([(Square::new(0), Square::new(0)); SIZE]) };
    for piece in Piece::ALL.into_iter().filter(|piece| piece.role() != Role::Pawn) {
        for from in Bitboard::ALL {
            for to in attacks::of(piece.role(), from, Bitboard::EMPTY).filter(|to| *to > from) {
                let mut key = zobrist::piece(piece, from) ^ zobrist::piece(piece, to) ^ zobrist::black_to_move();
                let mut entry = (from, to);
                let mut place = first(key);
                // A new entry pushes out the old one, which goes to its other place, and so on until a place was empty.
                loop {
                    std::mem::swap(&mut key, &mut table.keys[place]);
                    std::mem::swap(&mut entry, &mut table.moves[place]);
                    if key == 0 {
                        break;
                    }
                    place = if place == first(key) { second(key) } else { first(key) };
                }
            }
        }
    }
    table
});

impl Board {
    /// Returns true if the player to move can reach by one reversible move a position that the
    /// search has already passed. `keys` are those of the positions up to this one, of which the
    /// last `ply` lie in the search.
    pub fn can_repeat(&self, keys: &[u64], ply: usize) -> bool {
        let reach = usize::from(self.halfmoves).min(ply.saturating_sub(1));
        if reach < 3 {
            return false;
        }
        let table = &*TABLE;
        (3..=reach).step_by(2).any(|back| {
            let Some(earlier) = keys.len().checked_sub(back + 1).and_then(|i| keys.get(i)) else { return false };
            let difference = self.keys.position ^ earlier;
            [first(difference), second(difference)].into_iter().any(|place| {
                let (from, to) = table.moves[place];
                table.keys[place] == difference
                    && (attacks::between(from, to) & self.occupied()).is_empty()
                    && self.color(self.turn).has(if self.occupied().has(from) { from } else { to })
            })
        })
    }
}
