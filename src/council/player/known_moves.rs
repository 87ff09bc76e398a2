//! Moves known without a search: interfaces for books and tablebases, asked before it, and for services, asked beside it.

use std::{fmt, future::Future, pin::Pin, time::Duration};

use tokio::sync::watch;

use super::timing::Agreement;
use domain::{Decision, Line, UciMove};

/// The value of a game that a tablebase knows to be won, in centipawns. Less than any mate.
pub const TABLEBASE_WIN: i32 = 19_000;

/// Books and tablebases, asked before the search.
pub trait KnownMoves: fmt::Debug + Send + Sync {
    /// Looks up the last position of `line`. May read files.
    fn look_up(&self, line: &Line) -> Option<Known>;
}

#[derive(Debug)]
pub enum Known {
    Decided(Box<Decision>),
    /// The moves among which one is to be chosen: at least two.
    Among(Vec<UciMove>),
}

/// The answer of a service about a position; `None` if it does not know it.
pub type MoveAnswer<'a> = Pin<Box<dyn Future<Output = Option<Decision>> + Send + 'a>>;

/// A service that may know a move. It is asked while the council searches; its move is played if it
/// comes before the council's decision, and a late answer is dropped.
pub trait MoveService: fmt::Debug + Send + Sync {
    /// Returns the move in the last position of a line, with `left` on the bot's clock (`None`
    /// without one). It must be legal.
    fn ask<'a>(&'a mut self, line: &'a Line, left: Option<Duration>) -> MoveAnswer<'a>;
}

/// Asks a service about the current position, once the clock runs for it. Never ends without a
/// service.
pub(super) async fn known_elsewhere(
    service: Option<&mut (dyn MoveService + 'static)>,
    mut agreed: watch::Receiver<Agreement>,
) -> Option<Decision> {
    let service = service?;
    let agreement = agreed.wait_for(Agreement::is_for_a_game).await.ok()?.clone();
    service.ask(&agreement.line, agreement.clock_left()).await
}
