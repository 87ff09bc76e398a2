//! A game in the page, as the journal has it: from the opponent's first answer on.

use bot::journal::{GameKey, Journal};
use chess::{GameId, ServerName, TimeControl};
use draughts::{
    board::Color,
    game::{Game, pdn::GameResult},
};
use draughts_player::{DraughtsDecision, GameRecorder, Occasion};

use crate::problem::HttpProblem;

/// What stands in the journal where other games name their server, and the name of whoever plays in the page.
const PLACE: &str = "page";
const GUEST: &str = "Guest";

/// Writes the opponent's answer with its votes, then plays it; with it the game may be over.
pub(super) async fn answered(
    journal: &Journal,
    id: GameId,
    game: &mut Game,
    opponent: &str,
    decision: &DraughtsDecision,
) -> Result<(), HttpProblem> {
    let recorder = recorder(journal, id, game, game.board().to_move(), opponent);
    recorder.decided(game, decision).await;
    game.play(decision.best).map_err(HttpProblem::internal)?;
    if game.outcome().is_some() {
        recorder.over(game, GameResult::Unknown).await;
    }
    Ok(())
}

/// Writes the end of a game whose last move is the guest's; one that nobody answered in is not begun with its end.
pub(super) async fn ended(journal: &Journal, id: GameId, game: &Game) {
    let key = GameKey::new(&ServerName::new(PLACE), &id);
    if journal.knows(&key).await.unwrap_or(false) {
        recorder(journal, id, game, game.board().to_move(), "").over(game, GameResult::Unknown).await;
    }
}

fn recorder(journal: &Journal, id: GameId, game: &Game, ours: Color, opponent: &str) -> GameRecorder {
    let players = if ours == Color::White { [opponent, GUEST] } else { [GUEST, opponent] };
    let occasion = Occasion { place: PLACE, players, ours, clock: TimeControl::Unlimited };
    GameRecorder::resume(Some(journal), &occasion, id, game)
}
