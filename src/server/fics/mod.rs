//! FICS (freechess.org) and its relatives: one telnet connection, on which a server talks to people in sentences.
//!
//! ```text
//! socket ─▶ codec (telnet, prompts, timeseal) ─▶ message (what a line means) ─┬▶ login, setup: until we are in
//!                                                                             └▶ player: games, challenges ─▶ ServerEvent
//! FicsServer::perform ─▶ player ─▶ commands ─▶ socket
//! ```
//! Everything right of the socket is a state machine without sockets or clocks of its own; `actor` is the task that feeds
//! them, and reconnects. The server plays one game with us at a time, forgets nothing of it while we are away, and lets it be
//! resumed when both players are there; so a lost connection costs the game a pause, not its result.

mod actor;
pub mod codec;
mod link;
pub mod login;
pub mod message;
mod player;
#[cfg(test)]
mod recorded;
mod settings;
mod setup;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

pub use settings::{FicsSettings, PASSWORD_CREDENTIAL, PASSWORD_VARIABLE, Password, Timeseal};

use self::{
    actor::{Actor, Request},
    login::Credentials,
    player::Answer,
};
use chess::{Account, Action, ActionError, Done, ServerEvent};

use super::Server;
use chess::GameId;

/// Events and requests wait for their reader in queues of this length.
const QUEUE: usize = 1024;

/// A FICS account, to be acted upon. Cheap to clone.
#[derive(Clone, Debug)]
pub struct FicsServer {
    requests: mpsc::Sender<Request>,
}

/// Connects an account (or, without a password, a guest) and keeps it connected until `cancel`; then the events end.
///
/// The first event is [`ServerEvent::Connected`], or [`ServerEvent::Rejected`], after which no more come. Must be called
/// within a tokio runtime.
pub fn connect(
    settings: FicsSettings,
    password: Option<Password>,
    cancel: CancellationToken,
) -> (FicsServer, mpsc::Receiver<ServerEvent>) {
    let (requests, inbox) = mpsc::channel(QUEUE);
    let (sender, receiver) = mpsc::channel(QUEUE);
    let (events, mut told) = mpsc::unbounded_channel();
    let credentials = Credentials { name: settings.username.clone(), password };
    tokio::spawn(Actor::new(settings, credentials, inbox, events, cancel).run());
    // The actor must never wait for a slow reader: its pongs would come late.
    tokio::spawn(async move {
        while let Some(event) = told.recv().await {
            if sender.send(event).await.is_err() {
                return;
            }
        }
    });
    (FicsServer { requests }, receiver)
}

impl FicsServer {
    /// Takes challenges, seeks and resumes games (as from the start), or no longer does: before a shutdown.
    pub async fn set_open(&self, open: bool) {
        let _ = self.requests.send(Request::SetOpen(open)).await;
    }

    async fn ask<T>(&self, request: impl FnOnce(oneshot::Sender<T>) -> Request) -> Result<T, ActionError> {
        let stopped = || ActionError::Unavailable("the FICS connection has been stopped".to_owned());
        let (reply, answer) = oneshot::channel();
        self.requests.send(request(reply)).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())
    }
}

#[async_trait]
impl Server for FicsServer {
    async fn perform(&self, action: Action) -> Result<Done, ActionError> {
        match self.ask(|reply| Request::Act(action, reply)).await?? {
            Answer::Done(done) => Ok(done),
            Answer::There(_) => Ok(Done::Taken),
        }
    }

    async fn resync(&self, game: &GameId) {
        let _ = self.requests.send(Request::Resync(game.clone())).await;
    }

    /// Nobody: computers must not challenge people unasked here, and seeks find computers as well.
    async fn online_bots(&self) -> Result<Vec<Account>, ActionError> {
        Ok(Vec::new())
    }

    async fn players_available(&self, ids: &[String]) -> Result<Vec<bool>, ActionError> {
        let mut available = Vec::with_capacity(ids.len());
        for id in ids {
            let answer = self.ask(|reply| Request::LookFor(id.clone(), reply)).await??;
            available.push(answer == Answer::There(true));
        }
        Ok(available)
    }
}
