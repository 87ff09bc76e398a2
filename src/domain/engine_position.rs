use engine::{
    Move, Position, PositionError,
    board::{Role, Square},
};
use shakmaty::CastlingMode;

use super::{Line, UciMove};

/// Returns the position of a line of standard rules; [`PositionError`] for one that the engine does not understand.
pub fn engine_position(line: &Line) -> Result<Position, PositionError> {
    let start = line.start_fen();
    let chess960 = line.castling_mode() == CastlingMode::Chess960;
    let mut position = Position::from_line(start.as_deref().unwrap_or("startpos"), chess960, [])?;
    for (ply, uci) in line.moves().iter().enumerate() {
        let mv = engine_move(&position, *uci).ok_or_else(|| PositionError::Move {
            text: uci.to_string(),
            fen: position.board().to_fen(),
            ply,
        })?;
        position.play(mv);
    }
    Ok(position)
}

/// Returns the engine's move for a UCI move; `None` if it is illegal in this position. Castling may
/// be written as the king's own move or as the king taking its rook.
pub fn engine_move(position: &Position, uci: UciMove) -> Option<Move> {
    let UciMove::Normal { from, to, promotion } = uci else { return None };
    let square = |square: shakmaty::Square| Square::new(usize::from(square));
    let role = |role: shakmaty::Role| match role {
        shakmaty::Role::Pawn => Role::Pawn,
        shakmaty::Role::Knight => Role::Knight,
        shakmaty::Role::Bishop => Role::Bishop,
        shakmaty::Role::Rook => Role::Rook,
        shakmaty::Role::Queen => Role::Queen,
        shakmaty::Role::King => Role::King,
    };
    position.find_move(square(from), square(to), promotion.map(role))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Variant;

    fn assert_agrees(line: &Line) {
        let position = engine_position(line).expect("a position");
        let text = line.start_fen().unwrap_or_else(|| "startpos".to_owned());
        let moves: Vec<String> = line.moves().iter().map(ToString::to_string).collect();
        let chess960 = line.castling_mode() == CastlingMode::Chess960;
        let read = Position::from_line(&text, chess960, moves.iter().map(String::as_str)).expect("a position");
        assert_eq!(position.board().to_fen(), read.board().to_fen());
        assert_eq!(position.repetitions(), read.repetitions());
    }

    #[test]
    fn line_equals_its_text() {
        let mut line = Line::start(Variant::Standard);
        line.play_all(
            "g1f3 g8f6 f3g1 f6g8 e2e4 a7a6 e4e5 d7d5 e5d6 a6a5 g1f3 a5a4 f1e2 a4a3 e1g1 a3b2 d6c7 b2a1n c7d8q",
        )
        .expect("legal");
        assert_agrees(&line);
    }

    #[test]
    fn chess960_castling_is_understood() {
        let mut line = Line::from_fen(Variant::Chess960, "1r2k2r/8/8/8/8/8/8/1R2K2R w HBhb - 0 1").expect("a position");
        line.play_all("e1b1 e8h8").expect("legal");
        assert_agrees(&line);
    }
}
