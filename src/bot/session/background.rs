//! Searches of correspondence games: one at a time, while the cores are idle.

use std::{sync::Arc, time::Duration};

use tokio::{
    select,
    sync::{OwnedSemaphorePermit, Semaphore},
    time::sleep,
};

use council::electors::Pool;

/// The longest wait for idle cores, in lengths of the search.
const PATIENCE: u32 = 10;

/// The longest wait for a turn, as a part of the bot's clock: this divides the clock.
const PART_OF_CLOCK: u32 = 10;

/// The turns of a daemon's correspondence games. Cheap to clone; clones are the same queue.
#[derive(Clone, Debug)]
pub struct BackgroundTurns(Arc<Semaphore>);

impl Default for BackgroundTurns {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(1)))
    }
}

impl BackgroundTurns {
    /// Waits for the turn of a search of about `length`, with `left` on the clock: for the other correspondence games, then
    /// for idle cores. The turn lasts until it is dropped. Returns `None` for a search that cannot wait any longer: it runs beside
    /// others, at a lower priority.
    pub(super) async fn turn(
        self,
        pool: Pool,
        length: Duration,
        left: Option<Duration>,
    ) -> Option<OwnedSemaphorePermit> {
        let turn = async {
            // The semaphore is never closed.
            let permit = self.0.acquire_owned().await.ok();
            select! {
                () = pool.idle() => (),
                () = sleep(length.saturating_mul(PATIENCE)) => (),
            }
            permit
        };
        match left {
            None => turn.await,
            Some(left) => select! {
                turn = turn => turn,
                () = sleep(left / PART_OF_CLOCK) => None,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: Duration = Duration::from_secs(20);

    #[tokio::test(start_paused = true)]
    async fn turns_are_taken_one_after_another() {
        let (turns, pool) = (BackgroundTurns::default(), Pool::new(1));
        let first = turns.clone().turn(pool.clone(), LENGTH, None).await;
        let second = tokio::spawn(turns.turn(pool, LENGTH, None));
        tokio::task::yield_now().await;
        assert!(!second.is_finished());
        drop(first);
        second.await.expect("its turn");
    }

    #[tokio::test(start_paused = true)]
    async fn a_short_clock_waits_for_nobody() {
        let (turns, pool) = (BackgroundTurns::default(), Pool::new(1));
        let _first = turns.clone().turn(pool.clone(), LENGTH, None).await;
        turns.turn(pool, LENGTH, Some(Duration::from_secs(600))).await;
    }
}
