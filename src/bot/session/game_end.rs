//! Records the end of a game: from its stream, or from the server's archive if the stream did not
//! show it.
//!
//! After an end while the daemon was down, or without the last moves, the game is looked up: the
//! server's own record has its moves and its result.

use std::{sync::Arc, time::Duration};

use tokio::{sync::mpsc, time::sleep};

use super::{account_context::AccountContext, event::GameEvent};
use crate::journal::JournalError;
use domain::{ActionError, Color, GameId, GameInfo, GameState, GameStatus, KnownGame, Line};
use util::supervised;

/// The pauses before another look-up: a server may need a moment to file a game, and longer in trouble.
const AGAIN: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(60),
    Duration::from_secs(120),
    Duration::from_secs(600),
];
/// The number of answers without the game before it counts as unknown: one list of the server may have a gap.
const TIMES_NOT_KNOWN: u32 = 2;

/// The last known state of a game, if there is one: its constant part, and the number of moves of both sides.
pub(super) type LastState = Option<(Box<GameInfo>, usize)>;

/// The status and the winner of a finished game.
type Ending = (GameStatus, Option<Color>);

/// Records and announces the end of a game, with the change of the bot's rating if the server has announced it already.
pub(super) async fn record(
    context: &AccountContext,
    game: &GameId,
    seen: LastState,
    status: GameStatus,
    winner: Option<Color>,
    rating_change: Option<i32>,
) {
    let pgn = match context.runtime.journal.game_over(&context.key(game), &status, winner).await {
        Ok(pgn) => pgn,
        // The game ended before its first state.
        Err(JournalError::UnknownGame(_)) => None,
        Err(error) => {
            tracing::error!(%game, %error, "the end of a game, or its PGN, is not yet written");
            None
        }
    };
    let (info, plies) = seen.unzip();
    let plies = plies.unwrap_or_default();
    context.tell_of_game(game, GameEvent::Over { info, status, winner, plies, pgn, rating_change });
}

/// Records the end of a game from the server's record, or else as `told` by the event stream.
pub(super) fn look_up(context: &Arc<AccountContext>, game: &GameId, seen: LastState, told: Option<Ending>) {
    let (context, game) = (Arc::clone(context), game.clone());
    context.requests.clone().spawn(async move {
        supervised!("look-up", look_up_now(&context, &game, seen.clone(), told.clone())).await;
    });
}

async fn look_up_now(context: &AccountContext, game: &GameId, seen: LastState, told: Option<Ending>) {
    // An adjourned game is not over.
    let is_adjourned = matches!(told, Some((GameStatus::Adjourned, _)));
    let outcome = if is_adjourned { LookUpOutcome::NotTold } else { ask(context, game, true).await };
    let not_told = outcome.status();
    match (outcome, told) {
        (LookUpOutcome::Found(info, state), _) => record_whole(context, &info, &state).await,
        // The record stays open: the next start looks the game up.
        (LookUpOutcome::Interrupted, _) => {
            tracing::info!(%game, "stopping before the server has reported the end of the game");
        }
        (_, Some((status, winner))) => record(context, game, seen, status, winner, None).await,
        // The end is unknown: it is announced as such, and the record stays open for the next start.
        (LookUpOutcome::NoAnswer | LookUpOutcome::StillRuns, None) => {
            let (info, plies) = seen.unzip();
            let (plies, status) = (plies.unwrap_or_default(), not_told);
            let over = GameEvent::Over { info, status, winner: None, plies, pgn: None, rating_change: None };
            context.tell_of_game(game, over);
        }
        (LookUpOutcome::NotKnown { .. } | LookUpOutcome::NotTold, None) => {
            record(context, game, seen, not_told, None, None).await;
        }
    }
}

/// Completes the record of a game of an earlier process, and announces its end.
pub(super) async fn record_past(context: &AccountContext, game: &GameId, outcome: LookUpOutcome) {
    let status = outcome.status();
    match outcome {
        LookUpOutcome::Found(info, state) => record_whole(context, &info, &state).await,
        _ => record(context, game, None, status, None, None).await,
    }
}

