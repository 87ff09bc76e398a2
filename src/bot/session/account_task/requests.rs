//! Requests of the lobby to the server, and the answers.

use std::time::Duration;

use tokio::{sync::mpsc, time::sleep};
use tokio_util::sync::CancellationToken;

use crate::session::{account_context::defended, lobby::LobbyInput};
use domain::{Action, ActionError, Done};
use platform::Server;

const BUSY: Duration = Duration::from_mins(5);

/// The pauses before a failed decline is repeated, and the longest pause that the server may demand.
const DECLINE_AGAIN: [Duration; 4] =
    [Duration::from_secs(1), Duration::from_secs(5), Duration::from_secs(20), Duration::from_secs(60)];
const LONGEST_DECLINE_PAUSE: Duration = Duration::from_secs(120);

/// Performs an action of the lobby, and sends the answer if the lobby waits for one; otherwise an error is a fault. An `ordered` challenge
/// is sent even to a busy opponent: the operator gets the server's own answer.
pub(super) async fn ask(
    server: &dyn Server,
    action: Action,
    ordered: bool,
    answers: &mpsc::UnboundedSender<LobbyInput>,
    stopping: &CancellationToken,
) -> Result<(), String> {
    let outcome = defended(async {
        match &action {
            Action::Challenge(request) if !ordered && is_busy(server, &request.opponent).await => {
                // The same error as the server's.
                let detail = "is playing or has left".to_owned();
                Err(ActionError::Limited { retry_after: Some(BUSY), key: None, opponent: true, detail })
            }
            Action::Decline(..) => decline(server, &action, stopping).await,
            action => server.perform(action.clone()).await,
        }
    });
    let outcome = outcome.await;
    let answer = match action {
        Action::Accept(id) => LobbyInput::Accepted(id, outcome.map(drop)),
        Action::Cancel(id) if outcome.is_ok() => LobbyInput::Cancelled(id),
        Action::Challenge(request) => {
            let outcome = outcome.and_then(|done| match done {
                Done::Challenged(id) => Ok(id),
                Done::Taken => Err(ActionError::Refused("the server did not name the challenge".to_owned())),
            });
            LobbyInput::Challenged(request, outcome)
        }
        Action::Join(entry) => LobbyInput::TournamentJoined(entry.tournament, outcome.map(drop)),
        action => return outcome.map(drop).map_err(|error| format!("{action}: {error}")),
    };
    let _ = answers.send(answer);
    Ok(())
}

/// Declines a challenge, and retries if the server is unavailable or limits requests: the challenger waits.
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

/// Returns true if the opponent is playing or has left. Without an answer the challenge itself is the test.
async fn is_busy(server: &dyn Server, opponent: &str) -> bool {
    matches!(server.players_available(&[opponent.to_owned()]).await.as_deref(), Ok([false]))
}
