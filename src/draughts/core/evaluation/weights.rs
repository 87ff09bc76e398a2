//! Value of each feature in hundredths of a man: with 24 pieces on the board, and with none.
//!
//! Fitted by `concilio-lab draughts fit --games 4000 --nodes 1000 --tables data/draughts.tables` to 280,516 quiet positions of
//! games between equal players with all knowledge, and scaled so that a man in the middle of the board is worth about 100. A
//! fit needs [`features`](super::features) of positions with results and changes nothing but this table.

/// In the order of [`FEATURE_NAMES`](super::FEATURE_NAMES).
pub(super) const WEIGHTS: [[i32; 2]; 21] = [
    [81, 43],
    [166, 153],
    [53, 2],
    [35, 20],
    [19, 39],
    [6, 49],
    [9, 60],
    [51, 50],
    [-20, 9],
    [-4, 16],
    [-2, -7],
    [9, -6],
    [2, -2],
    [9, 5],
    [53, 17],
    [17, 61],
    [-29, -25],
    [4, 25],
    [10, 1],
    [43, -3],
    [35, -12],
];
