//! Moves that services elsewhere know: explorers of openings, evaluations that others have computed, tablebases too large for a
//! disk. They are asked while the council searches, and a move of theirs is played if it comes before the council has decided.
//! So a service that is slow, down or gone costs no time.
//!
//! | room | its one job |
//! |---|---|
//! | [`OnlineSettings`] | what the operator wants asked, and how |
//! | [`OnlineServices`] | who may be asked now, and in which order; one for all games of a player |
//! | `service` | one service: requests, their limits, pauses after failures |
//! | `explorer`, `cloud`, `chessdb`, `tablebase` | what is asked there, and which move the answer means: pure functions of the answer |

mod chessdb;
mod cloud;
mod explorer;
mod service;
mod services;
mod settings;
mod tablebase;

pub use services::{OnlineError, OnlineGame, OnlineServices};
pub use settings::{
    ChessdbSettings, CloudSettings, ExplorerDatabase, ExplorerSelection, ExplorerSettings, OnlineKind, OnlineSettings,
    ServiceSettings, TablebaseServiceSettings,
};

#[cfg(test)]
mod tests;
