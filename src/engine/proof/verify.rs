//! A proof played through once more, against every defence, on real boards.
//!
//! The table of the search knows positions and not the ways to them, so that a proof in it might rest on a repetition, on too
//! many moves without a capture or a pawn's move, or on a line that comes back into itself. Here the attacker's moves of the
//! table make a graph; it is a proof if every line in it ends with mate, no position comes back on any line, none of them has
//! been on the board twice already, and the longest line ends before the fifty-move rule could.

use std::collections::HashMap;

use crate::board::{Board, Move};

/// A forced mate: proved against every defence, by the moves that the attacker plays, which need not be the shortest ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mate {
    /// The attacker's moves until mate against the longest defence.
    pub moves: u32,
    /// That line, the attacker's first move first.
    pub line: Vec<Move>,
}

pub(super) struct Proof<'a> {
    /// The attacker's move in a proved position, by its key.
    pub proved: &'a dyn Fn(u64) -> Option<Move>,
    /// Positions that may not come.
    pub barred: &'a [u64],
}

/// Plies to mate by position; `None` while its lines are being played.
type Seen = HashMap<u64, Option<u32>>;

impl Proof<'_> {
    pub(super) fn verify(&self, root: &Board) -> Option<Mate> {
        let mut seen = Seen::new();
        let plies = self.attack(root, &mut seen)?;
        if u32::from(root.halfmoves()) + plies > 100 {
            return None;
        }
        Some(Mate { moves: plies.div_ceil(2), line: self.longest_line(root, &seen) })
    }

    /// Plies to mate with the attacker to move.
    fn attack(&self, board: &Board, seen: &mut Seen) -> Option<u32> {
        self.once(board, seen, |proof, seen| {
            let after = board.after(proof.best(board)?);
            Some(proof.defend(&after, seen)? + 1)
        })
    }

    /// Does the same with the defender to move.
    fn defend(&self, board: &Board, seen: &mut Seen) -> Option<u32> {
        self.once(board, seen, |proof, seen| {
            let replies = board.legal_moves();
            if replies.is_empty() {
                return board.in_check().then_some(0);
            }
            let plies = replies.into_iter().map(|reply| proof.attack(&board.after(reply), seen));
            Some(plies.collect::<Option<Vec<u32>>>()?.into_iter().max()? + 1)
        })
    }

    /// Looks at a position once. One that comes back while its own lines are being played makes no proof.
    fn once(&self, board: &Board, seen: &mut Seen, look: impl FnOnce(&Self, &mut Seen) -> Option<u32>) -> Option<u32> {
        let key = board.keys().position;
        if let Some(known) = seen.get(&key) {
            return *known;
        }
        if self.barred.contains(&key) {
            return None;
        }
        seen.insert(key, None);
        let plies = look(self, seen)?;
        seen.insert(key, Some(plies));
        Some(plies)
    }

    /// The attacker's move, if the position is proved.
    fn best(&self, board: &Board) -> Option<Move> {
        let best = (self.proved)(board.keys().position);
        best.filter(|mv| board.is_pseudo_legal(*mv) && board.is_legal(*mv))
    }

    fn longest_line(&self, root: &Board, seen: &Seen) -> Vec<Move> {
        let mut line = Vec::new();
        let mut board = root.clone();
        while let Some(attack) = self.best(&board) {
            line.push(attack);
            board = board.after(attack);
            let plies = |reply: &Move| seen.get(&board.after(*reply).keys().position).copied().flatten();
            let Some(reply) = board.legal_moves().into_iter().max_by_key(plies) else { break };
            line.push(reply);
            board = board.after(reply);
        }
        line
    }
}
