//! One game, both sides played by one engine.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use engine::{
    Engine, Iteration, Limits, Position, Score,
    board::{Color, Move},
};
use util::Failure;

use super::Plan;
use crate::{
    openings::OpeningBook,
    training::{
        GameResult, SplitMix,
        game::{Game, MATE, Ply},
        random::mix,
    },
};

/// Random plies from the usual start, or one more: so both sides begin the searched part equally often.
pub(super) const RANDOM_PLIES: usize = 8;
/// Random plies after an opening of a book, or one more.
pub(super) const PLIES_AFTER_BOOK: usize = 2;
/// An opening after which one side is ahead by more centipawns is drawn again.
const UNFAIR: i32 = 300;
/// The plies and centipawns after which a game is over, if both sides agree for that many plies
/// that one is ahead by that much.
const DECIDED: (usize, i32) = (4, 1000);
/// The plies and centipawns after which a game is drawn, from ply 80 on.
const LEVEL: (usize, i32) = (10, 5);
const LEVEL_FROM: usize = 80;
/// A game that lasts longer, in plies, is drawn.
const LONGEST: usize = 300;

pub(super) struct SelfPlayer {
    engine: Engine,
    limits: Limits,
}

impl SelfPlayer {
    pub(super) fn new(plan: &Plan) -> Self {
        let engine = Engine::new(plan.options());
        Self { engine, limits: Limits { nodes: Some(plan.nodes), ..Limits::default() } }
    }

    /// Returns the game of this number; `None` if stopped.
    pub(super) fn play(&mut self, plan: &Plan, number: u64, stop: &AtomicBool) -> Result<Option<Game>, Failure> {
        self.engine.new_game();
        let mut random = SplitMix::new(plan.seed.rotate_left(32) ^ number);
        // Games of other seeds must not seem to be the same.
        let id = mix(plan.seed.rotate_left(32) ^ number) as u32;
        let Some((mut game, mut position)) = self.opening(plan.book.as_deref(), id, &mut random, stop)? else {
            return Ok(None);
        };
        let (mut agreed, mut level) = ((0, 0), 0);
        for ply in 0..LONGEST {
            if let Some(by_rule) = result_by_rule(&position) {
                game.result = by_rule;
                break;
            }
            let Some(found) = self.search(&position, stop) else { return Ok(None) };
            let own = centipawns(found.score);
            let white = own * position.board().turn().sign();
            let ahead = if white.abs() < DECIDED.1 { 0 } else { white.signum() };
            agreed = if ahead == agreed.0 { (ahead, agreed.1 + 1) } else { (ahead, 1) };
            if ahead != 0 && agreed.1 >= DECIDED.0 {
                game.result = if ahead > 0 { GameResult::White } else { GameResult::Black };
                break;
            }
            level = if white.abs() <= LEVEL.1 && ply >= LEVEL_FROM { level + 1 } else { 0 };
            if level >= LEVEL.0 {
                break;
            }
            let moves = position.legal_moves();
            let mv = match plan.random_every {
                Some(every) if random.below(every.get()) == 0 => moves[random.below(moves.len())],
                _ => found.best,
            };
            game.plies.push(Ply { mv, own: own as i16, teacher: None });
            position.play(mv);
        }
        Ok(Some(game))
    }

    fn search(&mut self, position: &Position, stop: &AtomicBool) -> Option<Iteration> {
        let found = self.engine.search(position, &[], &self.limits, stop, &mut |_| {});
        found.filter(|_| !stop.load(Relaxed))
    }

    /// Begins a game with random moves, behind an opening of the book if there is one, that leave both sides a chance.
    fn opening(
        &mut self,
        book: Option<&OpeningBook>,
        id: u32,
        random: &mut SplitMix,
        stop: &AtomicBool,
    ) -> Result<Option<(Game, Position)>, Failure> {
        loop {
            let (start, plies) = match book {
                Some(book) => (book.opening(random.below(book.len()))?.fen(), PLIES_AFTER_BOOK),
                None => ("startpos".to_owned(), RANDOM_PLIES),
            };
            let start = Position::from_line(&start, false, []);
            // Such as an opening of a variant.
            let start = start.map_err(|error| Failure::failed(format_args!("book: {error}")))?;
            let Some((opening, position)) = scramble(&start, plies, random) else { continue };
            let Some(found) = self.search(&position, stop) else { return Ok(None) };
            if centipawns(found.score).abs() <= UNFAIR {
                let game = Game { id, start, opening, plies: Vec::new(), result: GameResult::Draw };
                return Ok(Some((game, position)));
            }
        }
    }
}

/// Plays `plies` random moves, or one more, from `start`; `None` if the game is over after them.
fn scramble(start: &Position, plies: usize, random: &mut SplitMix) -> Option<(Vec<Move>, Position)> {
    let (mut position, mut played) = (start.clone(), Vec::new());
    for _ in 0..plies + random.below(2) {
        let moves = position.legal_moves();
        if moves.is_empty() {
            return None;
        }
        let mv = moves[random.below(moves.len())];
        played.push(mv);
        position.play(mv);
    }
    (!position.legal_moves().is_empty()).then_some((played, position))
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

/// A score in centipawns; a mate is [`MATE`], which no other score reaches.
fn centipawns(score: Score) -> i32 {
    let mate = i32::from(MATE);
    match score {
        Score::Cp(centipawns) => centipawns.clamp(1 - mate, mate - 1),
        Score::Mate(moves) => mate * if moves > 0 { 1 } else { -1 },
    }
}
