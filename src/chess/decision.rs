//! What the council decided, and how the vote went.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use shakmaty::uci::UciMove;

use super::{Proposal, Score};

/// Where a move came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The opening book.
    Book,
    /// An endgame tablebase.
    Tablebase,
    /// The electors.
    Council,
    /// There was only one legal move.
    Forced,
}

impl Source {
    /// The word the journal and the page use.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Book => "book",
            Self::Tablebase => "tablebase",
            Self::Council => "council",
            Self::Forced => "forced",
        }
    }
}

/// One elector's newest proposal and what it weighed in the election.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote {
    /// What was proposed.
    pub proposal: Proposal,
    /// The criterion's weight for it; comparable only within one decision.
    pub weight: f64,
}

/// The second phase: complete knowledge searched the proposed moves again.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondPhase {
    /// The move the first phase alone would have elected.
    pub first_choice: UciMove,
    /// What the second search found.
    pub proposal: Proposal,
}

/// The council's answer. Its move is always legal in the position that was asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The elected move.
    pub best: UciMove,
    /// The reply expected, if the elected line has one.
    pub ponder: Option<UciMove>,
    /// The elected move's value from the side of the player to move; `None` for book and forced moves.
    pub score: Option<Score>,
    /// Where the move came from.
    pub source: Source,
    /// The rule that elected, such as `weights` or `re-search`.
    pub criterion: String,
    /// Every elector's newest proposal, in the order of the roster. Empty unless the source is the council.
    pub votes: Vec<Vote>,
    /// What the second phase did, if there was one.
    pub second_phase: Option<SecondPhase>,
    /// From task to decision.
    pub elapsed: Duration,
}

impl Decision {
    /// A decision that needed no vote.
    pub fn without_vote(best: UciMove, source: Source) -> Self {
        Self {
            best,
            ponder: None,
            score: None,
            source,
            criterion: source.word().to_owned(),
            votes: Vec::new(),
            second_phase: None,
            elapsed: Duration::ZERO,
        }
    }

    /// How many different moves were proposed.
    pub fn distinct_moves(&self) -> usize {
        let mut moves: Vec<String> = self.votes.iter().map(|vote| vote.proposal.best.to_string()).collect();
        moves.sort_unstable();
        moves.dedup();
        moves.len()
    }

    /// Whether every elector proposed the same move.
    pub fn unanimous(&self) -> bool {
        self.distinct_moves() == 1
    }

    /// Nodes of all electors and of the second phase.
    pub fn nodes(&self) -> u64 {
        let first: u64 = self.votes.iter().map(|vote| vote.proposal.nodes).sum();
        first + self.second_phase.as_ref().map_or(0, |second| second.proposal.nodes)
    }
}
