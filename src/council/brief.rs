//! A short wait that does not put the thread to sleep.

use std::{
    pin::pin,
    sync::LazyLock,
    task::{Context, Poll, Waker},
    thread::available_parallelism,
    time::{Duration, Instant},
};

/// Whether another thread can work while this one waits awake.
static HAS_TIME: LazyLock<bool> = LazyLock::new(|| available_parallelism().is_ok_and(|cores| cores.get() > 1));

/// Waits for `future` for up to `time` without a timer and without putting the thread to sleep; other tasks run meanwhile. Returns
/// `None` if the future is not ready by then.
///
/// To put a thread to sleep and to wake it up takes longer than what an elector with a known move or the journal takes to answer,
/// and a new timer costs another wake-up.
pub async fn wait_briefly<T>(time: Duration, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let began = Instant::now();
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return Some(output);
        }
        if !*HAS_TIME || began.elapsed() >= time {
            return None;
        }
        tokio::task::yield_now().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_brief_wait_ends_with_its_future_or_its_time() {
        let hour = Duration::from_secs(3600);
        let (answer, answered) = tokio::sync::oneshot::channel();
        std::thread::spawn(move || answer.send(7));
        if *HAS_TIME {
            assert_eq!(wait_briefly(hour, answered).await, Some(Ok(7)));
        }
        assert_eq!(wait_briefly(hour, std::future::ready(8)).await, Some(8));
        assert_eq!(wait_briefly(Duration::ZERO, std::future::pending::<()>()).await, None);
    }
}
