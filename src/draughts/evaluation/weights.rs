//! What each feature is worth in hundredths of a man: with 24 pieces on the board, and with none.
//!
//! These are set by hand, not fitted to games yet. A fit needs [`features`](super::features) of positions with results and
//! changes nothing but this table.

use super::FEATURES;

/// In the order of [`Feature::ALL`](super::Feature::ALL).
pub(super) const WEIGHTS: [[i32; 2]; FEATURES] = [
    [100, 100],
    [200, 180],
    [0, 0],
    [2, 4],
    [4, 8],
    [6, 14],
    [12, 24],
    [25, 45],
    [3, 0],
    [4, 0],
    [3, 0],
    [-3, 0],
    [2, 5],
    [3, 2],
    [6, 8],
    [6, 6],
    [-3, -3],
    [1, 1],
    [-4, -6],
    [4, 6],
    [2, 3],
];
