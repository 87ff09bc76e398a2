//! Who lends what, asked once: for `concilio cluster status`.

use std::time::{Duration, Instant};

use async_nats::StatusCode;
use futures_util::StreamExt;
use tokio::time::timeout_at;

use super::{
    connection::{self, ConnectionError, NatsConnection, connect},
    identity::{ProcessIdentity, Sender},
    settings::ClusterSettings,
    subjects::Subjects,
    wire::{self, DecodeError, Heartbeat, Poll},
};

/// How long answers are waited for.
const PATIENCE: Duration = Duration::from_millis(600);

/// What a worker answered to a poll.
#[derive(Clone, Debug)]
pub struct WorkerAnswer {
    /// The worker that answers.
    pub worker: Sender,
    /// The state that it tells.
    pub heartbeat: Heartbeat,
    /// From the poll to its answer.
    pub lag: Duration,
}

/// What all workers answered.
#[derive(Clone, Debug, Default)]
pub struct Survey {
    /// Of workers that we can use, by name.
    pub workers: Vec<WorkerAnswer>,
    /// Of workers of other versions.
    pub refused: Vec<DecodeError>,
}

/// Asks all workers who is there.
///
/// # Errors
/// [`ConnectionError`] if the server cannot be asked.
pub async fn survey(settings: &ClusterSettings) -> Result<Survey, ConnectionError> {
    let identity = ProcessIdentity::new(&settings.name());
    let subjects = Subjects::below(&settings.prefix);
    let NatsConnection { client, .. } = connect(settings).await?;
    let inbox = subjects.answer(identity.sender.run);
    let mut answers =
        client.subscribe(inbox.clone()).await.map_err(|error| ConnectionError::unreachable(settings, &error))?;
    client.flush().await.map_err(|error| ConnectionError::unreachable(settings, &error))?;
    let asked = Instant::now();
    let poll = Poll { number: 1, searches: Vec::new() };
    connection::ask(&client, subjects.call(), inbox, wire::encode(&identity, &poll));
    let mut survey = Survey::default();
    while let Ok(Some(message)) = timeout_at((asked + PATIENCE).into(), answers.next()).await {
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            break;
        }
        match wire::decode::<Heartbeat>(&message.payload, &identity.version) {
            Ok((worker, heartbeat)) => survey.workers.push(WorkerAnswer { worker, heartbeat, lag: asked.elapsed() }),
            Err(error @ DecodeError::Version { .. }) => survey.refused.push(error),
            Err(DecodeError::Malformed) => {}
        }
    }
    survey.workers.sort_by(|a, b| a.worker.name.cmp(&b.worker.name));
    Ok(survey)
}
