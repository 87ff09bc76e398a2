//! Random openings: games never played before.

use engine::Position;

use crate::training::SplitMix;

/// Random plies, or one more: so both sides begin the searched part equally often.
pub(crate) const RANDOM_PLIES: usize = 8;

/// Returns a position after random moves that is not over. Callers that want a fair one draw again.
pub fn random_opening(random: &mut SplitMix) -> Position {
    loop {
        let Ok(mut position) = Position::from_line("startpos", false, []) else { continue };
        for _ in 0..RANDOM_PLIES + random.below(2) {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            position.play(moves[random.below(moves.len())]);
        }
        if !position.legal_moves().is_empty() {
            return position;
        }
    }
}
