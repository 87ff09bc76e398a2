//! The board as text, in larger squares where the terminal has space for them.

use crossterm::style::{self, Colored, StyledContent, Stylize};
use shakmaty::{File, Position, Rank, Role, Square};

use domain::{Color, Line};

/// Colours of squares by their place in the 256 colours of a terminal.
const LIGHT: style::Color = style::Color::AnsiValue(187);
const DARK: style::Color = style::Color::AnsiValue(144);
const LAST: style::Color = style::Color::AnsiValue(150);
const INK: style::Color = style::Color::AnsiValue(16);

/// Columns beside a board that is drawn large.
const ROOM_BESIDE: usize = 44;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SquareSize {
    columns: usize,
    rows: usize,
}

impl SquareSize {
    pub(super) const SMALL: Self = Self { columns: 2, rows: 1 };
    const LARGE: [Self; 2] = [Self { columns: 7, rows: 3 }, Self { columns: 5, rows: 2 }];

    /// The largest size for a board in `rows` rows that leaves space for text beside it.
    pub(super) fn fitting(columns: usize, rows: usize) -> Self {
        let fits = |size: &Self| size.board_columns() + ROOM_BESIDE <= columns && size.board_rows() <= rows;
        Self::LARGE.into_iter().find(fits).unwrap_or(Self::SMALL)
    }

    /// The columns of the board with the space beside it.
    pub(super) const fn board_columns(self) -> usize {
        8 * self.columns + 6
    }

    /// The rows of the board with the letters of its files.
    pub(super) const fn board_rows(self) -> usize {
        8 * self.rows + 1
    }
}

/// The position after `line`, from the side of `below`.
pub(super) fn board(line: &Line, below: Color, size: SquareSize) -> Vec<String> {
    let last = line.moves().last().and_then(|uci| uci.to());
    let order = |index: u32| if below == Color::White { index } else { 7 - index };
    let middle = size.rows / 2;
    let mut lines: Vec<String> = (0..8 * size.rows)
        .map(|row| {
            let rank = Rank::new(7 - order(u32::try_from(row / size.rows).unwrap_or(0)));
            let has_pieces = row % size.rows == middle;
            let mut text = if has_pieces { format!(" {} ", rank.char()) } else { "   ".to_owned() };
            for column in 0..8 {
                let square = Square::from_coords(File::new(order(column)), rank);
                let piece = line.position().board().piece_at(square).filter(|_| has_pieces);
                let piece = piece.map(|piece| glyph(piece.color, piece.role));
                text.push_str(&cell(piece, has_pieces, square, Some(square) == last, size).to_string());
            }
            text
        })
        .collect();
    let files = (0..8).map(|column| format!("{:^1$}", File::new(order(column)).char(), size.columns));
    lines.push(format!("   {}", files.collect::<String>()));
    lines
}

/// One row of a square. Large squares have colours; without colours, and in small ones, a dot stands on an empty square.
fn cell(
    piece: Option<char>,
    is_middle: bool,
    square: Square,
    is_last: bool,
    SquareSize { columns, rows }: SquareSize,
) -> StyledContent<String> {
    let has_colors = rows > 1 && !Colored::ansi_color_disabled_memoized();
    let empty = if is_middle && !has_colors { '·' } else { ' ' };
    let cell = format!("{:^columns$}", piece.unwrap_or(empty)).stylize();
    match (has_colors, is_last) {
        (true, true) => cell.with(INK).on(LAST),
        (true, false) => cell.with(INK).on(if square.is_light() { LIGHT } else { DARK }),
        (false, true) => cell.reverse(),
        (false, false) if piece.is_none() => cell.dim(),
        (false, false) => cell,
    }
}

fn glyph(color: Color, role: Role) -> char {
    let (white, black) = match role {
        Role::Pawn => ('♙', '♟'),
        Role::Knight => ('♘', '♞'),
        Role::Bishop => ('♗', '♝'),
        Role::Rook => ('♖', '♜'),
        Role::Queen => ('♕', '♛'),
        Role::King => ('♔', '♚'),
    };
    if color == Color::White { white } else { black }
}
