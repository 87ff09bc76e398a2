//! How a move is found: electors search where there are cores, a council of them decides, and a clock says by when.
//!
//! | room | its one job |
//! |---|---|
//! | [`player`] | who finds the moves of one game: book, tablebases, council, in time |
//! | [`Council`] | rosters, the two phases, the election |
//! | [`CouncilGame`] | what they have to know of a game; `chess_game` is what they know of chess |
//! | [`pool`] | where electors run |
//! | [`clock`] | how much time a move may have: pure functions |

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
