//! Games of two engines by equal nodes, for the examples of this folder.

use std::sync::atomic::AtomicBool;

use concilio_lab::training::{SplitMix, random_opening};
use engine::{Engine, Iteration, Limits, Position, Score};

/// Plays an opening fair to both sides: no side is far ahead by any of `judges`.
pub(crate) fn even_opening(judges: &mut [Engine], random: &mut SplitMix, limits: &Limits) -> Position {
    loop {
        let opening = random_opening(random);
        let fair = |judge: &mut Engine| search(judge, &opening, limits).is_some_and(|found| worth(&found).abs() <= 200);
        if judges.iter_mut().all(fair) {
            return opening;
        }
    }
}

/// The points of who moves first: `mover` is that engine.
pub(crate) fn play(engines: &mut [Engine; 2], mover: usize, mut position: Position, limits: &Limits) -> f64 {
    // The side that both engines see decidedly ahead, seen from the first mover, and the number of
    // plies.
    let mut agreed = (0, 0);
    for ply in 0..400 {
        let of_first = |points: f64| if ply % 2 == 0 { points } else { 1.0 - points };
        let board = position.board();
        if board.is_insufficient() || board.halfmoves() >= 100 || position.repetitions() >= 2 {
            return 0.5;
        }
        let Some(found) = search(&mut engines[(mover + ply) % 2], &position, limits) else {
            return if board.in_check() { of_first(0.0) } else { 0.5 };
        };
        let value = if ply % 2 == 0 { worth(&found) } else { -worth(&found) };
        let ahead = if value.abs() < 1500 { 0 } else { value.signum() };
        agreed = if ahead == agreed.0 { (ahead, agreed.1 + 1) } else { (ahead, 1) };
        if ahead != 0 && agreed.1 >= 6 {
            return if ahead > 0 { 1.0 } else { 0.0 };
        }
        position.play(found.best);
    }
    0.5
}

fn search(engine: &mut Engine, position: &Position, limits: &Limits) -> Option<Iteration> {
    engine.search(position, &[], limits, &AtomicBool::new(false), &mut |_| {})
}

/// The value for the player to move, centipawns.
fn worth(found: &Iteration) -> i32 {
    match found.score {
        Score::Cp(centipawns) => centipawns,
        Score::Mate(moves) => 30_000 * if moves > 0 { 1 } else { -1 },
    }
}
