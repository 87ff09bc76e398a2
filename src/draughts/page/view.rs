//! A game as a browser shows it.

use crate::player::color;
use domain::color_word;
use draughts_core::{
    board::{Board, Color, Move, Rules, Square},
    game::{Game, Outcome, REVERSIBLE_PLIES},
};
use serde_json::{Value, json};

/// The position, what led to it, and what may be played in it: no legal move once the game is over, and no count of moves
/// without progress where the rules know no draw.
pub(super) fn view(game: &Game) -> Value {
    let counted = game.rules() == Rules::Official;
    json!({
        "fen": game.board().to_string(),
        "turn": color_word(color(game.board().to_move())),
        "first": color_word(color(game.start().to_move())),
        "moves": game.moves().iter().map(Move::to_string).collect::<Vec<_>>(),
        "last": game.moves().last().map(move_view),
        "legal": game.legal_moves().iter().map(move_view).collect::<Vec<_>>(),
        "taken": {"white": taken_by(Color::White, game), "black": taken_by(Color::Black, game)},
        "count": counted.then(|| json!({"moves": game.reversible_plies() / 2, "draw": REVERSIBLE_PLIES / 2})),
        "over": game.outcome().map(|outcome| ending(outcome, game.board())),
    })
}

/// A move with the squares it visits, and the piece that each step takes.
fn move_view(mv: &Move) -> Value {
    let steps = mv.squares().windows(2);
    let taken: Vec<u8> = steps.filter_map(|step| Some(between(step[0], step[1])?.number())).collect();
    let squares: Vec<u8> = mv.squares().iter().map(|square| square.number()).collect();
    json!({"text": mv.to_string(), "squares": squares, "taken": taken})
}

/// The square that a jump passes; none for a step.
fn between(from: Square, to: Square) -> Option<Square> {
    let middle = |a: u8, b: u8| (a.abs_diff(b) == 2).then(|| a.midpoint(b));
    let (row, column) = (middle(from.row(), to.row())?, middle(from.column(), to.column())?);
    Square::all().find(|square| (square.row(), square.column()) == (row, column))
}

fn taken_by(side: Color, game: &Game) -> Value {
    let (mut men, mut kings) = (0, 0);
    for (board, mv) in game.steps().filter(|(board, _)| board.to_move() == side) {
        men += (board.men(!side) & mv.taken()).len();
        kings += (board.kings(!side) & mv.taken()).len();
    }
    json!({"men": men, "kings": kings})
}

fn ending(outcome: Outcome, board: &Board) -> String {
    let why = match outcome {
        Outcome::Won(winner) => {
            let (winner, loser) = if winner == Color::White { ("White", "Black") } else { ("Black", "White") };
            let lacks = if board.pieces(board.to_move()).is_empty() { "no piece left" } else { "no move" };
            return format!("{winner} won: {loser} has {lacks}");
        }
        Outcome::FortyMoves => "forty moves of each side without a capture or a man's move",
        Outcome::Repetition => "the same position for the third time",
    };
    format!("Drawn: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn game(start: &str, moves: &[&str]) -> Game {
        let mut game = Game::new(start.parse().expect("a position"), Rules::Official);
        for text in moves {
            game.play_text(text).expect("legal");
        }
        game
    }

    #[test]
    fn captures_are_shown_step_by_step() {
        let shown = view(&game("W:W13,K14,22:BK11,K12,19,K20", &[]));
        let capture = json!({"text": "14x7x16x23x14", "squares": [14, 7, 16, 23, 14], "taken": [11, 12, 20, 19]});
        assert_eq!(shown["legal"], json!([capture]));
        let quiet = view(&game("W:W22:B1", &[]));
        let steps = quiet["legal"].as_array().expect("moves");
        assert!(steps.iter().all(|mv| mv["squares"].as_array().map(Vec::len) == Some(2) && mv["taken"] == json!([])));
    }

    #[test]
    fn captures_are_counted_by_side() {
        let men = &view(&game("W:WK22,29:B18,K1,12", &["22x13", "1-5"]))["taken"];
        assert_eq!((&men["white"], &men["black"]["men"]), (&json!({"men": 1, "kings": 0}), &json!(0)));
        let kings = &view(&game("W:WK23:B19,K20", &["23x16"]))["taken"];
        assert_eq!(kings["white"], json!({"men": 0, "kings": 1}));
    }

    #[test]
    fn every_ending_says_why() {
        for (start, moves, said) in [
            ("W:W22:B18", &["22x13"][..], "White won: Black has no piece left"),
            ("B:W9,10,13,14:B5", &[][..], "White won: Black has no move"),
            (
                "W:WK29,K30:BK1,K3",
                &["29-25", "1-5", "25-29", "5-1", "29-25", "1-5", "25-29", "5-1"][..],
                "Drawn: the same position for the third time",
            ),
        ] {
            let shown = view(&game(start, moves));
            assert_eq!((&shown["over"], &shown["legal"]), (&json!(said), &json!([])));
        }
    }
}
