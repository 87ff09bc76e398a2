use std::{cmp::Reverse, fmt::Display, time::Duration};

use serde::{
    Deserialize, Serialize,
    de::value::{self, StrDeserializer},
};
use shakmaty::uci::UciMove;

use super::{CriterionName, ElectorName, Knowledge, Proposal, Score, SecondPhaseMode};
use util::grouped;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    Book,
    /// A local or online endgame tablebase.
    Tablebase,
    /// The Lichess opening explorer.
    Explorer,
    /// Lichess's cloud evaluations.
    Cloud,
    /// The database chessdb.cn.
    Chessdb,
    Council,
    /// An elector's proof of a win, which overrides the vote.
    Proof,
    /// The only legal move.
    Forced,
    /// A search of a few plies by the deciding thread, for want of proposals in time.
    Fallback,
    /// The journal: decided before a restart.
    Journal,
}

impl Source {
    pub fn from_word(word: &str) -> Option<Self> {
        Self::deserialize(StrDeserializer::<value::Error>::new(word)).ok()
    }

    pub fn of_openings() -> impl Iterator<Item = Self> {
        [Self::Book, Self::Explorer, Self::Cloud, Self::Chessdb].into_iter()
    }

    pub fn is_of_openings(self) -> bool {
        Self::of_openings().any(|source| source == self)
    }

    /// Returns the word that the journal and the page use, and the origin of a move without a vote in words.
    const fn texts(self) -> [&'static str; 2] {
        match self {
            Self::Book => ["book", "from the opening book"],
            Self::Tablebase => ["tablebase", "from the tablebase"],
            Self::Explorer => ["explorer", "from the opening explorer"],
            Self::Cloud => ["cloud", "from Lichess's cloud evaluation"],
            Self::Chessdb => ["chessdb", "from chessdb.cn"],
            Self::Council => ["council", ""],
            Self::Proof => ["proof", "proved to win"],
            Self::Forced => ["forced", "the only legal move"],
            Self::Fallback => ["fallback", "no elector answered in time"],
            Self::Journal => ["journal", "decided before the restart"],
        }
    }

    pub const fn word(self) -> &'static str {
        self.texts()[0]
    }

    /// Returns the origin of a move without a vote; empty for the council.
    pub(super) const fn in_words(self) -> &'static str {
        self.texts()[1]
    }
}

/// One elector's newest proposal and its weight in the election.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote<M = UciMove, K = Knowledge> {
    pub proposal: Proposal<M>,
    /// The elector's knowledge; `None` for an external engine.
    pub knowledge: Option<K>,
    /// The criterion's weight, comparable only within one decision. `None` for advisers and provers, which have no vote.
    pub weight: Option<f64>,
}

/// The second phase: complete knowledge searched the proposed moves again.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondPhase<M = UciMove> {
    pub mode: SecondPhaseMode,
    /// The choice of the first phase alone.
    pub first_choice: M,
    pub proposal: Proposal<M>,
}

impl<M: PartialEq> SecondPhase<M> {
    pub fn changed_the_choice(&self) -> bool {
        self.first_choice != self.proposal.best
    }
}

/// One process's work for a decision (docs/method.md §7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessMetrics {
    pub elector: ElectorName,
    pub nodes: u64,
    pub busy: Duration,
}

/// The council's answer. Its move is always legal in the position asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<M = UciMove, K = Knowledge> {
    pub best: M,
    /// The reply expected, if the elected line has one.
    pub ponder: Option<M>,
    /// The elected move's value from the side of the player to move; `None` for book and forced moves.
    pub score: Option<Score>,
    pub source: Source,
    /// The rule that elected; `None` without a vote.
    pub criterion: Option<CriterionName>,
    /// Every elector's newest proposal in the order of the roster, then the advisers'. Empty unless
    /// the source is the council.
    pub votes: Vec<Vote<M, K>>,
    pub second_phase: Option<SecondPhase<M>>,
    /// The share of the other electors that do not propose the move elected by the first phase. 0:
    /// unanimous, or a single elector; 1: no other elector agrees.
    pub split: f64,
    pub processes: Vec<ProcessMetrics>,
    pub elapsed: Duration,
}

impl<M: Copy + PartialEq + Display, K> Decision<M, K> {
    /// Iterates over all proposals: of the second phase, if there was one, then of the votes.
    fn proposals(&self) -> impl Iterator<Item = &Proposal<M>> {
        let second = self.second_phase.as_ref().map(|second| &second.proposal);
        second.into_iter().chain(self.votes.iter().map(|vote| &vote.proposal))
    }

    /// The proposals of the elected move, in the same order.
    fn elected(&self) -> impl Iterator<Item = &Proposal<M>> {
        self.proposals().filter(move |proposal| proposal.best == self.best)
    }

    /// Returns the expected line of the deepest search for the elected move, `best` first; empty without such a search.
    pub fn expected(&self) -> &[M] {
        self.elected().max_by_key(|proposal| proposal.depth).map_or(&[], |proposal| &proposal.pv)
    }

    pub fn without_vote(best: M, source: Source) -> Self {
        Self {
            best,
            ponder: None,
            score: None,
            source,
            criterion: None,
            votes: Vec::new(),
            second_phase: None,
            split: 0.0,
            processes: Vec::new(),
            elapsed: Duration::ZERO,
        }
    }

    /// Returns the word that records use for the choice: the criterion, such as `re-search`, or
    /// without a vote the source.
    pub fn chosen_by(&self) -> &'static str {
        self.criterion.map_or(self.source.word(), CriterionName::word)
    }

    /// Iterates over the votes with a weight.
    pub fn votes_cast(&self) -> impl Iterator<Item = &Vote<M, K>> {
        self.votes.iter().filter(|vote| vote.weight.is_some())
    }

    pub fn distinct_moves(&self) -> usize {
        grouped(self.votes_cast().map(|vote| (vote.proposal.best.to_string(), ()))).len()
    }

    pub fn unanimous(&self) -> bool {
        self.distinct_moves() == 1
    }

    /// Nodes of all electors and of the second phase.
    pub fn nodes(&self) -> u64 {
        let told: u64 = self.proposals().map(|proposal| proposal.nodes).sum();
        // Proposals count completed iterations only, and only those of a group's speaker.
        self.processes.iter().map(|process| process.nodes).sum::<u64>().max(told)
    }

    /// Returns the expected replies to the elected move, the most frequent first, for pondering.
    pub fn expected_replies(&self) -> Vec<M> {
        let replies = self.ponder.into_iter().chain(self.elected().filter_map(|proposal| proposal.pv.get(1).copied()));
        let mut replies = grouped(replies.map(|reply| (reply, ())));
        replies.sort_by_key(|(reply, backers)| (Some(*reply) != self.ponder, Reverse(backers.len())));
        replies.into_iter().map(|(reply, _)| reply).collect()
    }
}
