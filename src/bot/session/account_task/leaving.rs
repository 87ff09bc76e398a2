//! Leaves games: those that no engine here can play, and all of them before an immediate stop.

use std::time::Duration;

use domain::{Action, ChatRoom, GameId, Variant};
use futures_util::future::join_all;
use tokio::time::{sleep, timeout};

use super::{LAST_REQUESTS, Manager, remember_over};
use crate::session::ShutdownGames;

/// Attempts to leave an unplayable game, if the server does not answer, and the pause between them.
const LEAVE_TIMES: u32 = 10;
const LEAVE_AGAIN: Duration = Duration::from_secs(2);

impl Manager {
    /// Leaves a game with rules of no engine at once: the fallback would only lose it.
    pub(super) fn leave_politely(&mut self, id: GameId, variant: Variant) {
        remember_over(&mut self.over, id.clone());
        let sorry = format!("Sorry, none of my engines plays {variant}.");
        self.context.perform(&id, Action::Chat(id.clone(), ChatRoom::Player, sorry));
        self.leave_unplayable(id, &format!("no engine here plays {variant}"));
    }

    /// Aborts or resigns a game with unknown rules: otherwise it would be lost on time.
    pub(super) fn leave_unplayable(&mut self, id: GameId, why: &str) {
        self.context.fault(Some(&id), format!("the game is aborted or resigned: {why}"));
        self.request(|context, _| async move {
            for _ in 0..LEAVE_TIMES {
                if context.leave(&id).await.is_ok() {
                    return;
                }
                sleep(LEAVE_AGAIN).await;
            }
            context.fault(Some(&id), "cannot end the game".to_owned());
        });
    }

    /// Leaves the games before an immediate stop, or resigns them if the settings demand it.
    pub(super) async fn leave_games(&mut self) {
        let games: Vec<GameId> = self.games.drain().map(|(id, _)| id).collect();
        if self.context.runtime.policy.games_at_shutdown != ShutdownGames::Resign {
            return;
        }
        let leaving = games.iter().map(async |id| {
            if let Err(error) = self.context.leave(id).await {
                self.context.fault(Some(id), format!("cannot end the game: {error}"));
            }
        });
        if timeout(LAST_REQUESTS, join_all(leaving)).await.is_err() {
            tracing::warn!(server = %self.context.name, "stopped before all games were ended");
        }
    }
}
