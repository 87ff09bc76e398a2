//! A game in the page, as the journal has it: from the opponent's first answer on.

use crate::player::{DraughtsDecision, GameRecorder, Occasion};
use bot::journal::{GameKey, Journal};
use domain::{GameId, ServerName, TimeControl};
use draughts_core::{
    board::Color,
    game::{Game, pdn::GameResult},
};

use web::HttpProblem;

/// The journal's place instead of a server's name, and the name of the player.
const PLACE: &str = "page";
const GUEST: &str = "Guest";

/// Writes the opponent's answer with its votes, then plays it; with it the game may be over. Where it was over and moves were taken
/// back, it goes on. A name that a game by other rules has already is refused: it would lose its moves.
pub(super) async fn answered(
    journal: &Journal,
    id: GameId,
    game: &mut Game,
    opponent: &str,
    decision: &DraughtsDecision,
) -> Result<(), HttpProblem> {
    if known_rules(journal, &id).await?.is_some_and(|known| known != game.rules().to_string()) {
        return Err(HttpProblem::bad(format!("the game {id} is another one; begin a game with a name of its own")));
    }
    journal.game_goes_on(&key(&id));
    let recorder = recorder(journal, id, game, game.board().to_move(), opponent);
    recorder.decided(game, decision).await;
    game.play(decision.best).map_err(HttpProblem::internal)?;
    if game.outcome().is_some() {
        recorder.over(game, GameResult::Unknown).await;
    }
    Ok(())
}

/// Writes the end of a game whose last move is the player's, if the journal has it.
pub(super) async fn ended(journal: &Journal, id: GameId, game: &Game) {
    if known_rules(journal, &id).await.ok().flatten().is_some_and(|known| known == game.rules().to_string()) {
        recorder(journal, id, game, game.board().to_move(), "").over(game, GameResult::Unknown).await;
    }
}

/// The rules of the game of this name, where the journal has one.
async fn known_rules(journal: &Journal, id: &GameId) -> Result<Option<String>, HttpProblem> {
    journal.variant_of(&key(id)).await.map_err(HttpProblem::internal)
}

fn key(id: &GameId) -> GameKey {
    GameKey::new(&ServerName::new(PLACE), id)
}

fn recorder(journal: &Journal, id: GameId, game: &Game, ours: Color, opponent: &str) -> GameRecorder {
    let players = if ours == Color::White { [opponent, GUEST] } else { [GUEST, opponent] };
    let occasion = Occasion { place: PLACE, players, ours, clock: TimeControl::Unlimited };
    GameRecorder::resume(Some(journal), &occasion, id, game)
}
