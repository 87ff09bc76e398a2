//! Detection of a second daemon on the same account. A server gives an account one event stream: a
//! second one closes the first, so two daemons with one token close each other's streams for ever.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// A stream lost within this time after its start may have been taken by another program.
const SOON: Duration = Duration::from_secs(60);
/// The number of losses within [`SPAN`] that cannot be chance.
const MANY: usize = 5;
/// The time over which lost streams are counted. A stream of this length ends the suspicion.
const SPAN: Duration = Duration::from_mins(10);

#[derive(Debug, Default)]
pub(super) struct StreamLosses {
    opened: Option<Instant>,
    /// The times of streams lost soon after their opening, oldest first.
    lost: VecDeque<Instant>,
    told: bool,
}

impl StreamLosses {
    pub(super) fn opened(&mut self, now: Instant) {
        self.opened = Some(now);
    }

    /// Records a lost event stream. Returns, once, the suspicion and the remedy for the owner.
    pub(super) fn lost(&mut self, now: Instant) -> Option<String> {
        let held = now.saturating_duration_since(self.opened.take()?);
        if held >= SPAN {
            *self = Self::default();
        }
        if held >= SOON {
            return None;
        }
        self.lost.push_back(now);
        self.lost.retain(|at| now.saturating_duration_since(*at) < SPAN);
        if self.lost.len() < MANY || std::mem::replace(&mut self.told, true) {
            return None;
        }
        Some(format!(
            "the event stream was lost {MANY} times within {} minutes, each time soon after it was opened: it seems that \
             another program is connected to this account and that the two take the stream from each other. Stop the other \
             program, or give each an account and a token of its own",
            SPAN.as_secs() / 60
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens and loses a stream that holds for `held`; returns the losses at which the owner was informed.
    fn losses(held: Duration, pause: Duration, times: usize) -> Vec<usize> {
        let (mut losses, mut now) = (StreamLosses::default(), Instant::now());
        let mut told = Vec::new();
        for time in 1..=times {
            losses.opened(now);
            now += held;
            if losses.lost(now).is_some() {
                told.push(time);
            }
            now += pause;
        }
        told
    }

    #[test]
    fn rival_daemon_is_reported_once() {
        assert_eq!(losses(Duration::from_secs(2), Duration::from_secs(1), 200), [5]);
    }

    #[test]
    fn bad_network_raises_no_suspicion() {
        assert_eq!(losses(Duration::from_secs(2), Duration::from_mins(5), 100), Vec::<usize>::new());
        assert_eq!(losses(Duration::from_mins(2), Duration::from_secs(1), 100), Vec::<usize>::new());
    }

    #[test]
    fn later_rival_is_reported_again() {
        let (mut losses, mut now) = (StreamLosses::default(), Instant::now());
        let mut told = 0;
        for _ in 0..2 {
            for held in [Duration::from_secs(1); 6].into_iter().chain([Duration::from_hours(1)]) {
                losses.opened(now);
                now += held;
                told += usize::from(losses.lost(now).is_some());
            }
        }
        assert_eq!(told, 2);
    }

    #[test]
    fn unreachable_server_is_no_loss() {
        let mut losses = StreamLosses::default();
        assert!((0..20).all(|_| losses.lost(Instant::now()).is_none()), "nothing was open");
    }
}