/// Looks up the unfinished games of the last process, and sends finished and unknown ones to `past`. An answer may take long, because
/// some servers know a game only after its end; meanwhile the game may be played again, so the caller decides about its record.
pub(super) fn complete_record(
    context: &Arc<AccountContext>,
    unfinished: Vec<KnownGame>,
    past: &mpsc::UnboundedSender<(GameId, LookUpOutcome)>,
) {
    for game in unfinished {
        let (context, past) = (Arc::clone(context), past.clone());
        context.requests.clone().spawn(async move {
            let id = game.info.id;
            let outcome = ask(&context, &id, false).await;
            match outcome {
                LookUpOutcome::Found(..) | LookUpOutcome::NotKnown { .. } => drop(past.send((id, outcome))),
                LookUpOutcome::NoAnswer => tracing::warn!(game = %id, "the server does not say how the game ended"),
                LookUpOutcome::StillRuns | LookUpOutcome::NotTold | LookUpOutcome::Interrupted => (),
            }
        });
    }
}

#[derive(Debug)]
pub(super) enum LookUpOutcome {
    /// The server's record of the finished game.
    Found(Box<GameInfo>, GameState),
    /// By the server's answer it still runs.
    StillRuns,
    /// The server does not answer, or the journal does not.
    NoAnswer,
    /// The server knows no such game; true if both sides had moved, as far as known.
    NotKnown { both_moved: bool },
    /// The server does not serve finished games.
    NotTold,
    /// The daemon stops before an answer.
    Interrupted,
}

impl LookUpOutcome {
    /// Returns the status of a game without other information. A server keeps no game before both sides have moved.
    const fn status(&self) -> GameStatus {
        match self {
            Self::NotKnown { both_moved: false } => GameStatus::Aborted,
            _ => GameStatus::UnknownFinish,
        }
    }
}

/// Asks for the end of a game, again after each pause of [`AGAIN`]. One that `is_over` may seem to run for a while.
async fn ask(context: &AccountContext, game: &GameId, is_over: bool) -> LookUpOutcome {
    let mut not_known = 0;
    let mut pauses = AGAIN.into_iter();
    loop {
        let answer = ask_once(context, game).await;
        not_known += u32::from(matches!(answer, LookUpOutcome::NotKnown { .. }));
        let is_final = match answer {
            LookUpOutcome::Found(..) | LookUpOutcome::NotTold | LookUpOutcome::Interrupted => true,
            LookUpOutcome::NotKnown { .. } => not_known >= TIMES_NOT_KNOWN,
            LookUpOutcome::StillRuns => !is_over,
            LookUpOutcome::NoAnswer => false,
        };
        let Some(pause) = pauses.next().filter(|_| !is_final) else { return answer };
        // The shortest pause ignores a stop: the server may not have filed the last game yet.
        if pause <= AGAIN[0] {
            sleep(pause).await;
        } else if context.stopping.run_until_cancelled(sleep(pause)).await.is_none() {
            return LookUpOutcome::Interrupted;
        }
    }
}

async fn ask_once(context: &AccountContext, game: &GameId) -> LookUpOutcome {
    let known = match context.runtime.journal.known_game(&context.key(game)).await {
        Ok(known) => known,
        Err(error) => {
            // A full disk, or no file descriptor left: it may be read later.
            tracing::warn!(%game, %error, "cannot read the game from the journal");
            return LookUpOutcome::NoAnswer;
        }
    };
    match context.server.finished_game(game, known.as_ref()).await {
        Ok((info, state)) if !state.status.is_running() => LookUpOutcome::Found(Box::new(info), state),
        Ok(_) => LookUpOutcome::StillRuns,
        Err(ActionError::Limited { .. } | ActionError::Unavailable(_) | ActionError::Unauthorised(_)) => {
            LookUpOutcome::NoAnswer
        }
        // The journal does not know the game either.
        Err(ActionError::NotFound(_)) => {
            LookUpOutcome::NotKnown { both_moved: known.is_none_or(|known| known.shown.len() >= 2) }
        }
        Err(ActionError::Refused(_) | ActionError::Unsupported(_)) => LookUpOutcome::NotTold,
    }
}

async fn record_whole(context: &AccountContext, info: &GameInfo, state: &GameState) {
    let mut line: Line = info.start.clone();
    if let Err(error) = line.play_all(&state.moves) {
        context.fault(Some(&info.id), format!("the server's record of the game is invalid: {error}"));
    }
    let seen = Some((Box::new(info.clone()), line.ply()));
    context.runtime.journal.game_started(&context.name, info);
    context.runtime.journal.line_seen(&context.key(&info.id), &line.into(), None);
    record(context, &info.id, seen, state.status.clone(), state.winner, None).await;
}
