//! How far away a worker is and how fast it searches, as it was measured here: the times of its answers, and the nodes of its
//! searches. State machines without a clock.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::identity::RunId;

/// Whoever takes longer to answer gets no searches.
pub(crate) const TOO_FAR: Duration = Duration::from_secs(5);

/// A worker is as far away as in the middle of its last answers: so many.
const ANSWERS: usize = 5;
/// One that has not answered for so long does not answer any more: the longest way, and two polls.
const SILENT_AFTER: Duration = Duration::from_secs(7);

/// A move takes so many times as long as the way to a worker and back, or it is not asked: three quarters of the time are for
/// its search.
const WAYS: u32 = 4;
/// Whoever is nearer is used for every move: so much the machines themselves take, when they have much to do.
const NEAR: Duration = Duration::from_millis(10);

/// Searches that were shorter say nothing about speed.
const SHORTEST_SAMPLE: Duration = Duration::from_millis(20);
/// How much of what was known before a new search leaves: a few searches count.
const KEPT: f64 = 0.8;
/// A speed that was measured so long ago is forgotten: a machine that had other things to do gets another chance.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60);

/// The shortest move for which a worker is asked that answers after `lag`; zero: it is asked for all.
pub(crate) fn shortest_move(lag: Duration) -> Duration {
    if lag <= NEAR { Duration::ZERO } else { lag * WAYS }
}

/// From questions to answers.
#[derive(Debug, Default)]
pub(crate) struct WorkerLag {
    /// The last ones, the oldest first.
    answers: VecDeque<Duration>,
    answered: Option<Instant>,
}

impl WorkerLag {
    /// An answer has come after so long.
    pub(crate) fn note(&mut self, now: Instant, lag: Duration) {
        self.answered = Some(now);
        self.answers.push_back(lag);
        if self.answers.len() > ANSWERS {
            self.answers.pop_front();
        }
    }

    /// How long an answer takes: as in the middle of the last ones, and the shorter of two, because the first one may have waited for a
    /// worker that was still beginning. `None` before the first one, and where none comes any more.
    pub(crate) fn now(&self, now: Instant) -> Option<Duration> {
        let answers = self.answered.is_some_and(|last| now.saturating_duration_since(last) < SILENT_AFTER);
        let mut lags: Vec<Duration> = self.answers.iter().copied().filter(|_| answers).collect();
        lags.sort_unstable();
        lags.get(lags.len().saturating_sub(1) / 2).copied()
    }
}

/// What a search on a worker came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SpeedSample {
    /// How many nodes it had visited when it spoke last.
    pub nodes: u64,
    /// From its order until then, by our clock, less the way.
    pub time: Duration,
    /// How many threads it had.
    pub threads: usize,
}

/// Speed of a core, by the searches that were done on it.
#[derive(Debug, Default)]
pub(crate) struct WorkerSpeed {
    /// Thousands of nodes a second, and when it was measured last.
    measured: Option<(f64, Instant)>,
}

impl WorkerSpeed {
    /// A search has come to this.
    pub(crate) fn note(&mut self, now: Instant, sample: SpeedSample) {
        if sample.time < SHORTEST_SAMPLE {
            return;
        }
        #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
        let speed = sample.nodes as f64 / sample.time.as_secs_f64() / 1000.0 / sample.threads.max(1) as f64;
        let before = self.at(now).unwrap_or(speed);
        self.measured = Some((before * KEPT + speed * (1.0 - KEPT), now));
    }

    /// Thousands of nodes a second, where that was measured lately.
    pub(crate) fn now(&self, now: Instant) -> Option<u32> {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast of a float saturates")]
        self.at(now).map(|speed| speed as u32)
    }

    fn at(&self, now: Instant) -> Option<f64> {
        let fresh = |measured: &Instant| now.saturating_duration_since(*measured) < FORGOTTEN_AFTER;
        self.measured.filter(|(_, measured)| fresh(measured)).map(|(speed, _)| speed)
    }
}

/// How a worker behaved in a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Conduct {
    /// It proposed a move that was verified.
    Proposed,
    /// It had the time for a proposal, and made none.
    Silent,
    /// Nothing can be said.
    Unknown,
}

/// What a search leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndedSearch {
    /// Where it ran.
    pub worker: RunId,
    /// How that worker behaved.
    pub conduct: Conduct,
    /// What it came to, if that says anything about the machine.
    pub sample: Option<SpeedSample>,
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn one_slow_answer_keeps_a_worker_near() {
        let (mut lag, now) = (WorkerLag::default(), Instant::now());
        assert_eq!(lag.now(now), None, "nobody knows yet");
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
    fn who_does_not_answer_any_more_has_no_lag() {
        let (mut lag, now) = (WorkerLag::default(), Instant::now());
        lag.note(now, MS);
        assert_eq!(lag.now(now + SILENT_AFTER), None);
        lag.note(now + SILENT_AFTER, MS);
        assert_eq!(lag.now(now + SILENT_AFTER), Some(MS));
    }

    #[test]
    fn the_way_is_a_quarter_of_a_move_at_most() {
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
