//! The games of the journal studied: what each move cost, and which knowledge would have known better.
//!
//! | what | where |
//! |---|---|
//! | what a score is worth: the public formulas of Lichess | [`formulas`] |
//! | openings by code and name | [`openings`] |
//! | every position judged, by our engine or any other, and kept in the journal | [`judge`] |
//! | one game: what each move cost, phases, time, turning point | [`study`] |
//! | the council: who knew better, every criterion replayed, the second phase | [`votes`] |
//! | the criterion that would have done best, on games it was not chosen by | [`suggest`] |
//! | all games: by opponent, speed, opening; why games were lost | [`totals`] |
//! | the texts and pages people look at | [`output`] |
//! | one game again, by what was judged before | [`JudgedGame`] |
//! | the whole of it, from journal to pages | [`make_report`] |
//! | the same while nothing is played | [`IdleStudy`] |
//!
//! Searching happens in [`judge`] alone; everything after it computes on what the journal holds, so that a report can be made
//! again in a moment. Expectations are per cent of a point from 0 (lost) to 100 (won), losses are differences of them.

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
pub use make::{MadeReport, ReportError, ReportProgress, ReportRequest, make_report};
