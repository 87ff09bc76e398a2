//! Finds moves: electors search on the available cores, a council elects one of their moves, and a
//! clock sets the deadline.
//!
//! | module | purpose |
//! |---|---|
//! | [`player`] | the moves of one game: book, tablebases, council, in time |
//! | [`Council`] | rosters, the two phases, the election |
//! | [`CouncilGame`] | a game's interface to the council; `chess_game` implements it for chess |
//! | [`pool`] | slots and cores of electors |
//! | [`clock`] | time budgets of moves: pure functions |

mod brief;
mod chess_game;
pub mod clock;
mod council;
mod game;
pub mod player;
pub mod pool;

pub use brief::BriefWait;
pub use council::{
    Ballots, Council, CouncilSettings, CriterionName, ElectionOutcome, ElectorSettings, GroupMode, HeuristicWeights,
    OptionText, Pondering, Progress, Question, Roster, RosterError, Rule, SecondPhaseMode, Timing, elect, elected_move,
};
pub use game::CouncilGame;
