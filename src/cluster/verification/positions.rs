//! Positions in which moves are verified, each with its part of a home core's time.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use super::values::{HomeSearch, VerifiedMove};
use crate::identity::RunId;
use council::electors::Verification;
use domain::Line;

/// Part of a core's time that verification may take, as a divisor, beside a little at the beginning
/// of a position.
pub(crate) const SHARE: u32 = 8;
pub(crate) const AT_ONCE: Duration = Duration::from_millis(20);

/// A position in which moves are verified, and the time that this has taken.
#[derive(Debug)]
pub(crate) struct VerifiedPosition {
    pub position: Arc<str>,
    pub line: Arc<Line>,
    pub verification: Weak<Verification>,
    pub since: Instant,
    pub spent: Duration,
    /// Number of moves verified, by worker.
    pub verified: BTreeMap<RunId, u32>,
}

impl VerifiedPosition {
    pub(crate) fn wait(&self, now: Instant) -> Duration {
        let due = self.spent.saturating_sub(AT_ONCE) * SHARE;
        due.saturating_sub(now.saturating_duration_since(self.since))
    }

    pub(crate) fn next(&self) -> Option<HomeSearch> {
        let (best, length) = self.verification.upgrade()?.next()?;
        let key = VerifiedMove { position: Arc::clone(&self.position), best };
        Some(HomeSearch { key, line: Arc::clone(&self.line), length, doubt: false })
    }
}

#[derive(Debug)]
pub(crate) enum NextSearch {
    Now(HomeSearch),
    /// A later search: the share of a core's time is used up.
    Wait(Duration),
    /// Nothing until the next event.
    Nothing,
}
