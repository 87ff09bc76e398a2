//! The hub: one actor that owns the accounts, the challenges and the games.
//!
//! Faces and sparring players hold a [`Hub`], a cheap handle; what they ask is done one after the other on the actor's
//! [`State`], and what comes of it is told to everybody who listens. Timers are deadlines, looked up and slept until, never polled.

mod challenges;
mod events;
mod limits;
mod state;
mod stops;
mod tables;

use std::{sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

pub use challenges::ChallengeTerms;
pub use events::{
    AccountEvent, BoardEvent, ChallengeState, ChallengeView, GameView, ListenerKey, Pairing, Seat, Subscription,
};
pub use limits::{Gauge, Limits};
pub use state::{Denied, State};
pub use tables::{GameReport, RefusedMove};

use super::Settings;
use chess::{ChallengeId, GameId};

type Job = Box<dyn FnOnce(&mut State) + Send>;
type Condition = Box<dyn FnMut(&State) -> bool + Send>;

/// The hub has stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the practice server has stopped")]
pub struct Stopped;

enum Message {
    Job(Job),
    Condition(Condition),
}

/// A handle on the hub.
#[derive(Clone)]
pub struct Hub {
    inbox: mpsc::UnboundedSender<Message>,
    started: Instant,
}

impl Hub {
    /// Starts the actor; it runs until `stop` is cancelled.
    pub fn start(settings: Arc<Settings>, stop: CancellationToken) -> Self {
        let (inbox, messages) = mpsc::unbounded_channel();
        let hub = Self { inbox, started: Instant::now() };
        let state = State::new(settings, hub.clone());
        tokio::spawn(run(state, messages, hub.started, stop));
        hub
    }

    /// Does something with the hub's state and returns what came of it.
    ///
    /// # Errors
    /// [`Stopped`].
    pub async fn ask<T, F>(&self, job: F) -> Result<T, Stopped>
    where
        T: Send + 'static,
        F: FnOnce(&mut State) -> T + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: Job = Box::new(move |state| {
            let _ = reply.send(job(state));
        });
        self.inbox.send(Message::Job(job)).map_err(|_| Stopped)?;
        answer.await.map_err(|_| Stopped)
    }

    /// Waits until `condition` finds what it looks for. It is asked now and after everything that happens.
    ///
    /// # Errors
    /// [`Stopped`].
    pub async fn wait<T, F>(&self, mut condition: F) -> Result<T, Stopped>
    where
        T: Send + 'static,
        F: FnMut(&State) -> Option<T> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let mut reply = Some(reply);
        let condition: Condition = Box::new(move |state| {
            if reply.as_ref().is_none_or(oneshot::Sender::is_closed) {
                return true;
            }
            let Some(found) = condition(state) else { return false };
            if let Some(reply) = reply.take() {
                let _ = reply.send(found);
            }
            true
        });
        self.inbox.send(Message::Condition(condition)).map_err(|_| Stopped)?;
        answer.await.map_err(|_| Stopped)
    }

    /// Nobody keeps a challenge alive any more.
    pub fn release_challenge(&self, id: ChallengeId) {
        let _ = self.inbox.send(Message::Job(Box::new(move |state| state.release_challenge(&id))));
    }

    /// A listener is gone.
    fn forget(&self, listener: u64, board: Option<GameId>) {
        let _ = self.inbox.send(Message::Job(Box::new(move |state| state.forget(listener, board.as_ref()))));
    }
}

async fn run(mut state: State, mut inbox: mpsc::UnboundedReceiver<Message>, started: Instant, stop: CancellationToken) {
    let mut conditions: Vec<Condition> = Vec::new();
    loop {
        let deadline = state.next_deadline();
        let alarm = async {
            match deadline {
                Some(at) => tokio::time::sleep_until(started + at).await,
                None => std::future::pending().await,
            }
        };
        let message = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            message = inbox.recv() => message,
            () = alarm => None,
        };
        // Whatever was due before the message came is done before it.
        state.advance(started.elapsed());
        match message {
            Some(Message::Job(job)) => job(&mut state),
            Some(Message::Condition(condition)) => conditions.push(condition),
            None => {}
        }
        conditions.retain_mut(|condition| !condition(&state));
    }
}

/// The time since the server started, told by the actor's loop.
type Now = Duration;
