//! The four strategies of the program IntellidAma (E. Rossinelli, 2010), as published.
//!
//! The paper prints one formula, that of [`Strategy::PesoPedine`], and describes the others in
//! words. Numbers that it does not give are marked as ours; the small random amount that it adds
//! belongs to its search (`search::published`).

use super::{Heuristic, Knowledge, Side, has_the_move};
use crate::board::{Board, Color, Direction, Move, Square, Squares};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Strategy {
    /// Weight of the men: 100 a man, 200 a king, nothing else.
    PesoPedine,
    /// Weight times the square of the row, and a penalty for kings on the edge.
    PesoPosizione,
    /// Areas round the corners while there are only men, then the way to promotion; and the move.
    Spettacolo,
    /// A full back rank, and men who advance supported down to the base.
    FullyGuarded,
}

/// Hundredths of a man for a king on the edge (ours).
const EDGE_PENALTY: i32 = 15;
/// The value of having the move (ours).
const THE_MOVE: i32 = 10;
/// The value of every man found behind a man (ours).
const SUPPORT: i32 = 3;
/// The value of every row that a man has advanced (ours).
const STEP: i32 = 2;
/// The value of a back rank of four men (ours).
const FULL_BACK_RANK: i32 = 12;
/// `Spettacolo` plays the final phase below this number of pieces (ours), and with any king.
const FINAL_PHASE: u32 = 8;
/// The value of a step in the more and the less important areas (ours).
const AREA: [i32; 2] = [4, 1];

impl Strategy {
    /// All four, from the least to the most knowledge.
    pub const ALL: [Self; 4] = [Self::PesoPedine, Self::PesoPosizione, Self::Spettacolo, Self::FullyGuarded];

    pub const fn name(self) -> &'static str {
        match self {
            Self::PesoPedine => "peso-pedine",
            Self::PesoPosizione => "peso-posizione",
            Self::Spettacolo => "spettacolo",
            Self::FullyGuarded => "fully-guarded",
        }
    }

    /// The heuristics that come nearest to it.
    pub fn knowledge(self) -> Knowledge {
        use Heuristic::{Advance, Geometry, KingsOnEdge, Material, Support};
        match self {
            Self::PesoPedine => Knowledge::of(&[Material]),
            Self::PesoPosizione => Knowledge::of(&[Material, Advance, KingsOnEdge]),
            Self::Spettacolo => Knowledge::of(&[Material, Geometry, Advance]),
            Self::FullyGuarded => Knowledge::of(&[Material, Advance, Support, KingsOnEdge]),
        }
    }

    /// The value of a position for a side, in hundredths of a man.
    pub fn value(self, board: &Board, side: Color) -> i32 {
        let [own, other] = Side::both(board);
        let value = match self {
            Self::Spettacolo => {
                let last = !board.kings(Color::White).is_empty()
                    || !board.kings(Color::Black).is_empty()
                    || board.occupied().len() < FINAL_PHASE;
                spettacolo(own, last) - spettacolo(other, last) + if has_the_move(board) { THE_MOVE } else { -THE_MOVE }
            }
            _ => self.one_side(own) - self.one_side(other),
        };
        if side == board.to_move() { value } else { -value }
    }

    fn one_side(self, side: Side) -> i32 {
        match self {
            Self::PesoPedine | Self::Spettacolo => weight(side, 200),
            Self::PesoPosizione => peso_posizione(side),
            Self::FullyGuarded => fully_guarded(side),
        }
    }

    /// Returns the largest drop from the static value of a position to that of two plies later at
    /// which it still counts as quiescent. The paper has one such decision for each strategy and
    /// prints none; these are ours. For [`Strategy::PesoPosizione`] it is the value of one more
    /// step of the piece that moved last.
    pub(crate) fn quiescence_margin(self, mover: Color, last: &Move) -> i32 {
        match self {
            Self::PesoPedine => 99,
            Self::PesoPosizione => 100 * (2 * mover.rank(last.to()) + 1),
            Self::Spettacolo | Self::FullyGuarded => 60,
        }
    }
}

