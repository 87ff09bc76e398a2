//! Measurements at Italian draughts: games between any two players, and what electors and criteria make of positions.
//!
//! Openings are ballots of eleven men a side, drawn by a seed; each is played with both colours by players that know nothing
//! of the pair before. With nodes alone equal matches are equal to the node.

mod command;
mod fit;
mod matches;
mod positions;

pub use command::MeasureDraughts;
pub use fit::{DraughtsLessons, DraughtsWeights, Lesson, fit_weights, loss, play_lessons, weights_in_rust};
pub use matches::{DraughtsContender, DraughtsMatch, DraughtsPair, DraughtsStanding, run_draughts};
pub use positions::{DraughtsJudgement, DraughtsPositions, judge_draughts, positions_of_games};

use crate::player::DraughtsPlayer;
use tokio::runtime::Runtime;

/// A measurement of draughts that cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum DraughtsError {
    #[error("no runtime for a council: {0}")]
    Runtime(#[from] std::io::Error),
    /// The same games would be played again, and counted as new.
    #[error(
        "{games} games from {ballots} ballots: with budgets of nodes a ballot gives the same two games every time; ask for two \
         games a ballot at most (--games)"
    )]
    FewBallots { games: usize, ballots: usize },
    #[error(transparent)]
    State(#[from] experiment::state::StateError),
}

fn runtime() -> std::io::Result<Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_time().build()
}

/// Players that sit at one board, with White first.
type Seated = [DraughtsPlayer; 2];
