//! How a daemon joins a cluster and listens to it, and comes back where it was refused.

use std::time::{Duration, Instant};

use async_nats::{Client, SubscribeError, Subscriber};
use futures_util::StreamExt;
use tokio::{
    sync::mpsc::UnboundedReceiver,
    time::{MissedTickBehavior, interval, sleep},
};

use super::ClusterClient;
use crate::{
    connection::{ConnectionChange, ConnectionError, NatsConnection, connect_patiently},
    identity::ProcessIdentity,
    registry::CHECK_EVERY,
    settings::ClusterSettings,
    subjects::ANYBODY,
};
use chess::Backoff;

/// How often a daemon tells all workers which searches it still waits for.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// The pauses after which a daemon that was refused tries again: its key or the server's permissions may have been put right.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
/// See [`SHORTEST_PAUSE`].
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// What a daemon listens to.
struct Subscriptions {
    /// What workers tell this daemon.
    messages: Subscriber,
    /// The heartbeats of all workers.
    heartbeats: Subscriber,
    /// That nobody is there.
    unheard: Subscriber,
}

impl ClusterClient {
    /// Takes part for as long as this process does. What a server has against us the log says once.
    pub(super) async fn run(self, settings: ClusterSettings) {
        let name = self.0.name.clone();
        let identity = tokio::task::spawn_blocking(move || ProcessIdentity::new(&name)).await;
        let Ok(mut identity) = identity else { return };
        identity.sender.run = self.0.run;
        let (mut pauses, mut told) = (Backoff::new(SHORTEST_PAUSE, LONGEST_PAUSE), String::new());
        let mut has_come_in = false;
        loop {
            let begun = Instant::now();
            let Err(error) = self.take_part(&settings, &identity, &mut has_come_in).await else { return };
            self.known().link = None;
            self.lose(|registry| registry.nobody(), "is out of reach, since the NATS server refuses us");
            if begun.elapsed() > LONGEST_PAUSE {
                pauses.reset();
                told.clear();
                has_come_in = false;
            }
            let words = error.to_string();
            if words != told {
                let seconds = LONGEST_PAUSE.as_secs();
                tracing::error!("{words} This machine plays alone, and tries again every {seconds} s or sooner.");
                told = words;
            }
            sleep(pauses.next_delay()).await;
        }
    }

    /// Connects, and takes part until the server refuses something of it. The log tells that it has come in unless it had before.
    async fn take_part(
        &self,
        settings: &ClusterSettings,
        identity: &ProcessIdentity,
        has_come_in: &mut bool,
    ) -> Result<(), ConnectionError> {
        let NatsConnection { client, links } = connect_patiently(settings).await?;
        let subscribed = self.subscribe(&client).await;
        let subscriptions = subscribed.map_err(|error| ConnectionError::unreachable(settings, &error))?;
        if !std::mem::replace(has_come_in, true) {
            tracing::info!(nats = settings.nats, "workers are looked for");
        }
        self.known().link = Some((client, identity.clone()));
        self.poll();
        let listening = self.listen(identity, subscriptions, links);
        let refused = tokio::select! {
            refused = listening => refused,
            () = self.look() => None,
            () = self.tell_of_tables() => None,
        };
        refused.map_or(Ok(()), |reason| Err(ConnectionError::not_allowed(settings, reason)))
    }

    async fn subscribe(&self, client: &Client) -> Result<Subscriptions, SubscribeError> {
        let (name, subjects) = (&self.0.name, &self.0.subjects);
        Ok(Subscriptions {
            messages: client.subscribe(subjects.to_daemon(ANYBODY, name)).await?,
            heartbeats: client.subscribe(subjects.beat(ANYBODY)).await?,
            unheard: client.subscribe(subjects.unheard(name)).await?,
        })
    }

    /// Listens until the connection is given up, or the server refuses something of it, in the words that are returned.
    async fn listen(
        &self,
        identity: &ProcessIdentity,
        mut subscriptions: Subscriptions,
        mut links: UnboundedReceiver<ConnectionChange>,
    ) -> Option<String> {
        let (mut polls, mut checks) = (interval(POLL_EVERY), interval(CHECK_EVERY));
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                // However much there is to read, workers do not take this daemon for gone.
                _ = polls.tick() => self.poll(),
                Some(message) = subscriptions.messages.next() => self.message(identity, &message),
                Some(message) = subscriptions.heartbeats.next() => self.beat(identity, &message),
                Some(message) = subscriptions.unheard.next() => self.unheard(&message),
                Some(link) = links.recv() => match link {
                    ConnectionChange::Up => self.poll(),
                    ConnectionChange::Down => self.lose(|registry| registry.nobody(), "is out of reach without the NATS server"),
                    ConnectionChange::NotAllowed(words) => return Some(words),
                },
                // Nobody is judged silent while there is something to read.
                _ = checks.tick() => self.lose(|registry| registry.expire(Instant::now()), "has fallen silent"),
                else => return None,
            }
        }
    }
}
