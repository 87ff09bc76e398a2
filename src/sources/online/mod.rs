//! Moves from online services: opening explorers, shared evaluations, large tablebases.
//!
//! The services are asked while the council searches, and an answer is played if it comes before
//! the council's decision. So a slow or dead service costs no time.
//!
//! | module | contents |
//! |---|---|
//! | [`OnlineSettings`] | the operator's settings |
//! | [`OnlineServices`] | the services in their order, shared by all games of a player |
//! | `service` | one service: requests, rate limits, pauses after failures |
//! | `explorer`, `cloud`, `chessdb`, `tablebase` | question and choice of a move for each: pure functions of the answer |

mod chessdb;
mod cloud;
mod explorer;
mod service;
mod services;
mod settings;
mod soundness;
mod tablebase;

pub use services::{OnlineGame, OnlineServices};
pub use settings::{
    ChessdbSettings, CloudSettings, ExplorerDatabase, ExplorerSelection, ExplorerSettings, OnlineKind, OnlineSettings,
    ServiceSettings, TablebaseServiceSettings,
};

#[cfg(test)]
mod tests;
