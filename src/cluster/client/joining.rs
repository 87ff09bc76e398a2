//! Joins a cluster, receives its messages, and retries after a refusal.

use std::{
    collections::{BTreeMap, HashMap},
    time::{Duration, Instant},
};

use async_nats::{Client, Message, SubscribeError, Subscriber};
use futures_util::StreamExt;
use tokio::{
    sync::mpsc::UnboundedReceiver,
    task::{AbortHandle, JoinSet},
    time::{MissedTickBehavior, interval, sleep},
};

use super::{ClientShared, ClusterClient};
use crate::{
    MESSAGES_DROPPED, WORKERS_DISTRUSTED,
    connection::{ConnectionChange, ConnectionError, ReadWatch, connect_patiently},
    identity::{BenchResult, ProcessIdentity},
    intake::{Admission, Intake},
    registry::{CHECK_EVERY, Registry},
    settings::ClusterSettings,
    subjects::ANYBODY,
    wire::{Heartbeat, WorkerState},
};
use util::Backoff;

/// Interval at which a daemon tells all workers the searches that it still waits for.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// The pauses after which a daemon that was refused tries again: its key or the server's permissions may have been put right.
const SHORTEST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Minimum pause in the subscription to a worker whose messages come too fast; each pause is
/// longer.
const SHORTEST_MUTE: Duration = Duration::from_secs(30);
const LONGEST_MUTE: Duration = Duration::from_secs(3600);
/// Heartbeats, and their bytes, from which on new workers are ignored for a pause; each known
/// worker adds to these limits.
const NEWCOMERS: usize = 1_000;
const NEWCOMERS_BYTES: usize = 1 << 20;
/// Interval of that count, and the length of the pause.
const NEWCOMERS_EVERY: Duration = Duration::from_secs(1);
const NEWCOMERS_PAUSE: Duration = Duration::from_secs(5);

/// Readers of known workers, a task each: the messages of one worker delay no other.
#[derive(Default)]
struct Readers {
    tasks: JoinSet<Result<(), String>>,
    by_name: HashMap<String, AbortHandle>,
    /// Workers that have sent too much.
    muted: BTreeMap<String, Backoff>,
    /// Heartbeats of all workers since the last count, and their bytes.
    beats: usize,
    bytes: usize,
}

impl Readers {
    fn is_muted(&self, now: Instant, name: &str) -> bool {
        self.muted.get(name).is_some_and(|mute| mute.rest(now).is_some())
    }

    /// Listens to a worker that has sent too much no more for a while. Says for how long.
    fn mute(&mut self, now: Instant, name: &str) -> Duration {
        self.by_name.remove(name);
        if self.muted.len() >= Registry::MOST {
            self.muted.retain(|_, mute| mute.rest(now).is_some());
        }
        let mute = self.muted.entry(name.to_owned()).or_insert_with(|| Backoff::new(SHORTEST_MUTE, LONGEST_MUTE));
        mute.fail(now);
        mute.rest(now).unwrap_or_default()
    }

    /// Listens no more to those that are not there any more.
    fn keep(&mut self, is_there: impl Fn(&str) -> bool) {
        self.by_name.retain(|name, task| {
            let stays = is_there(name);
            if !stays {
                task.abort();
            }
            stays
        });
    }

    /// Counts a heartbeat of a known or unknown worker; returns true if there are too many.
    fn floods(&mut self, bytes: usize) -> bool {
        (self.beats, self.bytes) = (self.beats + 1, self.bytes + bytes);
        let known = self.by_name.len();
        self.beats > NEWCOMERS + 10 * known || self.bytes > NEWCOMERS_BYTES + (known << 16)
    }
}