fn weight(side: Side, king: i32) -> i32 {
    100 * side.men.len() as i32 + king * side.kings.len() as i32
}

/// A king counts as if on the last row, because the square of the row is meaningless for it.
fn peso_posizione(side: Side) -> i32 {
    let men: i32 = side.men.map(|square| 100 * Side::rank(square).pow(2)).sum();
    men + 200 * 64 * side.kings.len() as i32 - EDGE_PENALTY * (side.kings & Squares::EDGES).len() as i32
}

/// The own broken corner (*biscacco*) is at the left hand, the own safe corner (*cantone*) at the right; the opponent's
/// broken corner lies before the own safe one. Keep the men of the first at home, move those of the second towards the
/// opponent's broken corner.
fn spettacolo(side: Side, last_phase: bool) -> i32 {
    let [more, less] = AREA;
    let area = |square: Square| {
        let rank = Side::rank(square);
        match (last_phase, square.column() < 4, rank <= 4) {
            (true, ..) => more * rank,
            (_, true, true) => more * (5 - rank),
            (_, true, false) => less * rank,
            (_, false, true) => less * rank,
            (_, false, false) => more * rank,
        }
    };
    weight(side, 200) + side.men.map(area).sum::<i32>()
}

fn fully_guarded(side: Side) -> i32 {
    let back_rank = Squares::row(7);
    let advance: i32 = side.men.map(|square| STEP * (Side::rank(square) - 1)).sum();
    let full = (side.men & back_rank) == back_rank;
    weight(side, 250) + advance + SUPPORT * support(side.men) + if full { FULL_BACK_RANK } else { 0 }
        - EDGE_PENALTY * (side.kings & Squares::SIDE_EDGES).len() as i32
}

/// Returns the number of men found behind the men of a side, searching on from each found man to
/// the base: a man at the top of a pyramid counts all ways down.
fn support(men: Squares) -> i32 {
    let mut found = [0; 32];
    // From the base up, so that the men behind a man are counted before it: turned, the base comes
    // first.
    for square in men.rotated().map(Square::rotated) {
        found[square.index()] = [Direction::DownLeft, Direction::DownRight]
            .into_iter()
            .filter_map(|direction| square.step(direction))
            .filter(|behind| men.has(*behind))
            .map(|behind| 1 + found[behind.index()])
            .sum();
    }
    found.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(strategy: Strategy, fen: &str) -> i32 {
        strategy.value(&fen.parse().expect("a position"), Color::White)
    }

    #[test]
    fn formula_counts_men_and_kings() {
        assert_eq!(value(Strategy::PesoPedine, "W:W21,22,K3:B1,K30"), 100);
        assert_eq!(value(Strategy::PesoPedine, "B:WK3:B1,2,K30"), -200);
    }

    #[test]
    fn position_weighs_rows_and_edges() {
        // White's man on its sixth row, Black's on its first.
        assert_eq!(value(Strategy::PesoPosizione, "W:W9:B1"), 100 * 36 - 100);
        assert!(value(Strategy::PesoPosizione, "W:WK18:B1") > value(Strategy::PesoPosizione, "W:WK17:B1"));
    }

    #[test]
    fn pyramids_count_every_way_down() {
        // 26 stands on 30 and 31 (two men), 22 on 26 (one, and the two behind it).
        assert_eq!(support([22, 26, 30, 29].into_iter().filter_map(Square::new).collect()), 2 + 3);
        assert!(
            value(Strategy::FullyGuarded, "W:W29,30,31,32:B1") > value(Strategy::FullyGuarded, "W:W25,26,27,28:B1")
        );
    }

    #[test]
    fn spettacolo_keeps_its_bug() {
        let home = "W:W25,29,28,32,23:B1,2,3,5,6";
        let broken = value(Strategy::Spettacolo, "W:W21,29,28,32,23:B1,2,3,5,6");
        let safe = value(Strategy::Spettacolo, "W:W25,29,24,32,23:B1,2,3,5,6");
        assert!(broken < value(Strategy::Spettacolo, home));
        assert!(safe > broken);
    }
}
