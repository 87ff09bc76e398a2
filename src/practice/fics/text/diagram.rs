//! Style 1: the board as people see it.

use shakmaty::{File, Position, Rank, Square};

use super::{
    board::{last_move, material},
    clock,
};
use crate::state::GameView;
use domain::Color;

const EDGE: &str = "       ---------------------------------";
const RULE: &str = "       |---+---+---+---+---+---+---+---|";

/// The board of a game in lines for people, with White at the bottom or (`flipped`) at the top.
pub(crate) fn diagram(view: &GameView, number: u32, flipped: bool) -> String {
    let players = &view.pairing.players;
    let mut rows =
        vec![format!("Game {number} ({} vs. {})\n", players.white.name, players.black.name), EDGE.to_owned()];
    let notes = notes(view);
    let (mut ranks, mut files) = (Rank::ALL, File::ALL);
    if flipped {
        files.reverse();
    } else {
        ranks.reverse();
    }
    let board = view.line.position().board();
    for (row, rank) in ranks.into_iter().enumerate() {
        if row > 0 {
            rows.push(RULE.to_owned());
        }
        let squares: String = files
            .iter()
            .map(|file| match board.piece_at(Square::from_coords(*file, rank)) {
                None => "   |".to_owned(),
                Some(piece) if piece.color.is_black() => format!(" *{}|", piece.role.upper_char()),
                Some(piece) => format!(" {} |", piece.role.upper_char()),
            })
            .collect();
        let note = notes.get(row).map_or("", String::as_str);
        rows.push(format!("    {}  |{squares}     {note}", rank.char()).trim_end().to_owned());
    }
    rows.push(EDGE.to_owned());
    let letters: String = files.iter().map(|file| format!("{}   ", file.char())).collect();
    rows.push(format!("         {}", letters.trim_end()));
    rows.join("\n")
}

/// Returns the text beside the board, a line for each of its rows.
fn notes(view: &GameView) -> [String; 8] {
    let position = view.line.position();
    let last = last_move(&view.line).map_or_else(String::new, |(_, san)| {
        let mover = (!view.line.turn()).fold_wb("White", "Black");
        format!("{mover} Moves : '{san}'")
    });
    [
        format!("Move # : {} ({})", position.fullmoves(), position.turn().fold_wb("White", "Black")),
        String::new(),
        last,
        String::new(),
        format!("Black Clock : {}", clock(view, Color::Black)),
        format!("White Clock : {}", clock(view, Color::White)),
        format!("Black Strength : {}", material(position.board(), Color::Black)),
        format!("White Strength : {}", material(position.board(), Color::White)),
    ]
}
