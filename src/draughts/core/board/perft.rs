//! Counting the leaves of the tree of legal moves, by which generators are compared.

use super::{Board, Rules};

impl Board {
    /// The number of sequences of `depth` legal moves, in plies, from here.
    pub fn perft(&self, depth: u32, rules: Rules) -> u64 {
        if depth == 0 {
            return 1;
        }
        let moves = self.legal_moves(rules);
        if depth == 1 {
            return moves.len() as u64;
        }
        moves.iter().map(|mv| self.after(mv).perft(depth - 1, rules)).sum()
    }
}
