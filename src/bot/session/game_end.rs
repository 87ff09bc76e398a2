//! How the end of a game gets into the record: as its stream showed it, or as the server remembers it where nobody saw it.
//!
//! A game that ended while we were away, or whose last moves were never shown, is looked up: the server's own record gives its
//! moves and its result.

use std::time::Duration;

use tokio::time::sleep;

use super::{account_context::AccountContext, event::GameEvent};
use crate::journal::JournalError;
use chess::{ActionError, Color, GameId, GameInfo, GameState, GameStatus, Line};

/// The pauses before a finished game is looked up again: a server may need a moment to file it.
const AGAIN: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(30)];

/// A game as it was when it ended.
pub(super) struct FinalState {
    pub info: Box<GameInfo>,
    pub plies: usize,
}

/// Writes down how a game ended, and tells so; `state` is what we saw of it, if we did.
pub(super) async fn record(
    context: &AccountContext,
    game: &GameId,
    state: Option<FinalState>,
    status: GameStatus,
    winner: Option<Color>,
) {
    let pgn = match context.journal.game_over(&context.key(game), &status, winner).await {
        Ok(pgn) => pgn,
        // It ended before we saw anything of it.
        Err(JournalError::UnknownGame(_)) => None,
        Err(error) => {
            tracing::error!(%game, %error, "the end of a game is not in the record yet");
            None
        }
    };
    let (info, plies) = state.map_or((None, 0), |state| (Some(state.info), state.plies));
    context.tell_of_game(game, GameEvent::Over { info, status, winner, plies, pgn });
}

/// Records a game that ended unseen, as the server has it; where the server does not say, as it was `told` elsewhere.
pub(super) fn look_up(context: &AccountContext, game: &GameId, told: Option<(GameStatus, Option<Color>)>) {
    let (context, game) = (context.clone(), game.clone());
    context.requests.clone().spawn(async move {
        let mut pauses = AGAIN.into_iter();
        loop {
            match (ask(&context, &game).await, pauses.next()) {
                (LookUp::Recorded, _) => return,
                (LookUp::NotYet, Some(pause)) => sleep(pause).await,
                (LookUp::NotYet | LookUp::NotKnown | LookUp::NotTold, _) => break,
            }
        }
        let (status, winner) = told.unwrap_or((GameStatus::UnknownFinish, None));
        record(&context, &game, None, status, winner).await;
    });
}

/// Completes the record of those games that ended while nobody was there to see it.
pub(super) fn complete_record(context: &AccountContext) {
    let context = context.clone();
    context.requests.clone().spawn(async move {
        let unfinished = context.journal.unfinished(&context.name).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the games that ended while we were away are not known");
            Vec::new()
        });
        for game in unfinished {
            if ask(&context, &game).await == LookUp::NotKnown {
                record(&context, &game, None, GameStatus::UnknownFinish, None).await;
            }
        }
    });
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LookUp {
    /// It is in the journal now.
    Recorded,
    /// The server did not answer, or the game still runs.
    NotYet,
    /// The server has no such game.
    NotKnown,
    /// This server does not tell of finished games.
    NotTold,
}

async fn ask(context: &AccountContext, game: &GameId) -> LookUp {
    match context.server.finished_game(game).await {
        Ok((info, state)) if !state.status.is_running() => {
            record_whole(context, &info, &state).await;
            LookUp::Recorded
        }
        Ok(_) | Err(ActionError::Limited { .. } | ActionError::Unavailable(_) | ActionError::Unauthorised(_)) => {
            LookUp::NotYet
        }
        Err(ActionError::NotFound(_)) => LookUp::NotKnown,
        Err(ActionError::Refused(_) | ActionError::Unsupported(_)) => LookUp::NotTold,
    }
}

async fn record_whole(context: &AccountContext, info: &GameInfo, state: &GameState) {
    let mut line: Line = info.start.clone();
    if let Err(error) = line.play_all(&state.moves) {
        context.fault(Some(&info.id), format!("the server's record of the game makes no sense: {error}"));
    }
    let seen = FinalState { info: Box::new(info.clone()), plies: line.ply() };
    context.journal.game_started(&context.name, info);
    context.journal.line_seen(&context.key(&info.id), &line.into(), None);
    record(context, &info.id, Some(seen), state.status.clone(), state.winner).await;
}
