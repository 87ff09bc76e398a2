//! A short wait that does not put the thread to sleep.

use std::{
    pin::pin,
    sync::{
        LazyLock,
        atomic::{AtomicBool, AtomicU32, Ordering::Relaxed},
    },
    task::{Context, Poll, Waker},
    thread::available_parallelism,
    time::{Duration, Instant},
};

/// True if another thread can work while this one spins.
static HAS_CORES: LazyLock<bool> = LazyLock::new(|| available_parallelism().is_ok_and(|cores| cores.get() > 1));

/// Waits skipped after a failed one: so the wait costs next to nothing on a busy machine, and for a future that always takes
/// longer.
const REST: u32 = 32;

/// A wait with the thread awake, for a future that is usually ready at once: sleep and wake-up of a thread take longer than a book
/// move of an engine or a commit of the journal, and a timer costs another wake-up. Only one task at a time waits in this way.
#[derive(Debug)]
pub struct BriefWait {
    longest: Duration,
    is_taken: AtomicBool,
    rests_for: AtomicU32,
}

impl BriefWait {
    pub const fn new(longest: Duration) -> Self {
        Self { longest, is_taken: AtomicBool::new(false), rests_for: AtomicU32::new(0) }
    }

    /// Waits for `future`; returns `None` if it is not ready in time, or the wait is skipped. Other tasks run meanwhile.
    pub async fn on<T>(&self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = pin!(future);
        let mut ready = || match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(output) => Some(output),
            Poll::Pending => None,
        };
        if let Some(output) = ready() {
            return Some(output);
        }
        let rests_for = self.rests_for.load(Relaxed);
        if rests_for > 0 {
            self.rests_for.store(rests_for - 1, Relaxed);
            return None;
        }
        if !*HAS_CORES || self.is_taken.swap(true, Relaxed) {
            return None;
        }
        let _taken = Taken(&self.is_taken);
        let began = Instant::now();
        while began.elapsed() < self.longest {
            tokio::task::yield_now().await;
            if let Some(output) = ready() {
                return Some(output);
            }
        }
        self.rests_for.store(REST, Relaxed);
        None
    }
}

/// Marks the one spinning wait; the next may follow when this is dropped.
struct Taken<'a>(&'a AtomicBool);

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.0.store(false, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use super::*;

    #[tokio::test]
    async fn brief_wait_ends_with_its_future() {
        let wait = BriefWait::new(Duration::from_secs(3600));
        assert_eq!(wait.on(ready(8)).await, Some(8));
        if *HAS_CORES {
            let (answer, answered) = tokio::sync::oneshot::channel();
            std::thread::spawn(move || answer.send(7));
            assert_eq!(wait.on(answered).await, Some(Ok(7)));
        }
    }

    #[tokio::test]
    async fn vain_spinning_is_followed_by_a_rest() {
        let wait = BriefWait::new(Duration::ZERO);
        for _ in 0..100 {
            assert_eq!(wait.on(pending::<()>()).await, None);
        }
        assert!(!wait.is_taken.load(Relaxed));
        assert!(!*HAS_CORES || wait.rests_for.load(Relaxed) > 0);
    }
}
