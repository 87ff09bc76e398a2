//! A line of play as the engine takes it.

use engine::{Position, PositionError};
use shakmaty::CastlingMode;

use super::Line;

/// A line of standard rules as our engine takes it.
///
/// # Errors
/// [`PositionError`] if the engine does not understand the position, as those of other rules.
pub fn engine_position(line: &Line) -> Result<Position, PositionError> {
    let start = line.start_fen().unwrap_or_else(|| "startpos".to_owned());
    let chess960 = line.castling_mode() == CastlingMode::Chess960;
    let moves: Vec<String> = line.moves().iter().map(ToString::to_string).collect();
    Position::from_line(&start, chess960, moves.iter().map(String::as_str))
}
