use std::{
    pin::pin,
    sync::mpsc::{self, Sender},
    thread,
    time::{Duration, Instant},
};

use tokio::{task::spawn_blocking, time};

/// A clock of tokio that stands still until a test lets time pass. Sockets take the time that they need meanwhile.
pub struct StoppedClock {
    /// Ends a blocking task, while which the paused clock does not go on by itself.
    _still: Sender<()>,
}

impl StoppedClock {
    /// Stops the clock of this thread's runtime, which must have no other thread.
    pub fn stop() -> Self {
        time::pause();
        let (still, ended) = mpsc::channel();
        spawn_blocking(move || ended.recv());
        Self { _still: still }
    }

    /// Lets `step` pass `times` times, after each of which others may do what has become due.
    pub async fn pass(&self, times: u64, step: Duration) {
        for _ in 0..times {
            time::advance(step).await;
            spawn_blocking(|| thread::sleep(Duration::from_millis(2))).await.expect("no panic");
        }
    }

    /// Waits for at most `left`, which passes only while nothing happens: nothing is answered because a longer time is over. A
    /// minute of real time turns a hang into a failure.
    pub async fn within<T>(&self, mut left: Duration, what: &str, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            let tick = spawn_blocking(|| thread::sleep(Duration::from_millis(5)));
            let mut polls = 0;
            let counted = std::future::poll_fn(|context| {
                polls += 1;
                future.as_mut().poll(context)
            });
            tokio::select! {
                done = counted => return done,
                _ = tick => (),
            }
            // More than its first poll and that of the tick: something happened.
            if polls <= 2 {
                let step = left.min(Duration::from_millis(50));
                time::advance(step).await;
                left -= step;
            }
        }
        panic!("waited in vain for {what}");
    }
}
