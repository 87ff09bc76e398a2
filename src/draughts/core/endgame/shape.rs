//! Numbers of positions: first by their pieces, then by the squares.
//!
//! The side to move is always White here; positions with Black to move are turned. Squares of equal
//! pieces are numbered by the combinatorial number system: the set `a < b < c` has the number
//! `C(a,1) + C(b,2) + C(c,3)`.

use std::sync::LazyLock;

use crate::board::{Board, Color, Square, Squares};

pub(super) const MOST_PIECES: usize = 4;
/// White's men are never on row 0, Black's never on row 7.
const SQUARES_OF_MEN: usize = 28;
const SQUARES_OF_KINGS: usize = 32;

/// The number of pieces of each kind; each side has at least one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    white_men: usize,
    white_kings: usize,
    black_men: usize,
    black_kings: usize,
}

impl Shape {
    /// Iterates over all shapes, in an order in which every move leads to an earlier shape, to the
    /// same, or to its mirror: fewer pieces first, then fewer men.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        ALL.iter().copied()
    }

    pub(super) fn of(board: &Board) -> Self {
        let count = |squares: Squares| squares.len() as usize;
        Self {
            white_men: count(board.men(Color::White)),
            white_kings: count(board.kings(Color::White)),
            black_men: count(board.men(Color::Black)),
            black_kings: count(board.kings(Color::Black)),
        }
    }

    pub(super) const fn pieces(self) -> usize {
        self.white_men + self.white_kings + self.black_men + self.black_kings
    }

    /// The shape after a quiet move, when the board is turned.
    pub(super) const fn mirror(self) -> Self {
        Self {
            white_men: self.black_men,
            white_kings: self.black_kings,
            black_men: self.white_men,
            black_kings: self.white_kings,
        }
    }

    pub(super) fn place(self) -> Option<usize> {
        (self.pieces() <= MOST_PIECES).then_some(())?;
        PLACES[self.code()].map(usize::from)
    }

    const fn code(self) -> usize {
        ((self.white_men * 5 + self.white_kings) * 5 + self.black_men) * 5 + self.black_kings
    }

    /// Returns the number of position numbers, including unused ones with two pieces on a square.
    pub(super) fn positions(self) -> usize {
        CHOOSE[SQUARES_OF_MEN][self.white_men]
            * CHOOSE[SQUARES_OF_MEN][self.black_men]
            * CHOOSE[SQUARES_OF_KINGS][self.white_kings]
            * CHOOSE[SQUARES_OF_KINGS][self.black_kings]
    }

    pub(super) fn index(self, board: &Board) -> usize {
        let mut index = number(Squares(board.men(Color::White).0 >> 4));
        index = index * CHOOSE[SQUARES_OF_MEN][self.black_men] + number(board.men(Color::Black));
        index = index * CHOOSE[SQUARES_OF_KINGS][self.white_kings] + number(board.kings(Color::White));
        index * CHOOSE[SQUARES_OF_KINGS][self.black_kings] + number(board.kings(Color::Black))
    }

    /// The position of a number; none where two pieces would share a square.
    pub(super) fn board(self, mut index: usize) -> Option<Board> {
        let mut take = |squares: usize, pieces: usize| {
            let all = CHOOSE[squares][pieces];
            let set = set(index % all, pieces);
            index /= all;
            set
        };
        let black_kings = take(SQUARES_OF_KINGS, self.black_kings);
        let white_kings = take(SQUARES_OF_KINGS, self.white_kings);
        let black_men = take(SQUARES_OF_MEN, self.black_men);
        let white_men = Squares(take(SQUARES_OF_MEN, self.white_men).0 << 4);
        let (white, black, kings) = (white_men | white_kings, black_men | black_kings, white_kings | black_kings);
        let apart = (white | black).len() as usize == self.pieces();
        apart.then(|| Board::of(white, black, kings, Color::White))
    }
}

/// `CHOOSE[n][k]`: how many sets of `k` there are of `n`.
const CHOOSE: [[usize; MOST_PIECES + 1]; 33] = {
    let mut table = [[0; MOST_PIECES + 1]; 33];
    let mut n = 0;
    while n <= 32 {
        table[n][0] = 1;
        let mut k = 1;
        while k <= MOST_PIECES && n > 0 {
            table[n][k] = table[n - 1][k - 1] + table[n - 1][k];
            k += 1;
        }
        n += 1;
    }
    table
};

/// The number of a set among those of its size.
fn number(set: Squares) -> usize {
    set.enumerate().map(|(smaller, square)| CHOOSE[square.index()][smaller + 1]).sum()
}

fn set(mut number: usize, pieces: usize) -> Squares {
    let mut set = Squares::NONE;
    for k in (1..=pieces).rev() {
        let mut square = k - 1;
        while square < 31 && CHOOSE[square + 1][k] <= number {
            square += 1;
        }
        number -= CHOOSE[square][k];
        set = set | Square::from_index(square as u32).set();
    }
    set
}

/// A shape and its mirror follow each other, the one with the smaller code first.
static ALL: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let of_code = |code: usize| Shape {
        white_men: code / 125,
        white_kings: code / 25 % 5,
        black_men: code / 5 % 5,
        black_kings: code % 5,
    };
    let mut all: Vec<Shape> = (0..625).map(of_code).collect();
    all.retain(|shape| {
        let [white, black] = [shape.white_men + shape.white_kings, shape.black_men + shape.black_kings];
        white > 0 && black > 0 && white + black <= MOST_PIECES
    });
    all.sort_by_key(|shape| {
        let (code, mirror) = (shape.code(), shape.mirror().code());
        (shape.pieces(), shape.white_men + shape.black_men, code.min(mirror), code)
    });
    all
});

/// The place of each shape by its code.
static PLACES: LazyLock<[Option<u8>; 625]> = LazyLock::new(|| {
    let mut places = [None; 625];
    for (place, shape) in (0..).zip(Shape::all()) {
        places[shape.code()] = Some(place);
    }
    places
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_map_to_unique_numbers() {
        for shape in Shape::all().filter(|shape| shape.pieces() <= 3) {
            let step = 1 + shape.positions() / 1_000;
            for index in (0..shape.positions()).step_by(step) {
                let Some(board) = shape.board(index) else { continue };
                assert_eq!((Shape::of(&board), shape.index(&board)), (shape, index));
            }
        }
    }

    #[test]
    fn shapes_are_in_solvable_order() {
        let rank = |shape: &Shape| (shape.pieces(), shape.white_men + shape.black_men);
        assert_eq!(ALL.len(), 4 + 12 + 25);
        assert!(ALL.is_sorted_by_key(rank));
        for (place, shape) in ALL.iter().enumerate() {
            assert_eq!(shape.place(), Some(place));
            assert!(shape.mirror().place().is_some_and(|mirror| mirror.abs_diff(place) <= 1));
        }
    }
}
