//! Knowledge by letters: a sum of features, each with a weight at the start and one at the end of the game.

use super::{Heuristic, Knowledge, Side, has_the_move, weights::WEIGHTS};
use crate::board::{Board, Direction, Squares};

pub const FEATURES: usize = 21;

/// The features by name, each with the heuristic that it belongs to.
pub const FEATURE_NAMES: [(Heuristic, &str); FEATURES] = [
    (Heuristic::Material, "man"),
    (Heuristic::Material, "king"),
    (Heuristic::Advance, "man on its second row"),
    (Heuristic::Advance, "man on its third row"),
    (Heuristic::Advance, "man on its fourth row"),
    (Heuristic::Advance, "man on its fifth row"),
    (Heuristic::Advance, "man on its sixth row"),
    (Heuristic::Advance, "man on its seventh row"),
    (Heuristic::Geometry, "man at home in the safe corner"),
    (Heuristic::Geometry, "man at home in the broken corner"),
    (Heuristic::Geometry, "man in the centre"),
    (Heuristic::Geometry, "man on the side edge"),
    (Heuristic::Geometry, "the move"),
    (Heuristic::Support, "man with a man behind it"),
    (Heuristic::Support, "man on the back rank"),
    (Heuristic::Support, "full back rank"),
    (Heuristic::Support, "man with an empty square behind and the opponent before it"),
    (Heuristic::Support, "free step for a man"),
    (Heuristic::KingsOnEdge, "king on the edge"),
    (Heuristic::KingsOnEdge, "king in the centre"),
    (Heuristic::KingsOnEdge, "free step for a king"),
];

const fn squares<const N: usize>(numbers: [u8; N]) -> Squares {
    let (mut bits, mut i) = (0, 0);
    while i < N {
        bits |= 1 << (numbers[i] - 1);
        i += 1;
    }
    Squares(bits)
}

const SAFE_CORNER: Squares = squares([28, 32, 31]);
const BROKEN_CORNER: Squares = squares([25, 29, 30]);
const CENTRE: Squares = squares([10, 11, 14, 15, 18, 19, 22, 23]);

/// Returns the counts for the side to move, less those for the other.
pub fn features(board: &Board) -> [i32; FEATURES] {
    let [own, other] = Side::both(board);
    let (mine, theirs) = (count(own, other), count(other, own));
    let mut difference: [i32; FEATURES] = std::array::from_fn(|feature| mine[feature] - theirs[feature]);
    difference[12] = if has_the_move(board) { 1 } else { -1 };
    difference
}

/// The features of one side; the move is not among them, for only one side has it.
fn count(own: Side, other: Side) -> [i32; FEATURES] {
    let Side { men, kings } = own;
    let against = other.pieces().rotated();
    let empty = !(own.pieces() | against);
    let on = |set: Squares| set.len() as i32;
    let row = |rank: u8| on(men & Squares::row(8 - rank));
    let behind = |set: Squares| (set.step(Direction::UpLeft), set.step(Direction::UpRight));
    let (left, right) = behind(own.pieces());
    let back_rank = men & Squares::row(7);
    let before = |direction| against.step(direction);
    let open_behind = |direction| empty.step(direction);
    let hanging = men
        & (before(Direction::DownLeft) & open_behind(Direction::UpRight)
            | before(Direction::DownRight) & open_behind(Direction::UpLeft));
    let steps = |set: Squares, ways: &[Direction]| ways.iter().map(|way| on(set.step(*way) & empty)).sum::<i32>();
    [
        on(men),
        on(kings),
        row(2),
        row(3),
        row(4),
        row(5),
        row(6),
        row(7),
        on(men & SAFE_CORNER),
        on(men & BROKEN_CORNER),
        on(men & CENTRE),
        on(men & Squares::SIDE_EDGES),
        0,
        on(men & (left | right)),
        on(back_rank),
        i32::from(back_rank == Squares::row(7)),
        on(hanging),
        steps(men, &[Direction::UpLeft, Direction::UpRight]),
        on(kings & Squares::EDGES),
        on(kings & CENTRE),
        steps(kings, &Direction::ALL),
    ]
}

/// The value for the side to move. The weights pass from those of the start to those of the end as pieces leave.
pub(super) fn value(board: &Board, knowledge: Knowledge) -> i32 {
    let pieces = board.occupied().len().min(24) as i32;
    let (mut start, mut end) = (0, 0);
    for ((difference, (heuristic, _)), weight) in features(board).into_iter().zip(FEATURE_NAMES).zip(WEIGHTS) {
        if knowledge.has(heuristic) {
            start += difference * weight[0];
            end += difference * weight[1];
        }
    }
    (start * pieces + end * (24 - pieces)) / 24
}
