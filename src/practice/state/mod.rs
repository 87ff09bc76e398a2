//! The server's state: one actor that owns the accounts, the challenges and the games.
//!
//! Both protocols and the sparring players hold a [`StateHandle`]; their jobs run one after the
//! other on the actor's [`ServerState`], and the results go to all listeners. Timers are deadlines
//! to sleep until, never polled.

mod adjournment;
mod challenges;
mod games;
mod hosted;
mod rate_limits;
mod ratings;
mod reports;
mod server_state;
mod tournaments;
mod views;

use std::sync::Arc;

use tokio::{
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

pub use hosted::{ChallengeTerms, OpenChallenge};
pub use rate_limits::Gauge;
pub use reports::GameReport;
pub use server_state::{Denied, ServerState};
pub use views::{
    BoardEvent, ChallengeState, ChallengeView, GameView, ListenerKey, Pairing, PlayerView, PracticeAccountEvent,
    RefusedMove, Subscription,
};

use crate::{or_never, settings::PracticeSettings};
use domain::{ChallengeId, GameId};

type StateJob = Box<dyn FnOnce(&mut ServerState) + Send>;
/// Returns true once it is met.
type Condition = Box<dyn FnMut(&ServerState) -> bool + Send>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the practice server has stopped")]
pub struct ServerStopped;

#[derive(Clone)]
pub struct StateHandle {
    inbox: mpsc::UnboundedSender<StateJob>,
}

impl StateHandle {
    /// Starts the actor; it runs until `stop` is cancelled.
    pub fn start(settings: Arc<PracticeSettings>, stop: CancellationToken) -> Self {
        let (inbox, messages) = mpsc::unbounded_channel();
        let (departures, departed) = mpsc::unbounded_channel();
        let started = Instant::now();
        tokio::spawn(run(ServerState::new(settings, departures), messages, departed, started, stop));
        Self { inbox }
    }

    /// Does something with the server's state and returns what came of it.
    pub async fn ask<T, F>(&self, job: F) -> Result<T, ServerStopped>
    where
        T: Send + 'static,
        F: FnOnce(&mut ServerState) -> T + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job: StateJob = Box::new(move |state| {
            let _ = reply.send(job(state));
        });
        self.inbox.send(job).map_err(|_| ServerStopped)?;
        answer.await.map_err(|_| ServerStopped)
    }

    /// Waits until `condition` returns a value. It is tried now and after every event.
    pub async fn wait<T, F>(&self, mut condition: F) -> Result<T, ServerStopped>
    where
        T: Send + 'static,
        F: FnMut(&ServerState) -> Option<T> + Send + 'static,
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
        self.inbox.send(Box::new(|state| state.conditions.push(condition))).map_err(|_| ServerStopped)?;
        answer.await.map_err(|_| ServerStopped)
    }

    /// Ends the keep-alive of a challenge.
    pub fn release_challenge(&self, id: ChallengeId) {
        let _ = self.inbox.send(Box::new(move |state| state.release_challenge(&id)));
    }
}

async fn run(
    mut state: ServerState,
    mut inbox: mpsc::UnboundedReceiver<StateJob>,
    mut departures: mpsc::UnboundedReceiver<(u64, Option<GameId>)>,
    started: Instant,
    stop: CancellationToken,
) {
    loop {
        let alarm = state.next_deadline().map(|at| tokio::time::sleep_until(started + at));
        let job: StateJob = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            Some(job) = inbox.recv() => job,
            Some((listener, game)) = departures.recv() => Box::new(move |state| state.forget(listener, game.as_ref())),
            () = or_never(alarm) => Box::new(|_| {}),
        };
        // Everything due before the job is done before it.
        state.advance(started.elapsed());
        job(&mut state);
        let mut conditions = std::mem::take(&mut state.conditions);
        conditions.retain_mut(|condition| !condition(&state));
        state.conditions = conditions;
    }
}
