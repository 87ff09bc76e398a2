//! A proof played through once more, against every defence, on real boards.
//!
//! The table of the search knows positions without the moves before them, so that a proof in it may rest on a repetition or on
//! too many moves for the fifty-move rule. Here the attacker's moves of the table make a graph. It is a proof if every line in it
//! ends with mate, no position recurs on a line, none was on the board twice before, and the longest line ends in time.

use std::collections::HashMap;

use crate::board::{Board, Move};

/// A forced mate, proved against every defence, not necessarily the shortest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mate {
    /// The attacker's moves until mate against the longest defence.
    pub moves: u32,
    /// That line, the attacker's first move first.
    pub line: Vec<Move>,
}

pub(super) struct Proof<'a> {
    /// The attacker's move in a proved position, by its key.
    proved: &'a dyn Fn(u64) -> Option<Move>,
    /// Forbidden positions.
    barred: &'a [u64],
    /// Plies to mate by position; `None` while its lines are being played.
    seen: HashMap<u64, Option<u32>>,
}

impl<'a> Proof<'a> {
    pub(super) fn new(proved: &'a dyn Fn(u64) -> Option<Move>, barred: &'a [u64]) -> Self {
        Self { proved, barred, seen: HashMap::new() }
    }

    pub(super) fn verify(mut self, root: &Board) -> Option<Mate> {
        let plies = self.attack(root)?;
        if u32::from(root.halfmoves()) + plies > 100 {
            return None;
        }
        Some(Mate { moves: plies.div_ceil(2), line: self.longest_line(root) })
    }

    /// Plies to mate with the attacker to move.
    fn attack(&mut self, board: &Board) -> Option<u32> {
        self.once(board, |proof| {
            let after = board.after(proof.best(board)?);
            Some(proof.defend(&after)? + 1)
        })
    }

    /// Does the same with the defender to move.
    fn defend(&mut self, board: &Board) -> Option<u32> {
        self.once(board, |proof| {
            let replies = board.legal_moves();
            if replies.is_empty() {
                return board.in_check().then_some(0);
            }
            let plies = replies.into_iter().map(|reply| proof.attack(&board.after(reply)));
            Some(plies.collect::<Option<Vec<u32>>>()?.into_iter().max()? + 1)
        })
    }

    /// Visits a position once. If it recurs while its own lines are being played, there is no proof.
    fn once(&mut self, board: &Board, look: impl FnOnce(&mut Self) -> Option<u32>) -> Option<u32> {
        let key = board.keys().position;
        if let Some(known) = self.seen.get(&key) {
            return *known;
        }
        if self.barred.contains(&key) {
            return None;
        }
        self.seen.insert(key, None);
        let plies = look(self)?;
        self.seen.insert(key, Some(plies));
        Some(plies)
    }

    /// The attacker's move, if the position is proved.
    fn best(&self, board: &Board) -> Option<Move> {
        let best = (self.proved)(board.keys().position);
        best.filter(|mv| board.is_pseudo_legal(*mv) && board.is_legal(*mv))
    }

    fn longest_line(&self, root: &Board) -> Vec<Move> {
        let mut line = Vec::new();
        let mut board = root.clone();
        while let Some(attack) = self.best(&board) {
            line.push(attack);
            board = board.after(attack);
            let plies = |reply: &Move| self.seen.get(&board.after(*reply).keys().position).copied().flatten();
            let Some(reply) = board.legal_moves().into_iter().max_by_key(plies) else { break };
            line.push(reply);
            board = board.after(reply);
        }
        line
    }
}
