//! A position as a picture: SVG with the chess pieces of the reader's own font, and arrows for moves.

use std::fmt::Write as _;

use super::html::escaped;
use domain::{Color, UciMove};
use shakmaty::{Board, Role, Square, fen::Fen};

const SQUARE: i32 = 45;

/// Draws a position with an arrow in a colour for each of some moves, seen from the side of `bottom`;
/// empty for an invalid FEN.
pub(super) fn board(title: &str, fen: &str, arrows: &[(UciMove, &str)], bottom: Color) -> String {
    let Ok(fen) = fen.parse::<Fen>() else { return String::new() };
    let board = fen.as_setup().board.clone();
    let size = 8 * SQUARE;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {size} {size}\" width=\"240\" role=\"img\"><title>{}</title>",
        escaped(title)
    );
    // Writing to a string cannot fail, here and below.
    let _ = write!(svg, "<path fill=\"#f0d9b5\" d=\"M0 0h{size}v{size}H0z\"/><path fill=\"#b58863\" d=\"");
    for square in Square::ALL.into_iter().filter(|square| square.is_dark()) {
        let (x, y) = corner(square, bottom);
        let _ = write!(svg, "M{x} {y}h{SQUARE}v{SQUARE}h-{SQUARE}z");
    }
    svg.push_str("\"/>");
    pieces(&mut svg, &board, bottom);
    for (uci, color) in arrows {
        draw(&mut svg, *uci, color, bottom);
    }
    svg.push_str("</svg>");
    svg
}

fn pieces(svg: &mut String, board: &Board, bottom: Color) {
    let _ = write!(svg, "<g font-size=\"38\" text-anchor=\"middle\" stroke=\"#000\" stroke-width=\".8\">");
    for (square, piece) in board.clone() {
        let (x, y) = corner(square, bottom);
        let fill = if piece.color.is_white() { "#fff" } else { "#222" };
        let glyph = match piece.role {
            Role::King => '♚',
            Role::Queen => '♛',
            Role::Rook => '♜',
            Role::Bishop => '♝',
            Role::Knight => '♞',
            Role::Pawn => '♟',
        };
        // The variation selector requests text instead of a coloured emoji.
        let (x, y) = (x + SQUARE / 2, y + 36);
        let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\" fill=\"{fill}\">{glyph}\u{fe0e}</text>");
    }
    svg.push_str("</g>");
}

fn draw(svg: &mut String, uci: UciMove, color: &str, bottom: Color) {
    let UciMove::Normal { from, to, .. } = uci else { return };
    let middle = |square| {
        let (x, y) = corner(square, bottom);
        (f64::from(x + SQUARE / 2), f64::from(y + SQUARE / 2))
    };
    let ((x1, y1), (x2, y2)) = (middle(from), middle(to));
    let length = (x2 - x1).hypot(y2 - y1).max(1.0);
    let (dx, dy) = ((x2 - x1) / length, (y2 - y1) / length);
    let (bx, by) = (x2 - 16.0 * dx, y2 - 16.0 * dy);
    let _ = write!(
        svg,
        "<g opacity=\".75\"><path stroke=\"{color}\" stroke-width=\"7\" d=\"M{x1:.0} {y1:.0}L{bx:.0} {by:.0}\"/>\
         <path fill=\"{color}\" d=\"M{x2:.0} {y2:.0}L{:.0} {:.0}L{:.0} {:.0}z\"/></g>",
        bx - 10.0 * dy,
        by + 10.0 * dx,
        bx + 10.0 * dy,
        by - 10.0 * dx,
    );
}

/// Returns the upper left corner of a square.
fn corner(square: Square, bottom: Color) -> (i32, i32) {
    let (file, rank) = (u32::from(square.file()).cast_signed(), u32::from(square.rank()).cast_signed());
    if bottom.is_white() { (file * SQUARE, (7 - rank) * SQUARE) } else { ((7 - file) * SQUARE, rank * SQUARE) }
}
