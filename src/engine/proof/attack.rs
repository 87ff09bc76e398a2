//! The moves of an attack, and the first estimate of a position for the attacker.

use super::Effort;
use crate::board::{Board, CheckMap, Move, MoveKind, MoveList};

/// The moves of the attacker. The defender may always play any move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// Checks alone: long mates, since every check leaves few replies.
    Checks,
    /// Checks, and quiet moves with a threat of mate in one.
    Threats,
    /// All moves: short mates.
    All,
}

impl Attack {
    /// Returns the plies of the longest mate searched for.
    pub(super) const fn longest(self) -> u32 {
        match self {
            Self::Checks => 79,
            Self::Threats => 19,
            Self::All => 7,
        }
    }

    /// The moves to try, with the boards after them.
    pub(super) fn moves(self, board: &Board, effort: &mut Effort) -> Vec<(Move, Board)> {
        let map = board.check_map();
        let mut found = Vec::new();
        for mv in board.legal_moves() {
            if effort.is_spent() {
                break;
            }
            let may_check = may_give_check(board, &map, mv);
            if self == Self::Checks && !may_check {
                continue;
            }
            effort.spend();
            let after = board.after(mv);
            let tried = match self {
                Self::All => true,
                _ if after.in_check() => true,
                Self::Checks => false,
                Self::Threats => !board.is_noisy(mv) && mates_at_once(&after.after_null(), effort),
            };
            if tried {
                found.push((mv, after));
            }
        }
        found
    }
}

/// Returns true if a legal move may give check; moves that the map does not cover count as such.
fn may_give_check(board: &Board, map: &CheckMap, mv: Move) -> bool {
    mv.kind() != MoveKind::Normal || map.gives_check(board, mv)
}

/// Returns true if the player to move has a mate in one.
fn mates_at_once(board: &Board, effort: &mut Effort) -> bool {
    let map = board.check_map();
    let moves: MoveList = board.legal_moves();
    moves.into_iter().filter(|mv| may_give_check(board, &map, *mv)).any(|mv| {
        effort.spend();
        let after = board.after(mv);
        after.in_check() && after.legal_moves().is_empty()
    })
}
