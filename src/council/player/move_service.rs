//! Who is asked for a move beside the search.

use std::{fmt, future::Future, pin::Pin, time::Duration};

use tokio::sync::watch;

use super::timing::Agreement;
use chess::{Decision, Line};

/// What a service knows of a position, when it has answered; `None` if it knows nothing.
pub type MoveAnswer<'a> = Pin<Box<dyn Future<Output = Option<Decision>> + Send + 'a>>;

/// Somebody elsewhere who may know a move. It is asked while the council searches; its move is played if it comes before the
/// council has decided, and whoever is late is not waited for.
pub trait MoveService: fmt::Debug + Send + Sync {
    /// The move in the last position of a line, with so much `left` on our clock (`None` without one). It must be legal.
    fn ask<'a>(&'a mut self, line: &'a Line, left: Option<Duration>) -> MoveAnswer<'a>;
}

/// What a service knows of the position that is on the board, asked once the clock runs for it. Never ends where nobody is asked.
pub(super) async fn known_elsewhere(
    service: Option<&mut (dyn MoveService + 'static)>,
    mut agreed: watch::Receiver<Agreement>,
) -> Option<Decision> {
    let service = service?;
    let agreement = agreed.wait_for(Agreement::is_for_a_game).await.ok()?.clone();
    service.ask(&agreement.line, agreement.clock_left()).await
}
