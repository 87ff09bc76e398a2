//! Players: the built-in engine, a council, or any program that speaks UCI or CECP, behind one
//! interface.
//!
//! A [`PlayerSpec`] is read from a line of text (its documentation has the syntax) and becomes a
//! [`MatchPlayer`]. A player gets a [`MoveRequest`] and returns a [`ChosenMove`]; the arbiter in
//! [`super::game`] keeps the clock and checks the move. Built-in players run within this process:
//! at ten milliseconds a move, pipes would cost too much.

mod council;
mod own;
mod pace;
mod spec;
mod uci;
mod xboard;

pub use pace::{MatchPace, Pace, PaceError};
pub use spec::{PlayerSpec, PlayerSpecError, council_settings, set_key};

use std::{sync::Arc, time::Duration};

use ::council::{electors::ElectorFailure, player::Time};
use domain::{Clocks, Line, Score, TimeControl, UciMove};

/// The time beyond its limit after which a program counts as hanging.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time for a search by nodes after which a program counts as hanging.
const PATIENCE_FOR_NODES: Duration = Duration::from_secs(600);

pub trait MatchPlayer: Send {
    /// A new game begins, from here: what was learnt in the last one is forgotten. No clock runs meanwhile.
    ///
    /// # Errors
    /// [`PlayerFailure`] if a program does not start, or cannot play from here.
    fn new_game(&mut self, opening: &Line) -> Result<(), PlayerFailure>;

    /// Chooses a move. There is at least one.
    ///
    /// # Errors
    /// [`PlayerFailure`] if the player gives none. It must be started anew after that.
    fn choose(&mut self, turn: &MoveRequest) -> Result<ChosenMove, PlayerFailure>;
}

#[derive(Clone, Debug)]
pub struct MoveRequest {
    /// The game so far. It has a legal move.
    pub line: Arc<Line>,
    pub pace: Pace,
    pub clocks: Option<Clocks>,
}

impl MoveRequest {
    /// The time of this move for a council. `None` where nodes are counted.
    fn time(&self) -> Option<Time> {
        match self.pace {
            Pace::Nodes(_) => None,
            Pace::MoveTime(time) => Some(Time::Exactly(time)),
            Pace::Clock { initial, increment } => Some(Time::Clock {
                control: TimeControl::real_time(initial, increment),
                clocks: self.clocks,
                moves_to_go: None,
                spent: Duration::ZERO,
            }),
        }
    }

    /// The nodes of this move, where they are counted.
    fn nodes(&self) -> Option<u64> {
        match self.pace {
            Pace::Nodes(nodes) => Some(nodes),
            Pace::MoveTime(_) | Pace::Clock { .. } => None,
        }
    }

    /// Returns the time after which a silent program is hanging.
    fn patience(&self) -> Duration {
        match (self.pace, self.clocks) {
            (Pace::Nodes(_), _) => PATIENCE_FOR_NODES,
            (Pace::MoveTime(time), _) => time + PATIENCE,
            (Pace::Clock { initial, .. }, clocks) => {
                clocks.map_or(initial, |clocks| clocks.of(self.line.turn()).remaining) + PATIENCE
            }
        }
    }
}

/// A player's move and its data, unchecked.
#[derive(Clone, Debug, PartialEq)]
pub struct ChosenMove {
    pub best: UciMove,
    /// Its value, from the side of the player.
    pub score: Option<Score>,
    /// Completed iterations, in plies.
    pub depth: u32,
    /// The nodes of all electors and threads.
    pub nodes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlayerFailure {
    #[error("resigns")]
    Resigned,
    /// It gave something that is no legal move.
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

/// A program that has not answered in time.
fn hanging() -> PlayerFailure {
    PlayerFailure::Failed("hangs".to_owned())
}
