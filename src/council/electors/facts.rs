use std::{
    num::NonZeroU32,
    sync::{Arc, Mutex, PoisonError},
};

use domain::{Score, UciMove};
use engine::Outcome;

/// The value of a game that a tablebase knows to be won, in centipawns. Less than any mate.
pub const TABLEBASE_WIN: i32 = 19_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact<M = UciMove> {
    pub about: M,
    /// The end of the game after it, with best play.
    pub finding: Finding,
}

/// The end of the game for the player of the move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// Won: by a mate in at most this number of the winner's moves, if known.
    Won(Option<NonZeroU32>),
    Drawn,
    /// Lost: the opponent mates in at most this number of moves, if known.
    Lost(Option<NonZeroU32>),
}

impl Finding {
    /// Returns the score of the move, for the player of the move.
    pub fn score(self) -> Score {
        let moves = |mate: NonZeroU32| i32::try_from(mate.get()).unwrap_or(i32::MAX);
        match self {
            Self::Won(Some(mate)) => Score::Mate(moves(mate)),
            Self::Won(None) => Score::Cp(TABLEBASE_WIN),
            Self::Drawn => Score::Cp(0),
            Self::Lost(None) => Score::Cp(-TABLEBASE_WIN),
            Self::Lost(Some(mate)) => Score::Mate(-moves(mate)),
        }
    }

    pub const fn is_won(self) -> bool {
        matches!(self, Self::Won(_))
    }
}

impl From<Outcome> for Finding {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Win => Self::Won(None),
            Outcome::Draw => Self::Drawn,
            Outcome::Loss => Self::Lost(None),
        }
    }
}

/// The facts about the moves of one position: provers add them, and searchers read them. Cheap to clone; clones are the same list.
#[derive(Clone, Debug)]
pub struct Facts<M = UciMove>(Arc<Mutex<Vec<Fact<M>>>>);

impl<M> Default for Facts<M> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<M: Copy + PartialEq> Facts<M> {
    /// Adds a fact, unless there is one about its move: two facts about one move agree.
    pub fn tell(&self, fact: Fact<M>) {
        let mut facts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !facts.iter().any(|known| known.about == fact.about) {
            facts.push(fact);
        }
    }

    pub fn now(&self) -> Vec<Fact<M>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
