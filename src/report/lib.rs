//! Studies of the journal's games: the cost of each move, and the knowledge behind better moves.
//!
//! | subject | where |
//! |---|---|
//! | from journal to pages: start here | [`make_report`] |
//! | the public formulas of Lichess | [`formulas`] |
//! | openings by code and name | [`openings`] |
//! | verdicts on positions, by the built-in engine or any other, kept in the journal | [`judge`] |
//! | one game: cost of each move, phases, time, turning point | [`study`] |
//! | votes: better electors, every criterion replayed, the second phase | [`votes`] |
//! | the best criterion, tested on other games than its choice | [`suggest`] |
//! | all games: by opponent, speed, opening; causes of losses | [`totals`] |
//! | texts and pages | [`output`] |
//! | one game with earlier verdicts | [`JudgedGame`] |
//! | reports while no game is played | [`IdleStudy`] |
//!
//! Only [`judge`] searches; everything after it computes from the journal, so a report can be made
//! again in a moment. Expectations are per cent of a point from 0 (lost) to 100 (won), losses are
//! differences of them.

pub mod formulas;
mod idle;
pub mod judge;
mod judged_game;
mod make;
pub mod openings;
pub mod output;
pub mod statistics;
pub mod study;
pub mod suggest;
pub mod totals;
pub mod votes;

pub use idle::{IdleStudy, ReportSettings};
pub use judged_game::JudgedGame;
pub use make::{ReportProgress, ReportRequest, make_report};
