//! Lag and speed of workers, measured here by the times of their answers and the nodes of their
//! searches. State machines without a clock.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::identity::RunId;

/// Maximum lag of a worker that gets searches.
pub(crate) const TOO_FAR: Duration = Duration::from_secs(5);

/// Number of recent answers whose median is the lag.
const ANSWERS: usize = 5;
/// Time without an answer after which a worker counts as silent: the maximum lag, and two polls.
const SILENT_AFTER: Duration = Duration::from_secs(7);

/// Minimum time of a move, as a multiple of the lag there and back: three quarters of the time
/// remain for the search.
const WAYS: u32 = 4;
/// The longest lag for searches of every move: busy machines themselves take that long.
const NEAR: Duration = Duration::from_millis(10);

/// The shortest search that measures a speed.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(20);
/// Weight of earlier measurements after a new search: a few searches count.
const KEPT: f64 = 0.8;
/// The lifetime of a measured speed: a busy machine gets another chance.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// Returns the shortest move with searches on a worker of this lag; zero: it searches for all moves.
pub(crate) fn shortest_move(lag: Duration) -> Duration {
    if lag <= NEAR { Duration::ZERO } else { lag * WAYS }
}

#[derive(Debug, Default)]
pub(crate) struct WorkerLag {
    /// The last ones, the oldest first.
    answers: VecDeque<Duration>,
    answered: Option<Instant>,
}

impl WorkerLag {
    pub(crate) fn note(&mut self, now: Instant, lag: Duration) {
        self.answered = Some(now);
        self.answers.push_back(lag);
        if self.answers.len() > ANSWERS {
            self.answers.pop_front();
        }
    }

    /// Returns the lag: the median of the last answers, and the shorter of two, because the first
    /// one may have waited for a worker that was still starting. `None` before the first answer,
    /// and if answers have stopped.
    pub(crate) fn now(&self, now: Instant) -> Option<Duration> {
        let answers = self.answered.is_some_and(|last| now.saturating_duration_since(last) < SILENT_AFTER);
        let mut lags: Vec<Duration> = self.answers.iter().copied().filter(|_| answers).collect();
        lags.sort_unstable();
        lags.get(lags.len().saturating_sub(1) / 2).copied()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpeedSample {
    pub nodes: u64,
    /// Time from the command to that report, by our clock, less the lag.
    pub time: Duration,
    pub threads: usize,
}

/// Speed of a core, by the searches that were done on it.
#[derive(Debug, Default)]
pub(crate) struct WorkerSpeed {
    /// Thousands of nodes a second, and when it was measured last.
    measured: Option<(f64, Instant)>,
}

impl WorkerSpeed {
    pub(crate) fn note(&mut self, now: Instant, sample: SpeedSample) {
        if sample.time < SHORTEST_SAMPLE {
            return;
        }
        #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
        let speed = sample.nodes as f64 / sample.time.as_secs_f64() / 1000.0 / sample.threads.max(1) as f64;
        let before = self.at(now).unwrap_or(speed);
        self.measured = Some((before * KEPT + speed * (1.0 - KEPT), now));
    }

    /// Returns thousands of nodes a second, if measured lately.
    pub(crate) fn now(&self, now: Instant) -> Option<u32> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
        self.at(now).map(|speed| speed as u32)
    }

    fn at(&self, now: Instant) -> Option<f64> {
        let fresh = |measured: &Instant| now.saturating_duration_since(*measured) < FORGOTTEN_AFTER;
        self.measured.filter(|(_, measured)| fresh(measured)).map(|(speed, _)| speed)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conduct {
    /// It proposed a move that was verified.
    Proposed,
    /// It made no proposal, in spite of enough time.
    Silent,
    /// Neither is known.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndedSearch {
    pub worker: RunId,
    pub conduct: Conduct,
    pub sample: Option<SpeedSample>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn one_slow_answer_keeps_the_lag() {
        let (mut lag, now) = (WorkerLag::default(), Instant::now());
        assert_eq!(lag.now(now), None, "the lag is unknown yet");
        for answer in [2, 3, 300, 2, 4] {
            lag.note(now, answer * MS);
        }
        assert_eq!(lag.now(now), Some(3 * MS));
        for _ in 0..3 {
            lag.note(now, 240 * MS);
        }
        assert_eq!(lag.now(now), Some(240 * MS), "three of five are the rule");
    }

    #[test]
    fn silent_worker_has_no_lag() {
        let (mut lag, now) = (WorkerLag::default(), Instant::now());
        lag.note(now, MS);
        assert_eq!(lag.now(now + SILENT_AFTER), None);
        lag.note(now + SILENT_AFTER, MS);
        assert_eq!(lag.now(now + SILENT_AFTER), Some(MS));
    }

    #[test]
    fn lag_is_at_most_a_quarter_of_a_move() {
        assert_eq!(shortest_move(240 * MS), 960 * MS);
        assert_eq!(shortest_move(3 * MS), Duration::ZERO);
    }

    #[test]
    fn speed_is_measured_not_claimed() {
        let (mut speed, now) = (WorkerSpeed::default(), Instant::now());
        assert_eq!(speed.now(now), None);
        let sample = |nodes| SpeedSample { nodes, time: 100 * MS, threads: 2 };
        speed.note(now, SpeedSample { time: 5 * MS, ..sample(1) });
        assert_eq!(speed.now(now), None, "too short to say anything");
        speed.note(now, sample(60_000));
        assert_eq!(speed.now(now), Some(300));
        for _ in 0..20 {
            speed.note(now, sample(20_000));
        }
        assert!(speed.now(now).is_some_and(|speed| (100..110).contains(&speed)), "it is followed");
        assert_eq!(speed.now(now + FORGOTTEN_AFTER), None, "and forgotten");
    }
}
