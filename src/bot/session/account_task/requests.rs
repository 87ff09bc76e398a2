//! Requests of the lobby to the server, and the way of the answers back.

use std::time::Duration;

use tokio::{sync::mpsc, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::session::{
    account_context::defended,
    lobby::{LobbyInput, TournamentAnswer},
};
use domain::{Action, ActionError, ChallengeRequest, Done};
use platform::Server;

/// Pause for an opponent who is busy when we want to challenge.
const BUSY: Duration = Duration::from_mins(5);

/// The pauses before a challenge is declined once more, where the server did not hear it, and the longest time it may ask for.
const DECLINE_AGAIN: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(20), Duration::from_secs(60)];
const LONGEST_DECLINE_PAUSE: Duration = Duration::from_secs(120);

/// Does what the lobby wants done and brings it the answer where it waits for one; elsewhere an error is a fault. Of a challenge that the
/// operator `ordered` the server itself says whether it can be made.
pub(super) async fn ask(
    server: &dyn Server,
    action: Action,
    ordered: bool,
    answers: &mpsc::UnboundedSender<LobbyInput>,
    stopping: &CancellationToken,
) -> Result<(), String> {
    let outcome = defended(async {
        match &action {
            Action::Challenge(request) if !ordered && is_busy(server, &request.opponent).await => Err(busy()),
            Action::Decline(..) => decline(server, &action, stopping).await,
            action => server.perform(action.clone()).await,
        }
    });
    let outcome = outcome.await;
    let answer = match action {
        Action::Accept(id) => LobbyInput::Accepted(id, outcome.map(drop)),
        Action::Cancel(id) if outcome.is_ok() => LobbyInput::Cancelled(id),
        Action::Challenge(request) => challenged(request, outcome),
        Action::Join(entry) => LobbyInput::Tournaments(TournamentAnswer::Joined(entry.tournament, outcome.map(drop))),
        action => return outcome.map(drop).map_err(|error| format!("{action}: {error}")),
    };
    let _ = answers.send(answer);
    Ok(())
}

/// Declines a challenge, and retries if the server is unavailable or limits requests: the
/// challenger waits for the answer.
async fn decline(server: &dyn Server, action: &Action, stopping: &CancellationToken) -> Result<Done, ActionError> {
    let mut pauses = DECLINE_AGAIN.iter();
    loop {
        let outcome = server.perform(action.clone()).await;
        let named = match &outcome {
            Err(ActionError::Unavailable(_)) => Duration::ZERO,
            Err(ActionError::Limited { retry_after, .. }) => retry_after.unwrap_or_default(),
            _ => return outcome,
        };
        let Some(pause) = pauses.next().filter(|_| named <= LONGEST_DECLINE_PAUSE) else { return outcome };
        if stopping.run_until_cancelled(sleep((*pause).max(named))).await.is_none() {
            return outcome;
        }
    }
}

/// Returns true if a challenge would only wait, because the opponent is playing or has left. If the
/// server does not say, the challenge itself finds out.
async fn is_busy(server: &dyn Server, opponent: &str) -> bool {
    matches!(server.players_available(&[opponent.to_owned()]).await.as_deref(), Ok([false]))
}

/// Returns the error of a busy opponent, as if it came from the server.
fn busy() -> ActionError {
    let detail = "is playing or has left".to_owned();
    ActionError::Limited { retry_after: Some(BUSY), key: None, opponent: true, detail }
}

fn challenged(request: ChallengeRequest, outcome: Result<Done, ActionError>) -> LobbyInput {
    let outcome = match outcome {
        Ok(Done::Challenged(id)) => Ok(id),
        Ok(Done::Taken) => Err(ActionError::Refused("the server did not name the challenge".to_owned())),
        Err(error) => Err(error),
    };
    LobbyInput::Challenged(request, outcome)
}
