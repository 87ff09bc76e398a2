//! FICS (freechess.org) and its relatives: one telnet connection, on which a server talks to people in sentences.
//!
//! ```text
//! socket ─▶ codec (telnet, prompts, timeseal) ─▶ message (what a line means) ─┬▶ login, setup: until we are in
//!                                                                             └▶ session: games, challenges ─▶ ServerEvent
//! FicsServer::perform ─▶ session ─▶ commands ─▶ socket
//! ```
//! Everything right of the socket is a state machine without sockets or clocks of its own; `actor` is the task that feeds
//! them, and reconnects. The server plays one game with us at a time, forgets nothing of it while we are away, and lets it be
//! resumed when both players are there; so a lost connection costs the game a pause, not its result.

mod actor;
mod check;
pub mod codec;
mod link;
pub mod login;
pub mod message;
#[cfg(test)]
mod recorded;
mod session;
mod settings;
mod setup;

use std::time::Instant;

use async_trait::async_trait;
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

pub use check::{FicsReport, account_check};
pub use settings::{FicsSettings, PASSWORD_CREDENTIAL, PASSWORD_VARIABLE, Password, Timeseal};

use self::{
    actor::{Actor, FicsJob},
    session::{FicsSession, RequestAnswer, RequestResult},
};
use domain::{Account, Action, ActionError, Done, GameInfo, GameState, KnownGame, Offers, ServerEvent};

use super::Server;
use domain::GameId;

/// Requests and events wait for their reader in queues of this length, and no longer ones (see [`actor`]).
const QUEUE: usize = 1024;

/// A FICS account, to be acted upon. Cheap to clone.
#[derive(Clone, Debug)]
pub struct FicsServer {
    requests: mpsc::Sender<FicsJob>,
}

/// Connects an account (or, without a password, a guest), and keeps it connected until `cancel`;
/// then the events end.
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
    tokio::spawn(Actor::new(settings, password, inbox, sender, cancel).run());
    (FicsServer { requests }, receiver)
}

/// Text for people, as a command may hold it: some servers begin another command at a semicolon.
fn for_people(text: &str) -> String {
    text.replace(';', ",")
}

impl FicsServer {
    /// Asks the session something that it answers under the number of the question.
    async fn ask(&self, question: impl FnOnce(&mut FicsSession, u64, Instant) + Send + 'static) -> RequestResult {
        let stopped = || ActionError::Unavailable("the FICS connection has been stopped".to_owned());
        let (reply, answer) = oneshot::channel();
        let job: FicsJob = Box::new(|actor, now| {
            let ticket = actor.ticket(reply);
            question(&mut actor.session, ticket, now);
        });
        self.requests.send(job).await.map_err(|_| stopped())?;
        answer.await.map_err(|_| stopped())?
    }

    async fn tell(&self, job: impl FnOnce(&mut FicsSession, Instant) + Send + 'static) {
        let _ = self.requests.send(Box::new(|actor, now| job(&mut actor.session, now))).await;
    }
}

#[async_trait]
impl Server for FicsServer {
    async fn perform(&self, action: Action) -> Result<Done, ActionError> {
        match self.ask(|session, ticket, now| session.act(action, ticket, now)).await? {
            RequestAnswer::Done(done) => Ok(done),
            RequestAnswer::There(_) | RequestAnswer::Found(..) => Ok(Done::Taken),
        }
    }

    async fn remember(&self, games: &[KnownGame]) {
        let games = games.to_vec();
        self.tell(|session, _| session.remember(games)).await;
    }

    async fn recall(&self, learned: &str) {
        let learned = learned.to_owned();
        self.tell(move |session, _| session.recall(&learned)).await;
    }

    async fn resync(&self, game: &GameId) {
        let game = game.clone();
        self.tell(move |session, now| session.resync(&game, now)).await;
    }

    fn repeats_moves(&self) -> bool {
        true
    }

    /// If not `open`, keeps challenges away, ends our seeks, and resumes no stored game but one that was interrupted.
    async fn open_to_new_games(&self, open: bool) {
        self.tell(move |session, now| session.open_to_new_games(open, now)).await;
    }

    async fn seek_games(&self, wanted: bool) {
        self.tell(move |session, now| session.seek_games(wanted, now)).await;
    }

    /// Returns no bots: computers must not challenge people unasked here, and seeks find computers.
    async fn online_bots(&self) -> Result<Vec<Account>, ActionError> {
        Ok(Vec::new())
    }

    async fn players_available(&self, ids: &[String]) -> Result<Vec<bool>, ActionError> {
        let mut available = Vec::with_capacity(ids.len());
        for id in ids {
            let id = id.clone();
            let answer = self.ask(move |session, ticket, now| session.look_for(&id, ticket, now)).await?;
            available.push(answer == RequestAnswer::There(true));
        }
        Ok(available)
    }

    async fn finished_game(
        &self,
        game: &GameId,
        known: Option<&KnownGame>,
    ) -> Result<(GameInfo, GameState), ActionError> {
        let known = known.ok_or_else(|| ActionError::NotFound(format!("nothing was seen of game {game}")))?;
        let wanted = known.clone();
        match self.ask(|session, ticket, now| session.look_up(wanted, ticket, now)).await? {
            RequestAnswer::Found(moves, status, winner) => {
                let (clocks, received) = (None, Instant::now());
                let [draw_offers, takeback_offers] = [Offers::default(); 2];
                let state = GameState { moves, clocks, status, winner, draw_offers, takeback_offers, received };
                Ok((known.info.clone(), state))
            }
            RequestAnswer::Done(_) | RequestAnswer::There(_) => {
                Err(ActionError::Unavailable("an answer to another question".to_owned()))
            }
        }
    }
}
