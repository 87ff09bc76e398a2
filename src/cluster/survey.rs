//! Lists the workers once, for `concilio cluster status`.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use async_nats::{Client, Message, StatusCode, Subscriber};
use futures_util::StreamExt;
use serde::de::DeserializeOwned;
use tokio::time::timeout_at;

use super::{
    connection::{self, ConnectionChange, ConnectionError, connect},
    identity::{ProcessIdentity, Sender},
    measured::{TOO_FAR, shortest_move},
    settings::ClusterSettings,
    subjects::{ANYBODY, Subjects},
    wire::{self, Addressed, DecodeError, Heartbeat, Poll, WorkerMessage},
};

/// Time for heartbeats; each worker sends two in it.
const LISTENED: Duration = Duration::from_millis(600);
/// Timeout for the answers of those workers.
const PATIENCE: Duration = TOO_FAR;

#[derive(Clone, Debug)]
pub struct WorkerAnswer {
    pub worker: Sender,
    pub heartbeat: Heartbeat,
    pub lag: Duration,
}

impl WorkerAnswer {
    /// Returns the shortest move with searches on this worker; zero: it searches for all moves.
    pub fn shortest_move(&self) -> Duration {
        shortest_move(self.lag)
    }
}

#[derive(Clone, Debug, Default)]
pub struct Survey {
    pub workers: Vec<WorkerAnswer>,
    pub refused: Vec<DecodeError>,
    /// Workers with heartbeats and without an answer in five seconds, or without a subscription to
    /// the polls: they are too far away, or do not serve this daemon.
    pub silent: BTreeSet<String>,
}

/// Asks all workers for an answer.
///
/// # Errors
/// [`ConnectionError`] without a connection, or if the server refuses a subscription.
pub async fn survey(settings: &ClusterSettings) -> Result<Survey, ConnectionError> {
    let identity = ProcessIdentity::new(&settings.name());
    let subjects = Subjects::below(&settings.prefix);
    let name = &identity.sender.name;
    let (client, mut links) = connect(settings).await?;
    let answers = subscribe(settings, &client, subjects.to_daemon(ANYBODY, name)).await?;
    let beats = subscribe(settings, &client, subjects.beat(ANYBODY)).await?;
    let unheard = subscribe(settings, &client, subjects.unheard(name)).await?;
    client.flush().await.map_err(|error| ConnectionError::unreachable(settings, &error))?;
    let asked = Instant::now();
    let poll = Poll { number: 1, searches: Vec::new() };
    connection::ask(&client, subjects.call(name), subjects.unheard(name), wire::encode(&identity, &poll));
    let mut asking = Asking { identity, subjects, asked, is_unheard: false, survey: Survey::default() };
    asking.listen(answers, beats, unheard).await;
    while let Ok(change) = links.try_recv() {
        if let ConnectionChange::NotAllowed(reason) = change {
            return Err(ConnectionError::not_allowed(settings, reason));
        }
    }
    let mut survey = asking.survey;
    survey.workers.sort_by(|a, b| a.worker.name.cmp(&b.worker.name));
    Ok(survey)
}

async fn subscribe(
    settings: &ClusterSettings,
    client: &Client,
    subject: String,
) -> Result<Subscriber, ConnectionError> {
    client.subscribe(subject).await.map_err(|error| ConnectionError::unreachable(settings, &error))
}

struct Asking {
    identity: ProcessIdentity,
    subjects: Subjects,
    asked: Instant,
    /// True if the server has said that the poll has no receivers.
    is_unheard: bool,
    survey: Survey,
}

impl Asking {
    /// Receives answers until all known workers have answered, or none can.
    async fn listen(&mut self, mut answers: Subscriber, mut beats: Subscriber, mut unheard: Subscriber) {
        let mut until = self.asked + LISTENED;
        loop {
            let next = async {
                tokio::select! {
                    biased;
                    Some(message) = answers.next() => self.answer(&message),
                    Some(message) = beats.next() => self.beat(&message),
                    // There may still be workers of other daemons.
                    Some(message) = unheard.next() => self.is_unheard |= message.status == Some(StatusCode::NO_RESPONDERS),
                    else => return false,
                }
                true
            };
            match timeout_at(until.into(), next).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(_) if self.is_unheard || until == self.asked + PATIENCE => return,
                Err(_) => until = self.asked + PATIENCE,
            }
            if self.asked.elapsed() >= LISTENED && (self.is_unheard || self.survey.silent.is_empty()) {
                return;
            }
        }
    }

    fn answer(&mut self, message: &Message) {
        let Some((worker, Addressed { to, body })) = self.read(message) else { return };
        if let WorkerMessage::Answer(heartbeat) = body
            && to == self.identity.sender.run
        {
            self.survey.silent.remove(&worker.name);
            self.survey.workers.push(WorkerAnswer { worker, heartbeat, lag: self.asked.elapsed() });
        }
    }

    fn beat(&mut self, message: &Message) {
        let Some((worker, _)) = self.read::<Heartbeat>(message) else { return };
        if self.survey.workers.iter().all(|answer| answer.worker.name != worker.name) {
            self.survey.silent.insert(worker.name);
        }
    }

    /// Reads a message. A worker of another version is listed, once.
    fn read<B: DeserializeOwned>(&mut self, message: &Message) -> Option<(Sender, B)> {
        let from = self.subjects.sender(&message.subject)?;
        let error = match wire::decode(from, &message.payload, &self.identity.version) {
            Ok(read) => return Some(read),
            Err(error) => error,
        };
        if matches!(error, DecodeError::Version { .. }) {
            self.survey.silent.remove(from);
            if !self.survey.refused.contains(&error) {
                self.survey.refused.push(error);
            }
        }
        None
    }
}
