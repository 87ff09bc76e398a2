//! The engine against itself, from a random opening.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use engine::{Engine, EngineOptions, Iteration, Limits, Position, Score};

/// Random plies at the beginning, or one more.
const RANDOM_PLIES: usize = 8;
/// An opening after which one side is ahead by more centipawns is drawn again.
const UNFAIR: i32 = 300;
/// A game in which both sides agree, for so many plies, that one is ahead by so many centipawns is over.
const DECIDED: (usize, i32) = (4, 1000);
/// A game that lasts longer, in plies, is drawn.
const LONGEST: usize = 300;

/// A game that was played to its end.
pub(super) struct SelfPlayGame {
    /// White's score: 0, 0.5 or 1.
    pub result: f64,
    /// Positions in which nothing hangs in the air: no check, and the best move neither captures nor promotes.
    pub quiet: Vec<String>,
}

/// Plays both sides.
pub(super) struct DataPlayer {
    engine: Engine,
    limits: Limits,
}

impl DataPlayer {
    /// With so many nodes a move.
    pub(super) fn new(nodes: u64) -> Self {
        let engine = Engine::new(EngineOptions { hash: 2, ..EngineOptions::default() });
        Self { engine, limits: Limits { nodes: Some(nodes), ..Limits::default() } }
    }

    /// The game of this number. `None` when told to stop.
    pub(super) fn play(&mut self, seed: u64, number: u64, keep: f64, stop: &AtomicBool) -> Option<SelfPlayGame> {
        self.engine.new_game();
        let mut random = StdRng::seed_from_u64(seed.rotate_left(32) ^ number);
        let mut position = self.opening(&mut random, stop)?;
        let mut quiet = Vec::new();
        let mut agreed = (0, 0);
        for _ in 0..LONGEST {
            if let Some(result) = result_by_rule(&position) {
                return Some(SelfPlayGame { result, quiet });
            }
            let found = self.search(&position, stop)?;
            let board = position.board();
            let white = centipawns(found.score) * board.turn().sign();
            let side = if white.abs() < DECIDED.1 { 0 } else { white.signum() };
            agreed = if side == agreed.0 { (side, agreed.1 + 1) } else { (side, 1) };
            if side != 0 && agreed.1 >= DECIDED.0 {
                return Some(SelfPlayGame { result: if side > 0 { 1.0 } else { 0.0 }, quiet });
            }
            if !board.in_check() && !board.is_noisy(found.best) && random.random_bool(keep) {
                quiet.push(board.to_fen());
            }
            position.play(found.best);
        }
        Some(SelfPlayGame { result: 0.5, quiet })
    }

    fn search(&mut self, position: &Position, stop: &AtomicBool) -> Option<Iteration> {
        let found = self.engine.search(position, &[], &self.limits, stop, &mut |_| {});
        found.filter(|_| !stop.load(Relaxed))
    }

    /// A position after random moves that leaves both sides a chance.
    fn opening(&mut self, random: &mut StdRng, stop: &AtomicBool) -> Option<Position> {
        loop {
            let mut position = Position::from_line("startpos", false, []).ok()?;
            for _ in 0..RANDOM_PLIES + random.random_range(0..2) {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                position.play(moves[random.random_range(0..moves.len())]);
            }
            if !position.legal_moves().is_empty() && centipawns(self.search(&position, stop)?.score).abs() <= UNFAIR {
                return Some(position);
            }
        }
    }
}

/// White's score, if the game is over.
fn result_by_rule(position: &Position) -> Option<f64> {
    let board = position.board();
    if position.legal_moves().is_empty() {
        let lost = if board.turn().sign() > 0 { 0.0 } else { 1.0 };
        return Some(if board.in_check() { lost } else { 0.5 });
    }
    (board.is_insufficient() || board.halfmoves() >= 100 || position.repetitions() >= 2).then_some(0.5)
}

fn centipawns(score: Score) -> i32 {
    match score {
        Score::Cp(centipawns) => centipawns,
        Score::Mate(moves) => 30_000 * if moves > 0 { 1 } else { -1 },
    }
}
