//! The parts of a game: opening, middlegame, and the ending with its name by material.

use domain::Line;
use serde::Serialize;
use shakmaty::{Board, Color, Position as _, Role, Square};

/// A part of a game, by the pieces left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GamePhase {
    /// Nearly all pieces are there.
    Opening,
    Middlegame,
    Ending,
}

util::words!(GamePhase::word { Opening = "opening", Middlegame = "middlegame", Ending = "ending" });

pub(super) fn of(line: &Line) -> GamePhase {
    let board = line.position().board();
    let count = |role| board.by_role(role).count();
    // A minor piece counts 1, a rook 2, a queen 4: 24 in all at the start.
    match count(Role::Knight) + count(Role::Bishop) + 2 * count(Role::Rook) + 4 * count(Role::Queen) {
        21.. => GamePhase::Opening,
        13.. => GamePhase::Middlegame,
        _ => GamePhase::Ending,
    }
}

/// Returns the first ply of a game's ending, and the ending's name there.
pub(super) fn ending(positions: &[Line]) -> Option<(usize, &'static str)> {
    let before = positions.iter().rposition(|line| of(line) != GamePhase::Ending);
    let first = before.map_or(0, |last| last + 1);
    Some((first, ending_name(positions.get(first)?.position().board())))
}

/// Returns the usual name of an ending by its pieces, pawns not counted.
pub fn ending_name(board: &Board) -> &'static str {
    let count = |color, role| (board.by_color(color) & board.by_role(role)).count();
    let pieces = |color| [Role::Queen, Role::Rook, Role::Bishop, Role::Knight].map(|role| count(color, role));
    let [mut strong, mut weak] = [pieces(Color::White), pieces(Color::Black)];
    if weak > strong {
        (strong, weak) = (weak, strong);
    }
    match (strong, weak) {
        ([0, 0, 0, 0], _) => "pawn ending",
        ([1, 0, 0, 0], [1, 0, 0, 0]) => "queen ending",
        ([0, 1, 0, 0], [0, 1, 0, 0]) => "rook ending",
        ([0, 2, 0, 0], [0, 2, 0, 0]) => "ending with two rooks each",
        ([0, 0, 1, 0], [0, 0, 1, 0]) if opposite_bishops(board) => "bishops of opposite colours",
        ([0, 0, 1, 0], [0, 0, 1, 0]) => "bishop ending",
        ([0, 0, 0, 1], [0, 0, 0, 1]) => "knight ending",
        ([0, 0, 1, 0], [0, 0, 0, 1]) => "bishop against knight",
        ([0, 1, 0, 0], [0, 0, 1, 0] | [0, 0, 0, 1]) => "rook against minor piece",
        ([0, 1, _, _], [0, 1, _, _]) => "ending with a rook and minor pieces each",
        ([1, ..], [1, ..]) => "ending with queens and other pieces",
        (_, [0, 0, 0, 0]) => "pieces against none",
        ([0, 0, _, _], [0, 0, _, _]) => "ending with minor pieces",
        _ => "ending with unequal pieces",
    }
}

fn opposite_bishops(board: &Board) -> bool {
    let light = |square: Square| (u32::from(square.file()) + u32::from(square.rank())) % 2;
    let bishops: Vec<u32> = board.by_role(Role::Bishop).into_iter().map(light).collect();
    matches!(bishops.as_slice(), [one, other] if one != other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::Variant;

    fn name(fen: &str) -> &'static str {
        ending_name(Line::from_fen(Variant::Standard, fen).expect("a position").position().board())
    }

    #[test]
    fn phase_is_told_by_the_pieces_left() {
        let phase = |fen: &str| of(&Line::from_fen(Variant::Standard, fen).expect("a position"));
        assert_eq!(phase("startpos"), GamePhase::Opening);
        assert_eq!(phase("r1bqk2r/pppp1ppp/8/8/8/8/PPPP1PPP/R1BQK2R w KQkq - 0 1"), GamePhase::Middlegame);
        assert_eq!(phase("8/5pk1/3p4/8/4P3/8/5PK1/8 w - - 0 1"), GamePhase::Ending);
    }

    #[test]
    fn endings_have_their_usual_names() {
        assert_eq!(name("8/5k2/5p2/8/8/4P3/4K3/8 w - - 0 1"), "pawn ending");
        assert_eq!(name("8/5k2/5p2/1r6/8/4P3/4K3/R7 w - - 0 1"), "rook ending");
        assert_eq!(name("8/5k2/5p2/1b6/8/4P3/4K3/B7 w - - 0 1"), "bishops of opposite colours");
        assert_eq!(name("8/5k2/5p2/b7/8/4P3/4K3/B7 w - - 0 1"), "bishop ending");
        assert_eq!(name("8/5k2/5p2/1n6/8/4P3/4K3/B7 w - - 0 1"), "bishop against knight");
        assert_eq!(name("8/5k2/5p2/8/8/4P3/4K3/RB6 w - - 0 1"), "pieces against none");
        assert_eq!(name("8/5k2/5p2/8/8/4P3/4K3/NB6 w - - 0 1"), "pieces against none");
    }
}
