//! What all games of one server account share, and what they do with it alike.

use std::{
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use tokio_util::task::TaskTracker;

use super::{
    ChoosePlayer,
    event::{BotEvent, EventBus},
};
use crate::{
    journal::{GameKey, Journal},
    policy::ChatSettings,
};
use chess::{Action, ActionError, GameId, ServerName};
use council::{player::SharedLag, pool::Pool};
use server::Server;

/// What all games of one server account share.
#[derive(Clone)]
pub(super) struct AccountContext {
    pub name: ServerName,
    pub server: Arc<dyn Server>,
    pub pool: Pool,
    pub lag: SharedLag,
    pub event_bus: EventBus,
    pub journal: Journal,
    pub player: ChoosePlayer,
    pub chat: ChatSettings,
    /// Requests on their way, to be waited for when we stop.
    pub requests: TaskTracker,
}

impl AccountContext {
    /// The journal's name for a game.
    pub(super) fn key(&self, game: &GameId) -> GameKey {
        GameKey::new(&self.name, game)
    }

    /// Tells the log, the journal and whoever watches that something went wrong and was coped with.
    pub(super) fn fault(&self, game: Option<&GameId>, what: String) {
        tracing::warn!(server = %self.name, game = game.map(GameId::as_str), "{what}");
        self.journal.fault(&self.name, game, &what);
        self.event_bus.tell(|| BotEvent::Fault(game.cloned(), what));
    }

    /// Asks the server for something whose effect its events will tell.
    pub(super) fn perform(&self, game: &GameId, action: Action) {
        let (context, game) = (self.clone(), game.clone());
        self.requests.spawn(async move {
            if let Err(error) = context.server.perform(action.clone()).await {
                tracing::info!(%game, ?action, %error, "not taken");
                context.journal.fault(&context.name, Some(&game), &format!("{action:?}: {error}"));
            }
        });
    }

    /// Sends a move and measures how long the server takes to acknowledge one.
    pub(super) async fn send_move(&self, action: Action) -> Result<(), ActionError> {
        let sent = Instant::now();
        self.server.perform(action).await?;
        self.lag.lock().unwrap_or_else(PoisonError::into_inner).record(sent.elapsed());
        Ok(())
    }

    /// What is held back for the way of a move.
    pub(super) fn typical_lag(&self) -> Duration {
        self.lag.lock().unwrap_or_else(PoisonError::into_inner).typical()
    }
}
