//! Many labelled positions of few games: those of the game, and others around each, with the values of a net.
//!
//! Only quiet positions count. To learn the values of others as well was worth half as much in games
//! (`docs/experiments/evaluation.md`).

use engine::{Board, board::Move};

use crate::training::{
    Record, SplitMix,
    game::{Game, MATE},
    value_net::{ValueNet, Valuer},
};

/// A capture or promotion that wins this much, in centipawns, is tactics.
const TACTICS: i32 = 50;

pub struct Around {
    pub net: ValueNet,
    /// Positions after one or two random moves, for each of a game; of about half of them a search would first resolve tactics.
    pub count: u32,
}

impl Around {
    pub(super) fn description(&self) -> String {
        format!("; teacher: the net {:016x}, up to {} positions around each", self.net.checksum, self.count)
    }

    /// Returns the quiet positions of a game and around it with the net's values. Only those of the game have its result.
    pub(super) fn records(&self, valuer: &mut Valuer, game: &Game) -> Vec<Record> {
        let mut random = SplitMix::new(u64::from(game.id));
        let mut records = Vec::new();
        game.walk(|i, board, _| {
            let mut push = |board: &Board, result| {
                if is_quiet(board)
                    && let Some(mut record) = game.record(i, board)
                {
                    let value = valuer.value(board).clamp(1 - i32::from(MATE), i32::from(MATE) - 1);
                    (record.teacher, record.result) = (Some(value as i16), result);
                    records.push(record);
                }
            };
            push(board, Some(game.result));
            for _ in 0..self.count {
                let mut board = board.clone();
                for _ in 0..1 + random.below(2) {
                    let Some(mv) = random_move(&board, &mut random) else { break };
                    board = board.after(mv);
                }
                push(&board, None);
            }
        });
        records
    }
}

/// A legal move by chance, every second time one that takes or promotes, if there is any: as in a search.
fn random_move(board: &Board, random: &mut SplitMix) -> Option<Move> {
    let mut moves = board.legal_moves();
    if moves.iter().any(|mv| board.is_noisy(*mv)) && random.below(2) == 1 {
        moves.retain(|mv| board.is_noisy(*mv));
    }
    moves.get(random.below(moves.len())).copied()
}

/// No check, and nothing to be won by a capture or promotion.
fn is_quiet(board: &Board) -> bool {
    let wins = |mv: &Move| board.is_noisy(*mv) && board.exchange_reaches(*mv, TACTICS);
    !board.in_check() && !board.legal_moves().iter().any(wins)
}
