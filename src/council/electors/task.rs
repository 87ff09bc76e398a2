//! One search: the task, its reports, its state, and the information from other searches while it runs.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::UnboundedSender;

use super::Verification;
use domain::{ElectorName, GameLine, Limits, Line, Phase, Proposal, Score, SearchId, UciMove};
use engine::{BestOfGroup, Place};

#[derive(Clone, Debug)]
pub struct Task<L: GameLine = Line> {
    pub id: SearchId,
    pub line: Arc<L>,
    /// The root moves to search; empty means all legal ones.
    pub root_moves: Vec<L::Move>,
    pub limits: Limits,
    pub guidance: Guidance<L::Move>,
    pub state: Arc<SearchState>,
    pub threads_at_most: Option<usize>,
    /// The time until its answer is due, if it is known at the start; `None`: until it ends by
    /// itself or is stopped.
    pub time: Option<Duration>,
}

impl<L: GameLine> Task<L> {
    /// A search of all moves, without limits and guidance.
    pub fn new(id: SearchId, line: Arc<L>) -> Self {
        Self {
            id,
            line,
            root_moves: Vec::new(),
            limits: Limits::default(),
            guidance: Guidance::default(),
            state: Arc::new(SearchState::new()),
            threads_at_most: None,
            time: None,
        }
    }

    /// A search that is not about a move of a game.
    pub fn alone(line: Arc<L>) -> Self {
        let id = SearchId { game: "alone".into(), ply: line.ply(), serial: 0, phase: Phase::First };
        Self::new(id, line)
    }

    pub fn threads_of(&self, elector: usize) -> usize {
        self.threads_at_most.map_or(elector, |most| elector.min(most.max(1)))
    }
}

#[derive(Clone, Debug)]
pub enum SearchReport<M = UciMove> {
    Proposal(Proposal<M>),
    /// Complete; nothing more comes of this search.
    Finished(SearchId, ElectorName),
    /// Broken off, with the reason; nothing more comes of this search.
    Failed(SearchId, ElectorName, String),
}

pub type Reports<M = UciMove> = UnboundedSender<SearchReport<M>>;

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

    pub fn elector(&self) -> &ElectorName {
        match self {
            Self::Proposal(proposal) => &proposal.elector,
            Self::Finished(_, elector) | Self::Failed(_, elector, _) => elector,
        }
    }
}

/// Information between the searches of a council. Only the built-in engine uses it.
#[derive(Clone, Debug)]
pub struct Guidance<M = UciMove> {
    pub hints: Option<Hints<M>>,
    /// The list to which it adds its own move as a hint, and its number there.
    pub advises: Option<(Hints<M>, usize)>,
    /// Only values between these two matter, from the side of the player to move.
    pub window: Option<(Score, Score)>,
    /// The shared best value of its group (docs/method.md §7).
    pub best_of_group: Option<Arc<BestOfGroup>>,
    /// The receiver of values that home cores find for the moves of other machines.
    pub verification: Option<Arc<Verification<M>>>,
    /// Its turn among others, in virtual time. An elector that knows no turns is waited for when its turn comes.
    pub turn: Option<Arc<Place>>,
}

impl<M> Default for Guidance<M> {
    fn default() -> Self {
        Self { hints: None, advises: None, window: None, best_of_group: None, verification: None, turn: None }
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

    /// Removes the move of the adviser of this number at its end: the electors soon know more.
    pub fn withdraw(&self, adviser: usize) {
        self.moves.lock().unwrap_or_else(PoisonError::into_inner).remove(&adviser);
    }

    pub fn now(&self) -> Vec<M> {
        self.moves.lock().unwrap_or_else(PoisonError::into_inner).values().copied().collect()
    }
}

/// The state of a running search, shared by the council and the searching thread.
///
/// The searcher's own count of nodes and the count of its proposals are separate, because a built-in searcher ends by its own
/// count.
#[derive(Debug)]
pub struct SearchState {
    pub(crate) since: Instant,
    counted: AtomicU64,
    told: AtomicU64,
    words: AtomicU64,
    /// Effort in thousandths plus one, so that 0 is unknown.
    effort: AtomicU32,
    pub(super) stop: AtomicBool,
    /// Start of the elector's work: the elector may have been started first, or have ended an earlier search.
    pub(super) begun: OnceLock<Instant>,
    pub(super) told_to_stop: OnceLock<Instant>,
    pub(super) over: AtomicBool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchStatus {
    pub search: SearchId,
    pub elector: ElectorName,
    pub threads: u16,
    pub nodes: u64,
}

impl SearchState {
    fn new() -> Self {
        Self {
            since: Instant::now(),
            counted: AtomicU64::new(0),
            told: AtomicU64::new(0),
            words: AtomicU64::new(0),
            effort: AtomicU32::new(0),
            stop: AtomicBool::new(false),
            begun: OnceLock::new(),
            told_to_stop: OnceLock::new(),
            over: AtomicBool::new(false),
        }
    }

    pub fn nodes(&self) -> u64 {
        self.counted.load(Relaxed).max(self.told.load(Relaxed))
    }

    /// Raises the count to at least `nodes`, from an outside report.
    pub fn count(&self, nodes: u64) {
        self.told.fetch_max(nodes, Relaxed);
    }

    /// Counts a report of the searcher: it is at work, even without a new number of nodes.
    pub(super) fn hear(&self) {
        self.words.fetch_add(1, Relaxed);
    }

    pub(crate) fn words(&self) -> u64 {
        self.words.load(Relaxed)
    }

    /// Returns the best move's share of the nodes, 0 to 1, if known. With a high share, no other move comes near.
    pub fn effort(&self) -> Option<f64> {
        let thousandths = self.effort.load(Relaxed).checked_sub(1)?;
        Some(f64::from(thousandths) / 1000.0)
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub(super) fn note_effort(&self, share: f64) {
        self.effort.store((share.clamp(0.0, 1.0) * 1000.0) as u32 + 1, Relaxed);
    }

    pub(super) fn counter(&self) -> &AtomicU64 {
        &self.counted
    }
}