impl ClusterClient {
    /// Takes part for as long as this process does. What a server has against us the log says once.
    pub(super) async fn run(self, settings: ClusterSettings) {
        let name = self.0.name.clone();
        let identity = tokio::task::spawn_blocking(move || ProcessIdentity::new(&name)).await;
        let Ok(mut identity) = identity else { return };
        self.known().registry.home_speed(BenchResult::now().speed);
        identity.sender.run = self.0.run;
        let (mut pauses, mut told) = (Backoff::new(SHORTEST_PAUSE, LONGEST_PAUSE), String::new());
        let mut has_come_in = false;
        loop {
            let begun = Instant::now();
            let Err(error) = self.take_part(&settings, &identity, &mut has_come_in).await else { return };
            self.known().link = None;
            self.lose(|registry| registry.all_lost(), "the NATS server refuses the login");
            if begun.elapsed() > LONGEST_PAUSE {
                pauses.reset();
                told.clear();
                has_come_in = false;
            }
            let words = error.to_string();
            if words != told {
                let seconds = LONGEST_PAUSE.as_secs();
                tracing::error!("{words} Playing without workers; retrying every {seconds} s or sooner.");
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
        let (client, links) = connect_patiently(settings).await?;
        let ClientShared { name, subjects, .. } = &*self.0;
        let unreachable = |error: SubscribeError| ConnectionError::unreachable(settings, &error);
        let newcomers = client.subscribe(subjects.beat(ANYBODY)).await.map_err(unreachable)?;
        let unheard = client.subscribe(subjects.unheard(name)).await.map_err(unreachable)?;
        if !std::mem::replace(has_come_in, true) {
            tracing::info!(nats = settings.nats, "connected; waiting for workers");
        }
        self.known().link = Some((client.clone(), identity.clone()));
        self.poll();
        tokio::select! {
            ended = self.listen(settings, &client, identity, newcomers, unheard, links) => ended,
            () = self.verify_claims() => Ok(()),
            () = self.tell_of_tables() => Ok(()),
        }
    }

    /// Listens until the connection is given up, or the server refuses a subscription or sends too long a message. Finds new
    /// workers by `newcomers`, the heartbeats of all workers; `unheard` has the notices that no worker receives the polls.
    async fn listen(
        &self,
        settings: &ClusterSettings,
        client: &Client,
        identity: &ProcessIdentity,
        newcomers: Subscriber,
        mut unheard: Subscriber,
        mut links: UnboundedReceiver<ConnectionChange>,
    ) -> Result<(), ConnectionError> {
        // None in a pause after a flood.
        let mut newcomers = Some(newcomers);
        let (mut polls, mut checks) = (interval(POLL_EVERY), interval(CHECK_EVERY));
        polls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut readers = Readers::default();
        let mut watch = ReadWatch::of(client);
        let mut counted = Instant::now();
        loop {
            let newcomer = async {
                match &mut newcomers {
                    Some(newcomers) => newcomers.next().await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                // However much there is to read, workers do not take this daemon for gone.
                _ = polls.tick() => self.poll(),
                _ = checks.tick() => {
                    if watch.is_too_long() {
                        return Err(ConnectionError::TooLong { server: settings.nats.clone() });
                    }
                    self.lose(|registry| registry.expire(Instant::now()), "has fallen silent");
                    readers.keep(|name| self.known().registry.knows(name));
                    let pause = if newcomers.is_some() { NEWCOMERS_EVERY } else { NEWCOMERS_PAUSE };
                    if counted.elapsed() > pause {
                        (readers.beats, readers.bytes, counted) = (0, 0, Instant::now());
                        if newcomers.is_none() {
                            newcomers = client.subscribe(self.0.subjects.beat(ANYBODY)).await.ok();
                        }
                    }
                }
                Some(link) = links.recv() => match link {
                    ConnectionChange::Up => self.poll(),
                    ConnectionChange::Down => self.lose(|registry| registry.all_lost(), "the NATS server is unreachable"),
                    ConnectionChange::NotAllowed(words) => return Err(ConnectionError::not_allowed(settings, words)),
                },
                Some(message) = unheard.next() => self.unheard(&message),
                Some(muted) = readers.tasks.join_next() => {
                    if let Ok(Err(name)) = muted {
                        self.mute(&mut readers, &name);
                    }
                }
                Some(message) = newcomer => {
                    if readers.floods(message.payload.len()) {
                        metrics::counter!(MESSAGES_DROPPED).increment(1);
                        // Those that are known are listened to as before.
                        (newcomers, counted) = (None, Instant::now());
                    } else {
                        self.may_come(client, identity, &mut readers, &message).await;
                    }
                }
                else => return Ok(()),
            }
        }
    }

    /// A heartbeat has come: one that is not known yet is listened to from now on.
    async fn may_come(&self, client: &Client, identity: &ProcessIdentity, readers: &mut Readers, message: &Message) {
        let Some(name) = self.0.subjects.sender(&message.subject) else { return };
        let now = Instant::now();
        if readers.by_name.contains_key(name)
            || readers.by_name.len() >= Registry::MOST
            || readers.is_muted(now, name)
            || Intake::default().admit(now, message.payload.len(), true) != Admission::Read
        {
            return;
        }
        let Some((from, heartbeat)) = self.read::<Heartbeat>(identity, message) else { return };
        if heartbeat.state != WorkerState::Gone {
            let (subjects, us) = (&self.0.subjects, &self.0.name);
            // Before the poll that asks it for an answer.
            let beats = client.subscribe(subjects.beat(name)).await;
            let messages = client.subscribe(subjects.to_daemon(name, us)).await;
            let (Ok(beats), Ok(messages)) = (beats, messages) else { return };
            let reading = self.clone().hear(identity.clone(), name.to_owned(), beats, messages);
            readers.by_name.insert(name.to_owned(), readers.tasks.spawn(reading));
        }
        self.heartbeat(&from, heartbeat);
    }

    /// Reads what one worker sends, until it is too much: then its name is returned.
    async fn hear(
        self,
        identity: ProcessIdentity,
        name: String,
        mut beats: Subscriber,
        mut messages: Subscriber,
    ) -> Result<(), String> {
        let mut intake = Intake::default();
        loop {
            let (message, is_heartbeat) = tokio::select! {
                Some(message) = messages.next() => (message, false),
                Some(message) = beats.next() => (message, true),
                else => return Ok(()),
            };
            match intake.admit(Instant::now(), message.payload.len(), is_heartbeat) {
                Admission::Read if is_heartbeat => self.beat(&identity, &message),
                Admission::Read => self.message(&identity, &message),
                Admission::Drop => metrics::counter!(MESSAGES_DROPPED).increment(1),
                Admission::Mute => return Err(name),
            }
        }
    }

    fn mute(&self, readers: &mut Readers, name: &str) {
        let seconds = readers.mute(Instant::now(), name).as_secs();
        metrics::counter!(WORKERS_DISTRUSTED).increment(1);
        tracing::warn!(worker = name, "worker muted for {seconds} s: it sends more messages than any honest worker");
        self.lose(|registry| registry.remove_named(name), "sends too much");
    }
}
