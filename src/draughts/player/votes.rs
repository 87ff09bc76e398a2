//! The votes as text, and games with the votes beside the moves.

use council::player::vote_report;
use draughts_core::{
    board::DraughtsError,
    game::{Game, pdn::PdnRecord},
};

use crate::player::{DraughtsDecision, DraughtsLine};

/// The whole vote of a decision about the present position of a game, in lines: titles, a line an elector, and a summary.
pub fn vote_lines(game: &Game, decision: &DraughtsDecision) -> Vec<String> {
    vote_report::lines(&DraughtsLine(game.clone()), decision)
}

/// Plays what was decided, and keeps the vote as a comment.
pub fn play_decided(sheet: &mut PdnRecord, decision: &DraughtsDecision) -> Result<(), DraughtsError> {
    let said = comment(&sheet.game, decision);
    sheet.game.play(decision.best)?;
    sheet.note(said);
    Ok(())
}

/// The vote in one line: the summary, and who proposed what.
fn comment(game: &Game, decision: &DraughtsDecision) -> String {
    let line = DraughtsLine(game.clone());
    vote_report::in_one_line(&vote_report::summary(&line, decision), &vote_report::entries(&line, decision))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::player::DraughtsPlayer;
    use council::electors::Pool;
    use draughts_core::{
        board::Rules,
        game::pdn::{self, GameResult},
    };

    #[tokio::test]
    async fn score_sheet_round_trips_votes() {
        let mut player = DraughtsPlayer::new(&"council:criterion=majority".parse().expect("a player"), &Pool::new(1));
        let mut sheet = PdnRecord::between("council", "Anna", Game::default());
        let limits = domain::Pace::Nodes(500).limits();
        let decision = player.decide(&sheet.game, &limits, &mut |_| {}).await.expect("a move");
        assert_eq!(vote_lines(&sheet.game, &decision).len(), 1 + 4 + 1);
        play_decided(&mut sheet, &decision).expect("legal");
        let reply = sheet.game.legal_moves()[0].to_string();
        sheet.game.play_text(&reply).expect("legal");
        let record = &pdn::read(&sheet.text(GameResult::Drawn), Rules::Official).expect("a game")[0];
        assert_eq!((&record.game, record.result), (&sheet.game, GameResult::Drawn));
        let said = &record.comments[&1];
        assert!(said.contains("by majority") && said.contains("; fully-guarded (mpsk) "), "{said}");
        assert!(sheet.undo() && sheet.undo() && !sheet.undo());
        assert!(!sheet.text(GameResult::Unknown).contains("by majority"));
    }
}
