//! Home values of proposed moves, the positions in which moves are verified, and claims in doubt.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use super::claims::{self, ClaimVerdict, HomeValue};
use crate::identity::RunId;
use council::electors::{Task, Verification, VerificationLength};
use domain::{Line, Proposal, Score, UciMove};

/// A move in a position; no move stands for the best one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct VerifiedMove {
    /// The position as FEN, with its counters.
    pub position: Arc<str>,
    /// The only move to search.
    pub best: Option<UciMove>,
}

#[derive(Clone, Debug)]
pub(crate) struct HomeSearch {
    pub key: VerifiedMove,
    pub line: Arc<Line>,
    pub length: VerificationLength,
    /// True to test a claim, false to value a move.
    pub doubt: bool,
}

/// Part of a core's time that verification may take, as a divisor, beside a little at the beginning
/// of a position.
pub(crate) const SHARE: u32 = 8;
pub(crate) const AT_ONCE: Duration = Duration::from_millis(20);

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

/// A claim beyond the margin of a short search.
#[derive(Clone, Debug)]
struct Suspicion {
    worker: RunId,
    window: Option<(Score, Score)>,
    claim: Proposal,
    line: Arc<Line>,
    target: VerifiedMove,
    trial: Trial,
}

/// Purpose of a long search about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trial {
    Move,
    /// A mate before the last two moves of the claimed variation.
    Mate,
    /// Value of the end of the variation, with the claimant to move there or the other side.
    End {
        claimant_moves: bool,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Caught {
    pub worker: RunId,
    pub claim: Proposal,
    pub found: HomeValue,
}

#[derive(Debug, Default)]
pub(crate) struct HomeValues {
    found: VecDeque<(VerifiedMove, HomeValue)>,
    suspicions: VecDeque<Suspicion>,
}

impl HomeValues {
    /// Maximum number of values: several moves of several positions of several games.
    const REMEMBERED: usize = 256;
    /// Maximum number of claims that wait for a long search.
    const MOST_SUSPICIONS: usize = 32;

    pub(crate) fn of<'a>(&'a self, position: &'a str) -> impl Iterator<Item = (Option<UciMove>, HomeValue)> + 'a {
        self.found.iter().filter(move |(key, _)| *key.position == *position).map(|(key, value)| (key.best, *value))
    }

    pub(crate) fn get(&self, key: &VerifiedMove) -> Option<HomeValue> {
        self.found.iter().rev().find(|(known, _)| known == key).map(|(_, value)| *value)
    }

    pub(crate) fn suspect(&mut self, worker: RunId, task: &Task, claim: &Proposal, target: &VerifiedMove) {
        let known = self.suspicions.iter().any(|other| other.worker == worker && other.target == *target);
        if !known && self.suspicions.len() < Self::MOST_SUSPICIONS {
            let (line, window) = (Arc::clone(&task.line), task.guidance.window);
            let (claim, target, trial) = (claim.clone(), target.clone(), Trial::Move);
            self.suspicions.push_back(Suspicion { worker, window, claim, line, target, trial });
        }
    }

    pub(crate) fn next(&self) -> Option<HomeSearch> {
        let Suspicion { line, target, .. } = self.suspicions.front()?;
        Some(HomeSearch { key: target.clone(), line: Arc::clone(line), length: VerificationLength::Long, doubt: true })
    }

    /// Records a value. Returns the workers whose claims it refutes.
    pub(crate) fn found(&mut self, key: &VerifiedMove, value: HomeValue) -> Vec<Caught> {
        self.found.push_back((key.clone(), value));
        if self.found.len() > Self::REMEMBERED {
            self.found.pop_front();
        }
        if value.length != VerificationLength::Long {
            return Vec::new();
        }
        let mut caught = Vec::new();
        for suspicion in std::mem::take(&mut self.suspicions) {
            if suspicion.target != *key {
                self.suspicions.push_back(suspicion);
            } else if let Some(next) = suspicion.next_trial(&value) {
                self.suspicions.push_back(next);
            } else if suspicion.is_untrue(&value) {
                let found = suspicion.seen_by_the_claimant(value);
                caught.push(Caught { worker: suspicion.worker, claim: suspicion.claim, found });
            }
        }
        caught
    }
}

impl Suspicion {
    /// Returns the next test of a claim after the search of its move, by its variation: a mate is
    /// tested before the last two moves, and an untrue score at the end.
    fn next_trial(&self, found: &HomeValue) -> Option<Self> {
        if self.trial != Trial::Move {
            return None;
        }
        let (line, trial) = if let Some(line) = claims::before_the_mate(&self.line, &self.claim) {
            (line, Trial::Mate)
        } else {
            let end = self.is_untrue(found).then(|| claims::where_it_ends(&self.line, &self.claim))??;
            let claimant_moves = end.turn() == self.line.turn();
            (end, Trial::End { claimant_moves })
        };
        let target = VerifiedMove { position: line.fen().into(), best: None };
        Some(Self { line: Arc::new(line), target, trial, ..self.clone() })
    }

    /// Returns the value for the player of the claimed move.
    fn seen_by_the_claimant(&self, found: HomeValue) -> HomeValue {
        match self.trial {
            Trial::End { claimant_moves: false } => found.flipped(),
            Trial::End { claimant_moves: true } | Trial::Move | Trial::Mate => found,
        }
    }

    fn is_untrue(&self, found: &HomeValue) -> bool {
        match self.trial {
            Trial::Move => claims::judge(&self.claim, found, self.window, false).1 == ClaimVerdict::Untrue,
            Trial::Mate => found.score.is_some_and(|score| !matches!(score, Score::Mate(1..))),
            Trial::End { .. } => claims::is_untrue_where_it_ends(&self.claim, &self.seen_by_the_claimant(*found)),
        }
    }
}
