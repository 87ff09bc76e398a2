//! The votes as text, and games with the votes beside the moves.

use council::player::vote_report;
use draughts_core::game::{
    Game,
    pdn::{GameResult, PdnRecord},
};

use crate::player::{DraughtsDecision, DraughtsLine};

/// The whole vote of a decision about the present position of a game, in lines: titles, a line an elector, and a summary.
pub fn vote_lines(game: &Game, decision: &DraughtsDecision) -> Vec<String> {
    vote_report::lines(&DraughtsLine::from(game.clone()), decision)
}

/// A running game with the comments on its moves.
#[derive(Clone, Debug)]
pub struct ScoreSheet {
    record: PdnRecord,
}

impl ScoreSheet {
    /// Creates the sheet of a game between these two, which may have begun already.
    pub fn new(white: &str, black: &str, game: Game) -> Self {
        let tags = [("Event", "concilio"), ("White", white), ("Black", black)];
        let tags = tags.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { record: PdnRecord { tags, game, comments: Default::default(), result: GameResult::Unknown } }
    }

    pub fn game(&self) -> &Game {
        &self.record.game
    }

    /// Plays what was decided, and keeps the vote as a comment.
    pub fn decided(&mut self, decision: &DraughtsDecision) -> Result<(), draughts_core::board::DraughtsError> {
        let said = comment(self.game(), decision);
        self.record.game.play(decision.best)?;
        self.comment(said);
        Ok(())
    }

    #[must_use]
    pub fn with_tag(mut self, name: &str, value: &str) -> Self {
        self.record.tags.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn comment(&mut self, said: String) {
        self.record.comments.insert(self.record.game.moves().len(), said);
    }

    /// Reads a move and plays it.
    pub fn play_text(&mut self, text: &str) -> Result<draughts_core::board::Move, draughts_core::board::DraughtsError> {
        self.record.game.play_text(text)
    }

    /// Plays a move.
    pub fn play(&mut self, mv: draughts_core::board::Move) -> Result<(), draughts_core::board::DraughtsError> {
        self.record.game.play(mv)
    }

    /// Takes the last move back, with its comment.
    pub fn undo(&mut self) -> bool {
        let undone = self.record.game.undo().is_some();
        let moves = self.record.game.moves().len();
        self.record.comments.retain(|after, _| *after <= moves);
        undone
    }

    /// The game with its result: that of the board, or where it goes on there this one.
    pub fn pdn(&self, agreed: GameResult) -> String {
        let on_board = GameResult::from(self.game().outcome());
        let result = if on_board == GameResult::Unknown { agreed } else { on_board };
        PdnRecord { result, ..self.record.clone() }.to_string()
    }
}

/// The vote in one line: the summary, and who proposed what.
fn comment(game: &Game, decision: &DraughtsDecision) -> String {
    let line = DraughtsLine::from(game.clone());
    vote_report::in_one_line(&vote_report::summary(&line, decision), &vote_report::entries(&line, decision))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::player::DraughtsPlayer;
    use council::electors::Pool;
    use draughts_core::{board::Rules, game::pdn};

    #[tokio::test]
    async fn score_sheet_round_trips_votes() {
        let mut player = DraughtsPlayer::new(&"council:criterion=majority".parse().expect("a player"), &Pool::new(1));
        let mut sheet = ScoreSheet::new("council", "Anna", Game::default());
        let limits = domain::Pace::Nodes(500).limits();
        let decision = player.decide(sheet.game(), &limits, &mut |_| {}).await.expect("a move");
        assert_eq!(vote_lines(sheet.game(), &decision).len(), 1 + 4 + 1);
        sheet.decided(&decision).expect("legal");
        let reply = sheet.game().legal_moves()[0].to_string();
        sheet.play_text(&reply).expect("legal");
        let record = &pdn::read(&sheet.pdn(GameResult::Drawn), Rules::Official).expect("a game")[0];
        assert_eq!((&record.game, record.result), (sheet.game(), GameResult::Drawn));
        let said = &record.comments[&1];
        assert!(said.contains("by majority") && said.contains("; fully-guarded (mpsk) "), "{said}");
        assert!(sheet.undo() && sheet.undo() && !sheet.undo());
        assert!(!sheet.pdn(GameResult::Unknown).contains("by majority"));
    }
}
