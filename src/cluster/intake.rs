//! Limits the messages and bytes a second of one worker, before any of them is read. A state
//! machine without a clock.
//!
//! An honest worker with 64 cores sends a tenth of the limit. Messages beyond the limit are dropped. After too many of them, the
//! daemon ends its subscription for a while, so that the NATS server does not even pass them on.

use std::time::{Duration, Instant};

const MESSAGES: f64 = 2_000.0;
const BYTES: f64 = 512.0 * 1024.0;
/// Burst, in seconds of the rate.
const AT_ONCE: f64 = 2.0;
/// The longest heartbeat, bytes: with 256 searches it is half as long.
const LONGEST_HEARTBEAT: usize = 32 << 10;
/// The most dropped messages without a calm between, in seconds of the rate; one more mutes the
/// worker.
const TOO_MUCH: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    Read,
    Drop,
    /// Drop the message, and mute its sender for a while.
    Mute,
}

#[derive(Debug)]
pub(crate) struct Intake {
    messages: Bucket,
    bytes: Bucket,
    /// Dropped messages, in seconds of the rate.
    dropped: f64,
}

#[derive(Debug)]
struct Bucket {
    rate: f64,
    left: f64,
    at: Option<Instant>,
}

impl Bucket {
    fn new(rate: f64) -> Self {
        Self { rate, left: rate * AT_ONCE, at: None }
    }

    fn refill(&mut self, now: Instant) {
        let passed = self.at.replace(now).map_or(Duration::ZERO, |last| now.saturating_duration_since(last));
        self.left = (self.left + self.rate * passed.as_secs_f64()).min(self.rate * AT_ONCE);
    }
}

impl Default for Intake {
    fn default() -> Self {
        Self { messages: Bucket::new(MESSAGES), bytes: Bucket::new(BYTES), dropped: 0.0 }
    }
}

impl Intake {
    pub(crate) fn admit(&mut self, now: Instant, bytes: usize, is_heartbeat: bool) -> Admission {
        self.messages.refill(now);
        self.bytes.refill(now);
        #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
        let size = bytes as f64;
        let too_long = is_heartbeat && bytes > LONGEST_HEARTBEAT;
        if !too_long && self.messages.left >= 1.0 && self.bytes.left >= size {
            self.messages.left -= 1.0;
            self.bytes.left -= size;
            if self.messages.left > MESSAGES {
                self.dropped = 0.0;
            }
            return Admission::Read;
        }
        self.dropped += (1.0 / MESSAGES).max(size / BYTES);
        if self.dropped > TOO_MUCH { Admission::Mute } else { Admission::Drop }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the fate of `rate` messages a second of this size, in ten seconds.
    fn sent(rate: u32, bytes: usize, is_heartbeat: bool) -> (usize, bool) {
        let (mut intake, begun) = (Intake::default(), Instant::now());
        let mut read = 0;
        for number in 0..rate * 10 {
            let now = begun + Duration::from_secs(1) / rate * number;
            match intake.admit(now, bytes, is_heartbeat) {
                Admission::Read => read += 1,
                Admission::Drop => {}
                Admission::Mute => return (read, true),
            }
        }
        (read, false)
    }

    #[test]
    fn honest_worker_loses_nothing() {
        assert_eq!(sent(5, 16 << 10, true), (50, false));
        assert_eq!(sent(1_500, 200, false), (15_000, false));
        let mut intake = Intake::default();
        let now = Instant::now();
        let burst = (0..4_000).filter(|_| intake.admit(now, 200, false) == Admission::Read).count();
        assert_eq!(burst, 4_000, "256 searches that begin together");
    }

    #[test]
    fn flood_is_muted() {
        assert_eq!(sent(600, 60_000, true), (0, true), "no such heartbeat is read");
        let (read, muted) = sent(600, 60_000, false);
        assert!(muted && read < 30, "{read}");
        let (read, muted) = sent(50_000, 100, false);
        assert!(muted && read < 5_000, "{read}");
    }

    #[test]
    fn only_the_long_message_is_dropped() {
        let (mut intake, now) = (Intake::default(), Instant::now());
        assert_eq!(intake.admit(now, 60_000, true), Admission::Drop);
        assert_eq!(intake.admit(now, 200, true), Admission::Read);
    }
}
