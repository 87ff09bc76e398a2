//! A short search against popular blunders.

use std::sync::atomic::AtomicBool;

use domain::{Line, UciMove, engine_move, engine_position};
use engine::{Engine, EngineOptions, Limits};

/// Nodes of each of the two searches: some twenty milliseconds.
const NODES: u64 = 20_000;

/// Returns true if the move costs at most `most` centipawns by a short search, or if the engine does not know the rules.
pub(crate) fn is_sound(line: &Line, uci: UciMove, most: i32) -> bool {
    let Ok(position) = engine_position(line) else { return true };
    let Some(mv) = engine_move(&position, uci) else { return true };
    let mut engine = Engine::new(EngineOptions { hash: 4, ..EngineOptions::default() });
    let limits = Limits { nodes: Some(NODES), ..Limits::default() };
    let mut value = |moves: &[engine::Move]| {
        let found = engine.search(&position, moves, &limits, &AtomicBool::new(false), &mut |_| {})?;
        Some(found.score.as_centipawns())
    };
    match (value(&[mv]), value(&[])) {
        (Some(played), Some(best)) => best.saturating_sub(played) <= most,
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use domain::Variant;

    use super::*;

    #[test]
    fn popular_blunders_are_seen() {
        let mut line = Line::start(Variant::Standard);
        line.play_all("e2e4 e7e5 d1h5 b8c6 f1c4").expect("legal");
        let sound = |uci: &str, most| is_sound(&line, uci.parse().expect("a move"), most);
        assert!(sound("g7g6", 100) && sound("d8e7", 200));
        assert!(!sound("g8f6", 200), "mated at once");
    }
}
