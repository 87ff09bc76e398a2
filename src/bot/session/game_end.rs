//! Records the end of a game: from its stream, or from the server's archive if the stream did not
//! show it.
//!
//! A game that ended while the daemon was down, or whose last moves were never shown, is looked up:
//! the server's own record has its moves and its result.

use std::{path::PathBuf, time::Duration};

use tokio::{sync::mpsc, time::sleep};

use super::{account_context::AccountContext, event::GameEvent};
use crate::journal::JournalError;
use domain::{ActionError, Color, GameId, GameInfo, GameState, GameStatus, KnownGame, Line};
use util::supervised;

/// The pauses before a finished game is looked up again: a server may need a moment to file it, and longer where it is in trouble
/// or limits requests. Nothing else waits for the answer.
const AGAIN: [Duration; 6] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(60),
    Duration::from_secs(120),
    Duration::from_secs(600),
];
/// A server is believed that it does not know a game when it has said so this often: its list may have come with a gap.
const TIMES_NOT_KNOWN: u32 = 2;

#[derive(Clone)]
pub(super) struct FinalState {
    pub info: Box<GameInfo>,
    pub plies: usize,
    /// Change of our rating, if the server has announced it already.
    pub rating_change: Option<i32>,
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
            tracing::error!(%game, %error, "the end of a game, or its PGN, is not yet written");
            None
        }
    };
    tell(context, game, state, status, winner, pgn);
}

/// Tells how a game ended, and in which file it is.
fn tell(
    context: &AccountContext,
    game: &GameId,
    state: Option<FinalState>,
    status: GameStatus,
    winner: Option<Color>,
    pgn: Option<PathBuf>,
) {
    let (info, plies, rating_change) =
        state.map_or((None, 0, None), |state| (Some(state.info), state.plies, state.rating_change));
    context.tell_of_game(game, GameEvent::Over { info, status, winner, plies, pgn, rating_change });
}

/// Records a game that ended unseen, as the server has it; where the server does not say, as it was `told` elsewhere. `seen` is what we
/// saw of it, if we did: it says whose loss it was.
pub(super) fn look_up(
    context: &AccountContext,
    game: &GameId,
    seen: Option<FinalState>,
    told: Option<(GameStatus, Option<Color>)>,
) {
    let (context, game) = (context.clone(), game.clone());
    context.requests.clone().spawn(async move {
        supervised!("look-up", look_up_now(&context, &game, seen.clone(), told.clone())).await;
    });
}

async fn look_up_now(
    context: &AccountContext,
    game: &GameId,
    seen: Option<FinalState>,
    told: Option<(GameStatus, Option<Color>)>,
) {
    // A game that was adjourned is not over.
    let is_adjourned = matches!(told, Some((GameStatus::Adjourned, _)));
    let outcome = if is_adjourned { LookUpOutcome::NotTold } else { ask(context, game, true).await };
    let not_told = outcome.status();
    match (outcome, told) {
        (LookUpOutcome::Found(info, state), _) => record_whole(context, &info, &state).await,
        // Its record stays open, so the next start looks it up and tells of it.
        (LookUpOutcome::Interrupted, _) => {
            tracing::info!(%game, "stopping before the server has reported the end of the game");
        }
        (_, Some((status, winner))) => record(context, game, seen, status, winner).await,
        // The end is unknown: it is announced as such, and the record stays open for the next
        // start.
        (LookUpOutcome::NoAnswer | LookUpOutcome::StillRuns, None) => {
            tell(context, game, seen, not_told, None, None);
        }
        (LookUpOutcome::NotKnown { .. } | LookUpOutcome::NotTold, None) => {
            record(context, game, seen, not_told, None).await;
        }
    }
}

/// A game of an earlier process that has ended since.
pub(super) struct PastGame {
    pub id: GameId,
    end: PastEnd,
}

/// End of a game of an earlier process.
enum PastEnd {
    /// As the server has it.
    Found(Box<GameInfo>, GameState),
    /// The server does not know it any more; how it ended as far as that says it.
    Vanished(GameStatus),
}

impl PastGame {
    /// Completes its record, and tells of its end.
    pub(super) async fn record(self, context: &AccountContext) {
        match self.end {
            PastEnd::Found(info, state) => record_whole(context, &info, &state).await,
            PastEnd::Vanished(status) => record(context, &self.id, None, status, None).await,
        }
    }
}

/// Looks up the games that ran when we last stopped. Those that have ended since, or that the server does not know, come back as
/// `past`: the answer may take long, some servers know a game only when it is over, and whether one is being played again or has ended
/// meanwhile the caller knows.
pub(super) fn complete_record(
    context: &AccountContext,
    unfinished: Vec<KnownGame>,
    past: &mpsc::UnboundedSender<PastGame>,
) {
    for game in unfinished {
        let (context, past) = (context.clone(), past.clone());
        context.requests.clone().spawn(async move {
            let id = game.info.id;
            let outcome = ask(&context, &id, false).await;
            let status = outcome.status();
            let end = match outcome {
                LookUpOutcome::Found(info, state) => PastEnd::Found(info, state),
                LookUpOutcome::NotKnown { .. } => PastEnd::Vanished(status),
                LookUpOutcome::NoAnswer => {
                    tracing::warn!(game = %id, "the server does not say how the game ended");
                    return;
                }
                LookUpOutcome::StillRuns | LookUpOutcome::NotTold | LookUpOutcome::Interrupted => return,
            };
            let _ = past.send(PastGame { id, end });
        });
    }
}

#[derive(Debug)]
enum LookUpOutcome {
    Found(Box<GameInfo>, GameState),
    /// The server says that it is being played.
    StillRuns,
    /// The server does not answer, or the journal does not.
    NoAnswer,
    NotKnown {
        /// True if both sides had moved, as far as we saw.
        both_moved: bool,
    },
    /// The server does not serve finished games.
    NotTold,
    /// We stop before the server has said it.
    Interrupted,
}

impl LookUpOutcome {
    /// Returns the status of a game about which nothing else is known. A server keeps no game
    /// before both sides have moved.
    const fn status(&self) -> GameStatus {
        match self {
            Self::NotKnown { both_moved: false } => GameStatus::Aborted,
            _ => GameStatus::UnknownFinish,
        }
    }
}

/// Asks the server until it says what became of a game, once more after each of the pauses [`AGAIN`]. Of a game that is known to be
/// over (`is_over`) it may say for a while that it runs.
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
        match pauses.next() {
            Some(pause) if !is_final => {
                if !wait(context, pause).await {
                    return LookUpOutcome::Interrupted;
                }
            }
            _ => return answer,
        }
    }
}

/// Waits; `false` if we stop meanwhile. The shortest pause is waited for all the same: the last game before we stop may not be filed
/// yet.
async fn wait(context: &AccountContext, pause: Duration) -> bool {
    if pause <= AGAIN[0] {
        sleep(pause).await;
        return true;
    }
    context.stopping.run_until_cancelled(sleep(pause)).await.is_some()
}

async fn ask_once(context: &AccountContext, game: &GameId) -> LookUpOutcome {
    let known = match context.journal.known_game(&context.key(game)).await {
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
    let seen = FinalState { info: Box::new(info.clone()), plies: line.ply(), rating_change: None };
    context.journal.game_started(&context.name, info);
    context.journal.line_seen(&context.key(&info.id), &line.into(), None);
    record(context, &info.id, Some(seen), state.status.clone(), state.winner).await;
}
