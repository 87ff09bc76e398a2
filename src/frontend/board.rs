use shakmaty::{File, Position, Rank, Square};

use domain::Line;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BoardStyle {
    pub reversed: bool,
    /// Files and ranks are named at the edge.
    pub coordinates: bool,
    /// Dark squares without a piece are stars.
    pub stars: bool,
}

pub(super) fn draw(line: &Line, look: BoardStyle) -> String {
    let order = |index: u32| if look.reversed { 7 - index } else { index };
    let mut drawing = String::new();
    for rank in (0..8).map(|row| Rank::new(7 - order(row))) {
        if look.coordinates {
            drawing.extend([rank.char(), ' ']);
        }
        for file in (0..8).map(|column| File::new(order(column))) {
            let square = Square::from_coords(file, rank);
            let empty = if look.stars && square.is_dark() { '*' } else { '.' };
            let letter = line.position().board().piece_at(square).map_or(empty, shakmaty::Piece::char);
            drawing.extend([letter, ' ']);
        }
        drawing.truncate(drawing.trim_end().len());
        drawing.push('\n');
    }
    if look.coordinates {
        let files: Vec<String> = (0..8).map(|column| File::new(order(column)).char().to_string()).collect();
        drawing.push_str(&format!("  {}\n", files.join(" ")));
    }
    format!("{drawing}{} to move\nfen {}", line.turn(), line.fen())
}
