//! Terms that act on the whole evaluation: the phase of the game, drawish endings, and driving bare
//! kings.

use super::{kpk, score::FULL_PHASE};
use crate::board::{Bitboard, Board, Color, Role, Square};

/// The scale of an ending with winning chances unreduced.
pub const FULL_SCALE: i32 = 64;

/// The weight of each role in the phase of the game.
const PHASES: [i32; 6] = [0, 1, 1, 2, 4, 0];
/// Rough values of the pieces, for the chances to win.
const VALUES: [i32; 6] = [0, 3, 3, 5, 9, 0];

/// 24 with all pieces on the board, 0 with none.
#[inline]
pub(super) fn phase(board: &Board) -> i32 {
    let sum: i32 = Role::ALL.iter().map(|role| board.role(*role).count() as i32 * PHASES[role.index()]).sum();
    sum.min(FULL_PHASE)
}

/// Pieces of a side in rough pawns.
fn pieces(board: &Board, color: Color) -> i32 {
    Role::ALL.iter().map(|role| board.men(color, *role).count() as i32 * VALUES[role.index()]).sum()
}

/// The value of a won ending of king and pawn against king besides the pawn, centipawns.
const WON_PAWN_ENDING: i32 = 400;

/// The part of the endgame value that counts when `ahead` is ahead: 0 to 64.
pub(super) fn scale(board: &Board, ahead: Color) -> i32 {
    if let Some((_, won)) = pawn_ending(board) {
        return if won { FULL_SCALE } else { 0 };
    }
    let pawns = board.men(ahead, Role::Pawn);
    let (strong, weak) = (pieces(board, ahead), pieces(board, !ahead));
    if pawns.is_empty() {
        // Two knights alone do not mate, nor does a lead of a minor piece.
        let knights_only = strong == 6 && board.men(ahead, Role::Knight).count() == 2 && weak == 0;
        if knights_only || (strong - weak <= 3 && strong < 5) {
            return 0;
        }
        if strong - weak <= 3 {
            return if weak <= 3 { 8 } else { 14 };
        }
    }
    if weak == 0 && is_wrong_bishop(board, ahead) {
        return 0;
    }
    if opposite_bishops(board) {
        let only_bishops = strong == 3 && weak == 3;
        return if only_bishops { (12 + 8 * pawns.count() as i32).min(40) } else { 50 };
    }
    (40 + 6 * pawns.count() as i32).min(FULL_SCALE)
}

/// Returns true if each side has one bishop, on squares of different colours.
fn opposite_bishops(board: &Board) -> bool {
    let [white, black] = Color::ALL.map(|color| board.men(color, Role::Bishop));
    white.count() == 1
        && black.count() == 1
        && (white & Bitboard::LIGHT_SQUARES).is_empty() != (black & Bitboard::LIGHT_SQUARES).is_empty()
}

/// Pawns on one edge file, at most a bishop that does not guard its queening square, and the bare king before them.
fn is_wrong_bishop(board: &Board, ahead: Color) -> bool {
    let pawns = board.men(ahead, Role::Pawn);
    let bishops = board.men(ahead, Role::Bishop);
    let others = board.color(ahead) & !(pawns | bishops | board.role(Role::King));
    if others.has_any() || pawns.is_empty() {
        return false;
    }
    [0, 7].into_iter().any(|file| {
        let corner = Square::at(file, 7).relative(ahead);
        let same_color = |b: Bitboard| {
            let half =
                if Bitboard::LIGHT_SQUARES.has(corner) { Bitboard::LIGHT_SQUARES } else { !Bitboard::LIGHT_SQUARES };
            (b & half).has_any()
        };
        (pawns & !Bitboard::file(file)).is_empty() && !same_color(bishops) && board.king(!ahead).distance(corner) <= 1
    })
}

/// Returns the pawn's side and whether it wins, if a king and pawn face a bare king.
pub(crate) fn pawn_ending(board: &Board) -> Option<(Color, bool)> {
    let pawn = board.role(Role::Pawn).get()?;
    if board.occupied().count() != 3 {
        return None;
    }
    let us = if board.color(Color::White).has(pawn) { Color::White } else { Color::Black };
    let [king, pawn, bare_king] = [board.king(us), pawn, board.king(!us)].map(|square| square.relative(us));
    Some((us, kpk::is_won(king, pawn, bare_king, board.turn() == us)))
}

/// Returns the value of wins by themselves: an unstoppable pawn, or against a bare king terms that
/// drive it to the edge (with bishop and knight, to the bishop's corner) and bring the kings
/// together. White's view, centipawns.
pub(super) fn drive(board: &Board) -> i32 {
    if let Some((us, won)) = pawn_ending(board) {
        return if won { WON_PAWN_ENDING * us.sign() } else { 0 };
    }
    Color::ALL.into_iter().map(|us| drive_for(board, us) * us.sign()).sum()
}

fn drive_for(board: &Board, us: Color) -> i32 {
    if board.has_pieces(!us) || board.men(!us, Role::Pawn).has_any() || !can_mate(board, us) {
        return 0;
    }
    let (king, bare) = (board.king(us), board.king(!us));
    let together = 7 - king.distance(bare) as i32;
    let from_edge = |n: usize| n.min(7 - n) as i32;
    let to_edge = 6 - from_edge(bare.file()) - from_edge(bare.rank());
    let bishops = board.men(us, Role::Bishop);
    let corner = if pieces(board, us) == 6 && bishops.count() == 1 {
        let corners = if (bishops & Bitboard::LIGHT_SQUARES).has_any() { [(0, 7), (7, 0)] } else { [(0, 0), (7, 7)] };
        let steps = corners.map(|(file, rank)| bare.file().abs_diff(file) + bare.rank().abs_diff(rank));
        40 * (7 - steps[0].min(steps[1]) as i32)
    } else {
        0
    };
    300 + 12 * together + 25 * to_edge + corner
}

/// Returns true if a side's pieces can force mate on a bare king.
fn can_mate(board: &Board, us: Color) -> bool {
    let bishops = board.men(us, Role::Bishop);
    let both_colors = (bishops & Bitboard::LIGHT_SQUARES).has_any() && (bishops & !Bitboard::LIGHT_SQUARES).has_any();
    (board.straight_sliders() & board.color(us)).has_any()
        || both_colors
        || (bishops.has_any() && board.men(us, Role::Knight).has_any())
}
