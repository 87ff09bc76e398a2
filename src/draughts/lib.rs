//! Italian draughts, played by the council.
//!
//! | module | contents |
//! |---|---|
//! | [`board`], [`game`], [`evaluation`], [`endgame`], [`search`], [`exchange`] | rules and searches: the package `draughts_core` |
//! | [`player`] | electors and players for the council, records with votes, games over DamExchange |
//! | [`page`] | the tab of the page |
//! | [`command`] | `concilio draughts` and the demo |
//! | [`measure`] | `concilio-lab draughts`: matches, positions, fits |
//!
//! The program registers command and page, the lab the measurements; no other package knows of draughts.

pub mod command;
pub mod measure;
pub mod page;
pub mod player;

pub use draughts_core::{board, endgame, evaluation, exchange, game, search};
