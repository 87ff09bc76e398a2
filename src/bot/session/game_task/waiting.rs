//! Timeouts of a game: for the server's answer to a move, and for the journal.

use std::{panic::AssertUnwindSafe, pin::pin, time::Duration};

use futures_util::FutureExt as _;
use tokio::time::timeout;

use crate::journal::JournalError;
use council::BriefWait;
use domain::ActionError;

/// The longest wait for the journal's disk, also as a part of the bot's clock: the game comes before its record.
const DISK_PATIENCE: Duration = Duration::from_millis(500);
const DISK_PART_OF_CLOCK: u32 = 50;

/// The thread stays awake for a commit of this length; nearly all are shorter.
static USUAL_COMMIT: BriefWait = BriefWait::new(Duration::from_micros(200));

/// The longest wait for the answer to a move, as a part of the bot's clock, and the least wait.
const MOVE_PART_OF_CLOCK: u32 = 4;
const SHORTEST_MOVE_PATIENCE: Duration = Duration::from_millis(250);

/// Returns the timeout for the answer to a move, given the time left on the bot's clock: the fate of
/// the move must be known while it can still be sent again. A slow server gets more time, by its
/// usual lag.
pub(super) fn move_patience(left: Duration, lag: Duration) -> Duration {
    (left / MOVE_PART_OF_CLOCK).max(SHORTEST_MOVE_PATIENCE).max(lag * 2)
}

/// Sends a move, and calls `tell` with the server's answer within `patience`. Without an answer the server may have accepted the move or
/// not; the request goes on, because a late answer still measures the lag.
pub(super) async fn taken_in_time(
    patience: Option<Duration>,
    sending: impl Future<Output = Result<(), ActionError>>,
    tell: impl FnOnce(Result<(), ActionError>),
) {
    let unavailable = |why: &str| Err(ActionError::Unavailable(why.to_owned()));
    let answer = AssertUnwindSafe(sending).catch_unwind();
    let mut answer = pin!(answer.map(|answer| answer.unwrap_or_else(|_| unavailable("it could not be sent"))));
    let in_time = match patience {
        Some(patience) => timeout(patience, &mut answer).await.ok(),
        None => Some((&mut answer).await),
    };
    match in_time {
        Some(outcome) => tell(outcome),
        None => {
            tell(unavailable("no answer in the time that the clock allows"));
            let _ = answer.await;
        }
    }
}

/// Waits for the journal as long as the bot's clock allows. The entry is written in any case.
pub(super) async fn in_time<T>(
    clock: Option<Duration>,
    answer: impl Future<Output = Result<T, JournalError>>,
) -> Result<T, JournalError> {
    let patience = clock.map_or(DISK_PATIENCE, |left| (left / DISK_PART_OF_CLOCK).min(DISK_PATIENCE));
    let mut answer = pin!(answer);
    if let Some(answer) = USUAL_COMMIT.on(answer.as_mut()).await {
        return answer;
    }
    let answered = timeout(patience, answer).await;
    answered.unwrap_or_else(|_| Err(JournalError::Slow(patience)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise 1: no game is lost to a hanging request.
    #[tokio::test(start_paused = true)]
    async fn move_timeout_follows_the_clock() {
        let waited = async |left: u64| {
            let began = tokio::time::Instant::now();
            let patience = move_patience(Duration::from_millis(left), Duration::from_millis(100));
            let (tell, told) = tokio::sync::oneshot::channel();
            tokio::spawn(taken_in_time(Some(patience), std::future::pending(), |outcome| drop(tell.send(outcome))));
            let outcome = told.await.expect("it is told");
            assert!(matches!(outcome, Err(ActionError::Unavailable(_))), "{outcome:?}");
            began.elapsed().as_millis()
        };
        assert_eq!([waited(60_000).await, waited(2_000).await, waited(0).await], [15_000, 500, 250]);
        let slow_server = move_patience(Duration::from_secs(1), Duration::from_millis(400));
        assert_eq!(slow_server, Duration::from_millis(800));
        let told = |outcome| assert_eq!(outcome, Ok(()), "a game without a clock has time");
        taken_in_time(None, async { Ok(()) }, told).await;
    }

    #[tokio::test]
    async fn panicking_request_is_a_failure() {
        let told = |outcome| assert!(matches!(outcome, Err(ActionError::Unavailable(_))), "{outcome:?}");
        taken_in_time(Some(Duration::from_secs(60)), async { panic!("a defect, for the test") }, told).await;
    }

    /// Promise 1: no game is lost to a hanging disk.
    #[tokio::test(start_paused = true)]
    async fn disk_timeout_follows_the_clock() {
        let waited = async |clock: Option<u64>| {
            let hangs = std::future::pending::<Result<(), JournalError>>();
            match in_time(clock.map(Duration::from_secs), hangs).await {
                Err(JournalError::Slow(patience)) => patience.as_millis(),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!([waited(None).await, waited(Some(180)).await, waited(Some(5)).await], [500, 500, 100]);
        assert!(in_time(Some(Duration::ZERO), async { Ok(()) }).await.is_ok(), "what is there is taken");
    }
}
