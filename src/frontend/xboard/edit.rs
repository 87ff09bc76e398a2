//! The old way to set up a position, piece by piece: `edit`, then `Ke1`, `Pa2`, `c`, `ke8` and so on, one a line, and `.`.

use shakmaty::{Board, Color, File, Piece, Position as _, Role, Setup, Square, fen::Fen};

use domain::Line;

pub(super) struct Edit {
    board: Board,
    turn: Color,
    color: Color,
}

impl Edit {
    /// Begins with the pieces of a position; White's are placed first. The side to move stays.
    pub(super) fn of(line: &Line) -> Self {
        Self { board: line.position().board().clone(), turn: line.turn(), color: Color::White }
    }

    /// Executes one command: `#` clears the board, `c` changes colour, `Pa4` places a piece, `xa4`
    /// removes one.
    pub(super) fn command(&mut self, text: &str) -> Result<(), String> {
        let wrong =
            || format!("edit: {text:?} (accepted: #, c, a piece and a square such as Pa4, xa4, and . at the end)");
        match text {
            "#" => self.board = Board::empty(),
            "c" => self.color = !self.color,
            _ => {
                let (letter, square) = text.split_at_checked(1).ok_or_else(wrong)?;
                let square: Square = square.to_lowercase().parse().map_err(|_| wrong())?;
                match letter.chars().next() {
                    Some('x') => _ = self.board.remove_piece_at(square),
                    Some(letter) => {
                        let role = Role::from_char(letter).ok_or_else(wrong)?;
                        self.board.set_piece_at(square, Piece { color: self.color, role });
                    }
                    None => return Err(wrong()),
                }
            }
        }
        Ok(())
    }

    /// Returns the FEN. Kings and rooks on their first squares count as unmoved.
    pub(super) fn fen(&self) -> String {
        let mut setup = Setup::empty();
        setup.board = self.board.clone();
        setup.turn = self.turn;
        for color in Color::ALL {
            let king = color.fold_wb(Square::E1, Square::E8);
            if self.board.king_of(color) != Some(king) {
                continue;
            }
            for file in [File::A, File::H] {
                let rook = Square::from_coords(file, color.backrank());
                if self.board.piece_at(rook) == Some(Piece { color, role: Role::Rook }) {
                    setup.castling_rights.add(rook);
                }
            }
        }
        Fen::try_from_setup(setup).map_or_else(|_| String::new(), |fen| fen.to_string())
    }
}
