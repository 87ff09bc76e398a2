//! One search as a slot gets it, what is reported of it, and what other searches may tell it while it runs.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

use super::{Facts, Verification};
use domain::{ElectorName, GameLine, Line, Proposal, Score, SearchId, Task, UciMove};
use engine::{BestOfGroup, Place};

#[derive(Clone, Debug)]
pub struct Job<L: GameLine = Line> {
    pub task: Task<L>,
    /// Guidance that an elector may ignore.
    pub guidance: Guidance<L::Move>,
    pub meter: Arc<Meter>,
    /// A limit of threads below the elector's own.
    pub threads_at_most: Option<usize>,
    /// The time until its answer is due, if it is known at the start; `None`: until it ends by
    /// itself or is stopped.
    pub time: Option<Duration>,
}

impl<L: GameLine> Job<L> {
    pub fn new(task: Task<L>) -> Self {
        Self::guided(task, Guidance::default())
    }

    pub fn threads_of(&self, elector: usize) -> usize {
        self.threads_at_most.map_or(elector, |most| elector.min(most.max(1)))
    }

    pub fn guided(task: Task<L>, guidance: Guidance<L::Move>) -> Self {
        Self { task, guidance, meter: Arc::default(), threads_at_most: None, time: None }
    }

    #[must_use]
    pub fn within(self, time: Option<Duration>) -> Self {
        Self { time, ..self }
    }
}

/// A slot's report about a search.
#[derive(Clone, Debug)]
pub enum SearchReport<M = UciMove> {
    Proposal(Proposal<M>),
    /// The search is over; nothing more will come of it.
    Finished(SearchId, ElectorName),
    /// The elector failed; nothing more will come of this search.
    Failed(SearchId, ElectorName, String),
}

impl<M> SearchReport<M> {
    pub fn proposal(&self) -> Option<&Proposal<M>> {
        match self {
            Self::Proposal(proposal) => Some(proposal),
            Self::Finished(..) | Self::Failed(..) => None,
        }
    }

    pub fn search(&self) -> &SearchId {
        match self {
            Self::Proposal(proposal) => &proposal.search,
            Self::Finished(search, _) | Self::Failed(search, ..) => search,
        }
    }
}

/// Information between the searches of a council. Only the built-in engine uses it.
#[derive(Clone, Debug)]
pub struct Guidance<M = UciMove> {
    pub hints: Option<Hints<M>>,
    /// Proved moves: provers add to them, the built-in engine uses them.
    pub facts: Option<Facts<M>>,
    /// The list to which it adds its own move as a hint, and its number there.
    pub advises: Option<(Hints<M>, usize)>,
    /// Only values between these two matter, from the side of the player to move.
    pub window: Option<(Score, Score)>,
    /// The best value of a group whose processes share it (docs/method.md §7).
    pub best_of_group: Option<Arc<BestOfGroup>>,
    /// The receiver of values that home cores find for the moves of other machines.
    pub verification: Option<Verification<M>>,
    /// Its turn among others, in virtual time. An elector that knows no turns is waited for when its turn comes.
    pub turn: Option<Arc<Place>>,
}

impl<M> Default for Guidance<M> {
    fn default() -> Self {
        Self {
            hints: None,
            facts: None,
            advises: None,
            window: None,
            best_of_group: None,
            verification: None,
            turn: None,
        }
    }
}

impl<M> Guidance<M> {
    /// Returns true if it works on another machine: anything that changes by the microsecond does
    /// not.
    pub fn can_travel(&self) -> bool {
        self.best_of_group.is_none() && self.turn.is_none() && self.advises.is_none()
    }
}

/// Moves proposed by other electors during a search, which searches them next after its own best
/// one. Cheap to clone; clones are the same list.
#[derive(Clone, Debug)]
pub struct Hints<M = UciMove> {
    moves: Arc<Mutex<BTreeMap<usize, M>>>,
    extend: bool,
}

impl<M: Copy> Hints<M> {
    /// Creates an empty list; `extend` says whether hinted moves are searched a ply deeper as well.
    pub fn new(extend: bool) -> Self {
        Self { moves: Arc::default(), extend }
    }

    /// Returns true if hinted moves are searched a ply deeper.
    pub fn extend(&self) -> bool {
        self.extend
    }

    pub fn tell(&self, moves: Vec<M>) {
        *self.moves.lock().unwrap_or_else(PoisonError::into_inner) = moves.into_iter().enumerate().collect();
    }

    /// The move of the adviser of this number, in place of its last one.
    pub fn advise(&self, adviser: usize, best: M) {
        self.moves.lock().unwrap_or_else(PoisonError::into_inner).insert(adviser, best);
    }

    /// The adviser of this number has ended: its move was worth something while it searched, beside what the others knew then.
    pub fn withdraw(&self, adviser: usize) {
        self.moves.lock().unwrap_or_else(PoisonError::into_inner).remove(&adviser);
    }

    pub fn now(&self) -> Vec<M> {
        self.moves.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }
}

/// The cost of a search so far, readable while it runs. The nodes that it counts itself and those
/// in its proposals are kept apart, because a built-in searcher ends by its own count.
#[derive(Debug, Default)]
pub struct Meter {
    counted: AtomicU64,
    told: AtomicU64,
    words: AtomicU64,
    /// Effort in thousandths plus one, so that 0 is unknown.
    effort: AtomicU32,
}

impl Meter {
    /// Returns the nodes visited so far.
    pub fn nodes(&self) -> u64 {
        self.counted.load(Relaxed).max(self.told.load(Relaxed))
    }

    /// Raises the count to at least `nodes`, from an outside report.
    pub fn count(&self, nodes: u64) {
        self.told.fetch_max(nodes, Relaxed);
    }

    /// The searcher has said something: it is at work, however long it says no more of its nodes.
    pub(super) fn hear(&self) {
        self.words.fetch_add(1, Relaxed);
    }

    /// Returns the number of its reports.
    pub(crate) fn words(&self) -> u64 {
        self.words.load(Relaxed)
    }

    /// The share of its nodes that its best move took, 0 to 1, where it says so. Much means that nothing else comes near it.
    pub fn effort(&self) -> Option<f64> {
        let thousandths = self.effort.load(Relaxed).checked_sub(1)?;
        Some(f64::from(thousandths) / 1000.0)
    }

    /// Its best move took such a share of its nodes.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn note_effort(&self, share: f64) {
        self.effort.store((share.clamp(0.0, 1.0) * 1000.0) as u32 + 1, Relaxed);
    }

    /// The counter itself, for a searcher that counts in it.
    pub(super) fn counter(&self) -> &AtomicU64 {
        &self.counted
    }
}
