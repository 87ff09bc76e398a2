use draughts_core::board::{Board, Color, Square};

/// The board as White sees it, and beside it the numbers of the squares: `w` and `b` are men, capitals kings.
pub(super) fn board(board: &Board) -> Vec<String> {
    let row = |row: u8| {
        let squares: Vec<Square> = Square::all().filter(|square| square.row() == row).collect();
        let line = |cell: &dyn Fn(Square) -> String, width: usize| {
            let empty = " ".repeat(width);
            let cells = squares.iter().map(|square| cell(*square));
            let [before, after] = if row.is_multiple_of(2) { ["", empty.as_str()] } else { [empty.as_str(), ""] };
            cells.map(|cell| format!("{before}{cell}{after}")).collect::<String>()
        };
        let letter = |square| board.letter(square, [['w', 'W'], ['b', 'B']]).unwrap_or('.');
        let piece = |square: Square| format!("{:>3}", letter(square));
        let number = |square: Square| format!("{:>3}", square.number());
        format!("{}     {}", line(&piece, 3), line(&number, 3)).trim_end().to_owned()
    };
    let to_move = if board.to_move() == Color::White { "White" } else { "Black" };
    (0..8).map(row).chain([format!("{to_move} to move")]).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn board_has_a_dark_corner_at_the_right() {
        let lines = super::board(&"B:W32,K1:B5,K29".parse().expect("a position"));
        assert_eq!(lines[0], "  W     .     .     .          1     2     3     4");
        assert_eq!(lines[1], "     b     .     .     .          5     6     7     8");
        assert!(lines[7].starts_with("     B     .     .     w     "), "{:?}", lines[7]);
        assert_eq!(lines[8], "Black to move");
    }
}
