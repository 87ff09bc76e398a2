//! Counting the leaves of the tree of legal moves, the test of move generators.

use super::Board;

/// Leaves at `depth` plies, every one of them made on the board.
pub fn perft(board: &Board, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    let mut leaves = 0;
    for mv in &board.legal_moves() {
        let mut next = board.clone();
        next.play(*mv, board);
        // An unused leaf must not be optimised away.
        let next = std::hint::black_box(&next);
        leaves += if depth == 1 { 1 } else { perft(next, depth - 1) };
    }
    leaves
}
