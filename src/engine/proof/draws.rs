//! Endings that are drawn whoever moves. Only rules that hold without exception stand here.

use super::fortress;
use crate::{
    board::{Bitboard, Board, Color, Role, Square},
    evaluation::pawn_ending,
};

/// Whether the position is drawn with best play, as far as these rules know:
/// - nobody has the men to mate: bare kings, one minor piece, or bishops that all stand on squares of one colour;
/// - king and pawn against king, by the table of all such positions;
/// - pawns on an edge file, with bishops that do not guard its last square or none, against a bare king in that corner;
/// - kings and pawns alone, every pawn blocked, and no pawn that a king could ever take.
pub fn is_drawn(board: &Board) -> bool {
    is_dead(board)
        || pawn_ending(board).is_some_and(|(_, won)| !won)
        || Color::ALL.into_iter().any(|color| holds_the_corner(board, color))
        || fortress::is_blocked(board)
}

/// Whether no series of moves mates: besides the kings, one knight or bishops on one colour of squares at most.
fn is_dead(board: &Board) -> bool {
    let bishops = board.role(Role::Bishop);
    let only_bishops = (board.occupied() & !(bishops | board.role(Role::King))).is_empty();
    let one_colour = (bishops & Bitboard::LIGHT_SQUARES).is_empty() || (bishops & !Bitboard::LIGHT_SQUARES).is_empty();
    board.is_insufficient() || (only_bishops && one_colour)
}

/// Whether the bare king of `color` holds the corner in which all pawns of the other side would become queens.
///
/// It stands in the corner or beside it. The pawns' last square is always guarded by it, since the other king cannot come next to
/// both; nothing but a king or a pawn ever attacks the corner, so it can go back there or is stalemated.
fn holds_the_corner(board: &Board, color: Color) -> bool {
    let strong = !color;
    let (pawns, bishops) = (board.men(strong, Role::Pawn), board.men(strong, Role::Bishop));
    let bare = !board.color(color).many();
    let only_these = (board.color(strong) & !(pawns | bishops | board.role(Role::King))).is_empty();
    if !bare || !only_these || pawns.is_empty() {
        return false;
    }
    [0, 7].into_iter().any(|file| {
        let corner = Square::at(file, 7).relative(strong);
        let light = Bitboard::LIGHT_SQUARES.has(corner);
        let of_the_corner = if light { Bitboard::LIGHT_SQUARES } else { !Bitboard::LIGHT_SQUARES };
        (pawns & !Bitboard::file(file)).is_empty()
            && (bishops & of_the_corner).is_empty()
            && board.king(color).distance(corner) <= 1
    })
}
