//! A game of draughts as a council sees it.

use domain::{Decision, GameLine, Proposal, Score, Vote};
use draughts_core::{
    board::{Board, Color, Move, Rules},
    evaluation::Knowledge,
    game::{Game, Outcome},
};

pub type DraughtsDecision = Decision<Move, Knowledge>;
pub type DraughtsProposal = Proposal<Move>;
/// An elector's proposal with its weight.
pub type DraughtsVote = Vote<Move, Knowledge>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DraughtsLine(pub Game);

impl DraughtsLine {
    pub fn game(&self) -> &Game {
        &self.0
    }
}

impl GameLine for DraughtsLine {
    type Move = Move;
    type Knowledge = Knowledge;
    type Variant = Rules;

    const COMPLETE_KNOWLEDGE: Knowledge = Knowledge::COMPLETE;

    fn variant(&self) -> Rules {
        self.0.rules()
    }

    fn start_text(&self) -> Option<String> {
        let start = self.0.start();
        (*start != Board::default()).then(|| start.to_string())
    }

    fn moves(&self) -> &[Move] {
        self.0.moves()
    }

    fn legal_moves(&self) -> Vec<Move> {
        self.0.legal_moves().to_vec()
    }

    fn is_legal(&self, mv: Move) -> bool {
        self.0.legal_moves().contains(&mv)
    }

    fn advance(&mut self, mv: Move) -> bool {
        self.0.play(mv).is_ok()
    }

    fn prefix(&self, ply: usize) -> Self {
        let mut prefix = self.clone();
        while prefix.0.moves().len() > ply {
            prefix.0.undo();
        }
        prefix
    }

    fn position_text(&self) -> String {
        self.0.board().to_string()
    }

    fn recorded_move(&self, text: &str) -> Option<Move> {
        self.0.board().read_move(text, self.0.rules()).ok()
    }

    fn move_text(&self, mv: Move) -> String {
        mv.to_string()
    }

    fn move_number(&self) -> (usize, bool) {
        let black_began = usize::from(self.0.start().to_move() == Color::Black);
        ((self.ply() + black_began) / 2 + 1, self.0.board().to_move() == Color::White)
    }

    /// A side without a move has lost, so that the end of a game is a win for the one who moved, or a draw.
    fn value_of_the_end(&self) -> Option<Score> {
        Some(match self.0.outcome()? {
            Outcome::Won(_) => Score::Mate(1),
            Outcome::FortyMoves | Outcome::Repetition => Score::Cp(0),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_advance_truncate_and_end() {
        let mut line = DraughtsLine(Game::new("W:W22:B18".parse().expect("a position"), Rules::Official));
        let only = line.legal_moves()[0];
        assert!(line.is_legal(only) && line.value_of_the_end().is_none());
        assert!(line.advance(only));
        assert_eq!((line.ply(), line.value_of_the_end()), (1, Some(Score::Mate(1))));
        assert!(!line.advance(only), "the game is over");
        assert_eq!(line.prefix(0).position_text(), "W:W22:B18");
    }
}
