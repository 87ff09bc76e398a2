//! One game, both sides played by one engine.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use engine::{Engine, EngineOptions, Iteration, Limits, Position, Score, board::Color};

use super::Plan;
use crate::training::{GameResult, Record, SplitMix, openings::RANDOM_PLIES, random::mix, random_opening};

/// An opening after which one side is ahead by more centipawns is drawn again.
const UNFAIR: i32 = 300;
/// The plies and centipawns after which a game is over, if both sides agree for that many plies
/// that one is ahead by that much.
const DECIDED: (usize, i32) = (4, 1000);
/// A game that lasts longer, in plies, is drawn.
const LONGEST: usize = 300;

pub(super) struct SelfPlayer {
    engine: Engine,
    limits: Limits,
}

impl SelfPlayer {
    pub(super) fn new(plan: &Plan) -> Self {
        let engine = Engine::new(EngineOptions { hash: 1, ..EngineOptions::default() });
        Self { engine, limits: Limits { nodes: Some(plan.nodes), ..Limits::default() } }
    }

    /// Returns the quiet positions of the game of this number; `None` if stopped.
    pub(super) fn play(&mut self, plan: &Plan, number: u64, stop: &AtomicBool) -> Option<Vec<Record>> {
        self.engine.new_game();
        let mut random = SplitMix::new(plan.seed.rotate_left(32) ^ number);
        // Games of other seeds must not seem to be the same.
        let game = mix(plan.seed.rotate_left(32) ^ number) as u32;
        let mut position = self.opening(&mut random, stop)?;
        let mut records: Vec<Record> = Vec::new();
        let mut agreed = (0, 0);
        let mut result = GameResult::Draw;
        for ply in RANDOM_PLIES..RANDOM_PLIES + LONGEST {
            if let Some(by_rule) = result_by_rule(&position) {
                result = by_rule;
                break;
            }
            let found = self.search(&position, stop)?;
            let (board, score) = (position.board(), centipawns(found.score));
            let white = score * board.turn().sign();
            let ahead = if white.abs() < DECIDED.1 { 0 } else { white.signum() };
            agreed = if ahead == agreed.0 { (ahead, agreed.1 + 1) } else { (ahead, 1) };
            if ahead != 0 && agreed.1 >= DECIDED.0 {
                result = if ahead > 0 { GameResult::White } else { GameResult::Black };
                break;
            }
            // A quiet position has no tactics that a search must resolve.
            let quiet = !board.in_check() && !board.is_noisy(found.best) && matches!(found.score, Score::Cp(_));
            if quiet
                && random.share() < plan.keep
                && let Ok(mut record) = Record::new(board)
            {
                record.own = Some(score as i16);
                record.ply = ply as u16;
                record.game = game;
                records.push(record);
            }
            position.play(found.best);
        }
        for record in &mut records {
            record.result = Some(result);
        }
        Some(records)
    }

    fn search(&mut self, position: &Position, stop: &AtomicBool) -> Option<Iteration> {
        let found = self.engine.search(position, &[], &self.limits, stop, &mut |_| {});
        found.filter(|_| !stop.load(Relaxed))
    }

    /// A position after random moves that leaves both sides a chance.
    fn opening(&mut self, random: &mut SplitMix, stop: &AtomicBool) -> Option<Position> {
        loop {
            let position = random_opening(random);
            if centipawns(self.search(&position, stop)?.score).abs() <= UNFAIR {
                return Some(position);
            }
        }
    }
}

fn result_by_rule(position: &Position) -> Option<GameResult> {
    let board = position.board();
    if position.legal_moves().is_empty() {
        return Some(match (board.in_check(), board.turn()) {
            (false, _) => GameResult::Draw,
            (true, Color::White) => GameResult::Black,
            (true, Color::Black) => GameResult::White,
        });
    }
    let drawn = board.is_insufficient() || board.halfmoves() >= 100 || position.repetitions() >= 2;
    drawn.then_some(GameResult::Draw)
}

fn centipawns(score: Score) -> i32 {
    match score {
        Score::Cp(centipawns) => centipawns,
        Score::Mate(moves) => 30_000 * if moves > 0 { 1 } else { -1 },
    }
}
