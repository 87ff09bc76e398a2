//! A player at work, and what it is asked.

use std::{fmt::Display, sync::Arc};

use council::electors::ElectorFailure;
use domain::{Clocks, Decision, GameLine, Pace, Score};

/// A player of one game at work. It gets a [`MoveRequest`] and returns a [`ChosenMove`]; the arbiter
/// keeps the clock and checks the move.
pub trait MatchPlayer<L: GameLine>: Send {
    /// A new game begins, from here: what was learnt in the last one is forgotten. No clock runs meanwhile.
    ///
    /// # Errors
    /// [`PlayerFailure`] if a program does not start, or cannot play from here.
    fn new_game(&mut self, opening: &L) -> Result<(), PlayerFailure>;

    /// Chooses a move. There is at least one.
    ///
    /// # Errors
    /// [`PlayerFailure`] if the player gives none. It must be started anew after that.
    fn choose(&mut self, turn: &MoveRequest<L>) -> Result<ChosenMove<L::Move>, PlayerFailure>;
}

#[derive(Clone, Debug)]
pub struct MoveRequest<L> {
    /// The game so far. It has a legal move.
    pub line: Arc<L>,
    pub pace: Pace,
    pub clocks: Option<Clocks>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ChosenMove<M> {
    pub best: M,
    /// Its value, from the side of the player.
    pub score: Option<Score>,
    /// Completed iterations, in plies.
    pub depth: u32,
    /// The nodes of all electors and threads.
    pub nodes: u64,
}

impl<M: Copy + PartialEq + Display, K> From<&Decision<M, K>> for ChosenMove<M> {
    fn from(decision: &Decision<M, K>) -> Self {
        let depths = decision.votes.iter().map(|vote| vote.proposal.depth);
        let (depth, nodes) = (depths.max().unwrap_or_default(), decision.nodes());
        Self { best: decision.best, score: decision.score, depth, nodes }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlayerFailure {
    #[error("resigns")]
    Resigned,
    #[error("illegal move {0:?}")]
    Illegal(String),
    /// It did not start, ended, hangs, or does not do what it was asked.
    #[error("{0}")]
    Failed(String),
}

impl From<ElectorFailure> for PlayerFailure {
    fn from(ElectorFailure(reason): ElectorFailure) -> Self {
        Self::Failed(reason)
    }
}
