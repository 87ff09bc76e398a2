//! Tasks that go on after a panic: a defect of this program must not cost a game.

use std::{
    future::poll_fn,
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    task::Poll,
    time::{Duration, Instant},
};

use crate::Backoff;

/// The pauses before a task that panicked is started again. The first one is none: clocks may be running.
const PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(10));

/// After this time without a panic a task counts as sound again.
const SOUND_AFTER: Duration = Duration::from_secs(60);

/// Awaits `work`; `None` if it panics. What `work` owned is dropped then.
pub async fn caught<T>(task: &'static str, work: impl Future<Output = T>) -> Option<T> {
    let mut work = pin!(work);
    poll_fn(|context| {
        let poll = || {
            tracing::trace!(target: "concilio::task", task, "polled");
            work.as_mut().poll(context)
        };
        // After a panic nothing reads the state of `work` itself; owners repair shared state.
        match catch_unwind(AssertUnwindSafe(poll)) {
            Ok(polled) => polled.map(Some),
            Err(_) => Poll::Ready(None),
        }
    })
    .await
}

/// Starts one task of the daemon again whenever it panics.
#[derive(Debug)]
pub struct Supervisor {
    task: &'static str,
    backoff: Backoff,
    last: Option<Instant>,
}

impl Supervisor {
    pub const fn new(task: &'static str) -> Self {
        Self { task, backoff: Backoff::new(PAUSES.0, PAUSES.1).first_at_once(), last: None }
    }

    /// Awaits `work`. A panic is logged and gives `None`, after a pause that grows while the task panics again and again.
    pub async fn attempt<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let outcome = caught(self.task, work).await;
        if outcome.is_none() {
            tokio::time::sleep(self.panicked(Instant::now())).await;
        }
        outcome
    }

    /// Notes and logs a panic. Returns how long to wait before the task is started again.
    pub fn panicked(&mut self, now: Instant) -> Duration {
        if self.last.replace(now).is_some_and(|last| now.saturating_duration_since(last) >= SOUND_AFTER) {
            self.backoff.reset();
        }
        tracing::error!("{} panicked, a defect of this program; restarting it", self.task);
        self.backoff.next_delay()
    }
}

/// A future that evaluates and awaits `$work` until one attempt ends without a panic, and gives its value. `$task` names it in the log.
#[macro_export]
macro_rules! supervised {
    ($task:expr, $work:expr) => {
        async {
            let mut supervisor = $crate::Supervisor::new($task);
            loop {
                if let Some(done) = supervisor.attempt($work).await {
                    break done;
                }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_task_goes_on_after_panics() {
        let mut attempts = 0;
        let begun = tokio::time::Instant::now();
        let mut work = async || {
            attempts += 1;
            tokio::task::yield_now().await;
            assert!(attempts > 3, "a defect");
            attempts
        };
        assert_eq!(supervised!("a test", work()).await, 4);
        assert!(begun.elapsed() >= 2 * PAUSES.0, "the first restart is immediate, the others wait");
    }

    #[test]
    fn pauses_grow_and_are_forgotten() {
        let (mut supervisor, begun) = (Supervisor::new("a test"), Instant::now());
        assert_eq!(supervisor.panicked(begun), Duration::ZERO);
        assert!((0..100).map(|_| supervisor.panicked(begun)).max() > Some(Duration::from_secs(1)));
        assert_eq!(supervisor.panicked(begun + SOUND_AFTER), Duration::ZERO);
    }
}
