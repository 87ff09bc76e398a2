//! A game as a browser shows it.

use std::collections::BTreeMap;

use draughts_core::{
    board::{Board, Color, Move, Rules, Square},
    game::{Draw, Game, Outcome, REVERSIBLE_PLIES},
};
use serde::Serialize;

/// The position, what led to it, and what may be played in it.
#[derive(Serialize)]
pub(super) struct GameView {
    /// The position, as `W:W21,K30:B1,2`.
    fen: String,
    turn: &'static str,
    /// The side that moves first from the start.
    first: &'static str,
    moves: Vec<String>,
    last: Option<MoveView>,
    /// The legal moves; none once the game is over.
    legal: Vec<MoveView>,
    /// The pieces taken by each side.
    taken: BTreeMap<&'static str, Pieces>,
    /// The count of moves without progress; none where the rules know no draw.
    count: Option<Count>,
    over: Option<String>,
}

#[derive(Serialize)]
struct MoveView {
    text: String,
    squares: Vec<u8>,
    /// The piece taken by each step; empty for other moves.
    taken: Vec<u8>,
}

#[derive(Default, Serialize)]
struct Pieces {
    men: u32,
    kings: u32,
}

/// Full moves without a capture or a man's move.
#[derive(Serialize)]
struct Count {
    moves: usize,
    /// The number at which the game is drawn.
    draw: usize,
}

impl GameView {
    pub(super) fn of(game: &Game) -> Self {
        let counted = game.rules() == Rules::Official;
        Self {
            fen: game.board().to_string(),
            turn: word(game.board().to_move()),
            first: word(game.start().to_move()),
            moves: game.moves().iter().map(Move::to_string).collect(),
            last: game.moves().last().map(MoveView::of),
            legal: game.legal_moves().iter().map(MoveView::of).collect(),
            taken: [Color::White, Color::Black].map(|side| (word(side), Pieces::taken_by(side, game))).into(),
            count: counted.then(|| Count { moves: game.reversible_plies() / 2, draw: REVERSIBLE_PLIES / 2 }),
            over: game.outcome().map(|outcome| ending(outcome, game.board())),
        }
    }
}

impl MoveView {
    fn of(mv: &Move) -> Self {
        let steps = mv.squares().windows(2);
        let taken = steps.filter_map(|step| Some(between(step[0], step[1])?.number()));
        Self {
            text: mv.to_string(),
            squares: mv.squares().iter().map(|square| square.number()).collect(),
            taken: taken.collect(),
        }
    }
}

/// The square that a jump passes; none for a step.
fn between(from: Square, to: Square) -> Option<Square> {
    let middle = |a: u8, b: u8| (a.abs_diff(b) == 2).then(|| a.midpoint(b));
    let (row, column) = (middle(from.row(), to.row())?, middle(from.column(), to.column())?);
    Square::all().find(|square| (square.row(), square.column()) == (row, column))
}

impl Pieces {
    fn taken_by(side: Color, game: &Game) -> Self {
        let mut taken = Self::default();
        for (board, mv) in game.steps().filter(|(board, _)| board.to_move() == side) {
            taken.men += (board.men(!side) & mv.taken()).len();
            taken.kings += (board.kings(!side) & mv.taken()).len();
        }
        taken
    }
}

const fn word(color: Color) -> &'static str {
    match color {
        Color::White => "white",
        Color::Black => "black",
    }
}

fn ending(outcome: Outcome, board: &Board) -> String {
    let why = match outcome {
        Outcome::Won(winner) => {
            let (winner, loser) = if winner == Color::White { ("White", "Black") } else { ("Black", "White") };
            let lacks = if board.pieces(board.to_move()).is_empty() { "no piece left" } else { "no move" };
            return format!("{winner} won: {loser} has {lacks}");
        }
        Outcome::Drawn(Draw::FortyMoves) => "forty moves of each side without a capture or a man's move",
        Outcome::Drawn(Draw::Repetition) => "the same position for the third time",
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
        let view = GameView::of(&game("W:W13,K14,22:BK11,K12,19,K20", &[]));
        assert_eq!(view.legal.len(), 1);
        assert_eq!(view.legal[0].squares, [14, 7, 16, 23, 14]);
        assert_eq!(view.legal[0].taken, [11, 12, 20, 19]);
        let quiet = GameView::of(&game("W:W22:B1", &[]));
        assert!(quiet.legal.iter().all(|mv| mv.squares.len() == 2 && mv.taken.is_empty()));
    }

    #[test]
    fn captures_are_counted_by_side() {
        let view = GameView::of(&game("W:WK22,29:B18,K1,12", &["22x13", "1-5"]));
        assert_eq!((view.taken["white"].men, view.taken["white"].kings, view.taken["black"].men), (1, 0, 0));
        let view = GameView::of(&game("W:WK23:B19,K20", &["23x16"]));
        assert_eq!((view.taken["white"].men, view.taken["white"].kings), (0, 1));
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
            let view = GameView::of(&game(start, moves));
            assert_eq!(view.over.as_deref(), Some(said));
            assert!(view.legal.is_empty());
        }
    }
}
