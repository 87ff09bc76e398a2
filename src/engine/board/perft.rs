//! Counting the leaves of the tree of legal moves, the test of move generators.

use super::Board;

/// Leaves at `depth` plies, every one of them made on the board.
pub fn perft(board: &Board, depth: u32) -> u64 {
    if depth == 0 {
        return 1;
    }
    board.legal_moves().into_iter().map(|mv| perft(&board.after(mv), depth - 1)).sum()
}
