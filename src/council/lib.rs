//! Finds moves: electors search on the available cores, a council elects one of their moves, and a
//! clock sets the deadline.
//!
//! | module | purpose |
//! |---|---|
//! | [`player`] | the moves of one game: book, tablebases, council, in time |
//! | `vote`: [`Council`] | rosters, the two phases, the election |
//! | [`CouncilGame`] | a game's interface to the council; `chess_game` implements it for chess |
//! | [`electors`] | slots and cores of electors |
//! | [`clock`] | time budgets of moves: pure functions |

mod brief;
mod chess_game;
pub mod clock;
pub mod electors;
pub mod player;
mod vote;

pub use brief::BriefWait;
pub use electors::CouncilGame;
pub use vote::{
    Ballots, Council, CouncilSettings, CriterionName, ElectionOutcome, ElectorSettings, GroupMode, HeuristicWeights,
    OptionText, Pondering, Progress, Question, Roster, RosterError, Rule, SecondPhaseMode, Timing,
};
