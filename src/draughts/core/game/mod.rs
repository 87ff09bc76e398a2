//! A game: the moves from its start, its draws, and how it ended. [`pdn`] is its text, [`ballots`] draw its opening.

pub mod ballots;
pub mod pdn;

use super::board::{Board, Color, DraughtsError, Move, MoveList, Rules};

/// Plies without a capture or a man's move after which the game is drawn: forty moves of each side.
pub const REVERSIBLE_PLIES: usize = 80;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// A side won, for the other had no piece left or no move.
    Won(Color),
    /// Drawn after forty moves of each side without a capture or a man's move. Over the board a player asks for the count; here
    /// it always runs, because programs have no arbiter.
    FortyMoves,
    /// Drawn, because the same position, with the same side to move, stands there for the third time.
    Repetition,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    rules: Rules,
    boards: Vec<Board>,
    moves: Vec<Move>,
}

impl Default for Game {
    fn default() -> Self {
        Self::new(Board::default(), Rules::Official)
    }
}

impl Game {
    pub fn new(start: Board, rules: Rules) -> Self {
        Self { rules, boards: vec![start], moves: Vec::new() }
    }

    pub fn rules(&self) -> Rules {
        self.rules
    }

    pub fn start(&self) -> &Board {
        &self.boards[0]
    }

    pub fn board(&self) -> &Board {
        &self.boards[self.moves.len()]
    }

    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    pub fn steps(&self) -> impl ExactSizeIterator<Item = (&Board, &Move)> + DoubleEndedIterator {
        self.boards.iter().zip(&self.moves)
    }

    /// The legal moves; none once the game is over.
    pub fn legal_moves(&self) -> MoveList {
        match self.outcome() {
            Some(_) => MoveList::new(),
            None => self.board().legal_moves(self.rules),
        }
    }

    /// Plays a legal move; an error once the game is over.
    pub fn play(&mut self, mv: Move) -> Result<(), DraughtsError> {
        let legal = self.legal_moves();
        if !legal.contains(&mv) {
            let legal = if legal.is_empty() { "none".to_owned() } else { format!("{legal:?}") };
            return Err(DraughtsError(format!("{mv} is not legal here (legal: {legal})")));
        }
        self.advance(mv);
        Ok(())
    }

    fn advance(&mut self, mv: Move) {
        self.boards.push(self.board().after(&mv));
        self.moves.push(mv);
    }

    pub fn play_text(&mut self, text: &str) -> Result<Move, DraughtsError> {
        let mv = self.board().read_move(text, self.rules)?;
        self.play(mv)?;
        Ok(mv)
    }

    /// Plays a move of a score sheet, also after a draw, which over the board must be claimed.
    fn play_recorded(&mut self, text: &str) -> Result<(), DraughtsError> {
        self.advance(self.board().read_move(text, self.rules)?);
        Ok(())
    }

    pub fn undo(&mut self) -> Option<Move> {
        let undone = self.moves.pop()?;
        self.boards.pop();
        Some(undone)
    }

    /// Returns the number of last plies since the start that were neither captures nor men's moves.
    pub fn reversible_plies(&self) -> usize {
        let irreversible = self.steps().rposition(|(board, mv)| board.is_irreversible(mv));
        self.moves.len() - irreversible.map_or(0, |index| index + 1)
    }

    /// The positions that may come back, from the one after the last irreversible move to the present one.
    pub fn recent(&self) -> &[Board] {
        &self.boards[self.moves.len() - self.reversible_plies()..]
    }

    /// Returns the end of the game. A side without a move has lost, even where the game would be drawn.
    pub fn outcome(&self) -> Option<Outcome> {
        let board = self.board();
        if board.legal_moves(self.rules).is_empty() {
            return Some(Outcome::Won(!board.to_move()));
        }
        if self.rules == Rules::Relaxed {
            return None;
        }
        let recent = self.recent();
        if recent.len() > REVERSIBLE_PLIES {
            Some(Outcome::FortyMoves)
        } else if recent.iter().filter(|earlier| *earlier == board).count() >= 3 {
            Some(Outcome::Repetition)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kings(rules: Rules) -> Game {
        Game::new("W:WK29,K30:BK1,K3".parse().expect("a position"), rules)
    }

    #[test]
    fn threefold_repetition_draws() {
        let mut game = kings(Rules::Official);
        for text in ["29-25", "1-5", "25-29", "5-1", "29-25", "1-5", "25-29"] {
            game.play_text(text).expect("legal");
            assert_eq!(game.outcome(), None);
        }
        game.play_text("5-1").expect("legal");
        assert_eq!(game.outcome(), Some(Outcome::Repetition));
        assert!(game.play_text("29-25").is_err(), "a game that is over takes no move");
        assert_eq!(game.undo().map(|mv| mv.to_string()).as_deref(), Some("5-1"));
        assert_eq!(game.outcome(), None);
    }

    #[test]
    fn relaxed_rules_know_no_draw() {
        let mut game = kings(Rules::Relaxed);
        for text in ["29-25", "1-5", "25-29", "5-1"].into_iter().cycle().take(100) {
            game.play_text(text).expect("legal");
        }
        assert_eq!((game.outcome(), game.reversible_plies()), (None, 100));
    }

    #[test]
    fn forty_quiet_moves_draw() {
        // The kings walk on rings of eight and of six squares: a position comes back after 24 moves of each side.
        let white = [29, 25, 21, 18, 22, 27, 30, 26, 29];
        let black = [3, 6, 11, 15, 12, 7, 3];
        let mut game = Game::new("W:WK29:BK3".parse().expect("a position"), Rules::Official);
        let walks = white.windows(2).cycle().take(8 * 6).zip(black.windows(2).cycle());
        let mut plies = 0;
        for step in walks.flat_map(|(white, black)| [white, black]) {
            if game.outcome().is_some() {
                break;
            }
            game.play_text(&format!("{}-{}", step[0], step[1])).expect("legal");
            plies += 1;
        }
        assert_eq!((game.outcome(), plies), (Some(Outcome::FortyMoves), 80));
    }

    #[test]
    fn side_without_moves_has_lost() {
        let mut taken = Game::new("W:W22:B18".parse().expect("a position"), Rules::Official);
        taken.play_text("22x13").expect("legal");
        assert_eq!(taken.outcome(), Some(Outcome::Won(Color::White)));
        let blocked = Game::new("B:W14,10:B5,K1".parse().expect("a position"), Rules::Official);
        assert_eq!(blocked.outcome(), None);
        let blocked = Game::new("B:W9,10,13,14:B5".parse().expect("a position"), Rules::Official);
        assert_eq!(blocked.outcome(), Some(Outcome::Won(Color::White)));
    }
}
