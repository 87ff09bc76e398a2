//! How a move is found: electors search where there are cores, a council of them decides, and a clock says by when.
//!
//! | room | its one job |
//! |---|---|
//! | [`player`] | who finds the moves of one game: book, tablebases, council, in time |
//! | [`council`] | rosters, the two phases, the election |
//! | [`pool`] | where electors run |
//! | [`clock`] | how much time a move may have: pure functions |

pub mod clock;
pub mod council;
pub mod player;
pub mod pool;

pub use council::{
    Council, CouncilSettings, CriterionName, GroupMode, Pondering, Question, Roster, SecondPhaseMode, elect,
};
