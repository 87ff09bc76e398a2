//! The daemon's side: it knows who lends, sends searches out, and passes on what comes back.
//!
//! What it knows is behind one lock that is held for microseconds; a task of its own talks to the server. Where there is no
//! server, no worker or no room, searches are simply not taken, and the pool does them itself.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use async_nats::{Client, Message, StatusCode, Subscriber};
use futures_util::StreamExt;
use serde::Serialize;
use tokio::{
    sync::mpsc::UnboundedReceiver,
    time::{MissedTickBehavior, interval},
};
use tokio_util::sync::CancellationToken;

use super::{
    connection::{self, Connection, ConnectionError, Link, connect_patiently},
    errands::{Errand, Errands, Outcome},
    identity::{Identity, RunId},
    lodging::Room,
    placement,
    registry::{Change, Registry},
    settings::ClusterSettings,
    subjects::Subjects,
    wire::{self, Beat, Call, Elector, Order, SearchOrder, WireError, Word, WorkerState},
};
use council::pool::{ElectorSpec, Elsewhere, Home, Job, LentCores, Lodging, Report};
use engine::SharedTable;

/// How often a daemon tells all workers what it still waits for.
const CALL_EVERY: Duration = Duration::from_secs(1);
/// How often it looks for workers that have fallen silent.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// The machines that lend their cores to this process. Cheap to clone; clones are the same.
#[derive(Clone, Debug)]
pub struct Cluster(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    run: RunId,
    subjects: Subjects,
    known: Mutex<Known>,
}

/// What is known now.
#[derive(Debug, Default)]
struct Known {
    /// The connection, and as whom we speak over it; `None` before the first one.
    link: Option<(Client, Identity)>,
    registry: Registry,
    errands: Errands,
    /// The newest call and when it was sent.
    call: Option<(u64, Instant)>,
    seats: u32,
}

/// A search that is to be sent out.
pub(super) struct Dispatch<'a> {
    pub job: &'a Job,
    pub reports: &'a tokio::sync::mpsc::UnboundedSender<Report>,
    pub home: Home,
    pub seat: u32,
    pub elector: &'a Elector,
    pub threads: usize,
    /// Who had it before.
    pub before: Option<RunId>,
}

impl Cluster {
    /// Joins the cluster of the settings, from a task that ends with `stop`. There may be nobody yet; whoever comes is used.
    pub fn join(settings: ClusterSettings, stop: CancellationToken) -> Self {
        let subjects = Subjects::below(&settings.prefix);
        let cluster = Self(Arc::new(Shared { run: RunId::draw(), subjects, known: Mutex::default() }));
        let attending = cluster.clone();
        tokio::spawn(async move {
            let attended = stop.run_until_cancelled(attending.attend(settings)).await;
            if let Some(Err(error)) = attended {
                tracing::error!("{error} This machine plays alone.");
            }
        });
        cluster
    }

    /// The workers that are there, by name, with their cores.
    pub fn workers(&self) -> Vec<(String, usize)> {
        let known = self.known();
        known.registry.iter().map(|(_, worker)| (worker.name.to_string(), usize::from(worker.beat.cores))).collect()
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn attend(self, settings: ClusterSettings) -> Result<(), ConnectionError> {
        let name = settings.name();
        let identity = tokio::task::spawn_blocking(move || Identity::new(&name)).await;
        let Ok(mut identity) = identity else { return Ok(()) };
        identity.sender.run = self.0.run;
        let Connection { client, links } = connect_patiently(&settings).await?;
        let subscriptions = self.subscribe(&client).await;
        let Some((words, beats, answers)) = subscriptions else { return Ok(()) };
        tracing::info!(nats = settings.nats, "workers are looked for");
        self.known().link = Some((client, identity.clone()));
        self.call();
        self.listen(&identity, words, beats, answers, links).await;
        Ok(())
    }

    /// Words about our searches, the beats of all workers, and answers to our calls.
    async fn subscribe(&self, client: &Client) -> Option<(Subscriber, Subscriber, Subscriber)> {
        let Shared { run, subjects, .. } = &*self.0;
        let words = client.subscribe(subjects.daemon(*run)).await.ok()?;
        let beats = client.subscribe(subjects.beat()).await.ok()?;
        let answers = client.subscribe(subjects.answer(*run)).await.ok()?;
        Some((words, beats, answers))
    }

    async fn listen(
        &self,
        identity: &Identity,
        mut words: Subscriber,
        mut beats: Subscriber,
        mut answers: Subscriber,
        mut links: UnboundedReceiver<Link>,
    ) {
        let (mut calls, mut checks) = (interval(CALL_EVERY), interval(CHECK_EVERY));
        calls.set_missed_tick_behavior(MissedTickBehavior::Delay);
        checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                biased;
                Some(message) = words.next() => self.word(identity, &message),
                Some(message) = beats.next() => self.beat(identity, &message),
                Some(message) = answers.next() => self.beat(identity, &message),
                Some(link) = links.recv() => match link {
                    Link::Up => self.call(),
                    Link::Down => self.lose(|registry| registry.nobody(), "is out of reach without the NATS server"),
                },
                _ = calls.tick() => self.call(),
                _ = checks.tick() => self.lose(|registry| registry.expire(Instant::now()), "has fallen silent"),
                else => return,
            }
        }
    }

    /// Tells all workers what is still wanted, and asks who is there.
    fn call(&self) {
        let known = &mut *self.known();
        let Some((client, identity)) = &known.link else { return };
        let number = known.call.map_or(1, |(number, _)| number + 1);
        let call = wire::seal(identity, &Call { number, searches: known.errands.serials() });
        let Shared { run, subjects, .. } = &*self.0;
        if connection::ask(client, subjects.call(), subjects.answer(*run), call) {
            known.call = Some((number, Instant::now()));
        }
    }

    /// A worker says that it is there; or the server, that nobody is.
    fn beat(&self, identity: &Identity, message: &Message) {
        if message.status == Some(StatusCode::NO_RESPONDERS) {
            return self.lose(|registry| registry.nobody(), "is not connected any more");
        }
        let (from, beat) = match wire::open::<Beat>(&message.payload, &identity.version) {
            Ok(read) => read,
            Err(error) => return self.refuse(&error),
        };
        let now = Instant::now();
        let (mut lost, mut why) = (Vec::new(), "has left");
        {
            let known = &mut *self.known();
            let answered = known.call.filter(|(number, _)| beat.answers == Some(*number));
            let lag = answered.map(|(_, sent)| now.saturating_duration_since(sent));
            if beat.state != WorkerState::Gone {
                lost = known.errands.compare(now, from.run, &beat.searches);
                why = "does not have it";
            }
            let (cores, speed) = (beat.cores, beat.speed);
            match known.registry.heard(now, &from, beat, lag) {
                Some(Change::Came(_)) => tracing::info!(worker = from.name, cores, speed, "a worker lends its cores"),
                Some(Change::Lost(run, name)) => {
                    tracing::info!(worker = %name, "a worker has left");
                    lost = known.errands.lost(run);
                }
                None => {}
            }
        }
        lost.into_iter().for_each(|errand| errand.lose(why));
    }

    /// Drops those workers that the registry says are lost, with what they were doing.
    fn lose(&self, who: impl FnOnce(&mut Registry) -> Vec<Change>, why: &str) {
        let mut lost = Vec::new();
        {
            let known = &mut *self.known();
            for change in who(&mut known.registry) {
                if let Change::Lost(run, name) = change {
                    tracing::warn!(worker = %name, "a worker is lost: it {why}");
                    lost.extend(known.errands.lost(run));
                }
            }
        }
        lost.into_iter().for_each(|errand| errand.lose(why));
    }

    fn refuse(&self, error: &WireError) {
        match error {
            WireError::Version { sender, .. } => {
                if self.known().registry.is_news(sender) {
                    tracing::warn!("a worker is not used: {error}");
                }
            }
            WireError::Malformed => tracing::debug!("{error}"),
        }
    }

    /// A worker says something of a search.
    fn word(&self, identity: &Identity, message: &Message) {
        let (from, word) = match wire::open::<Word>(&message.payload, &identity.version) {
            Ok(read) => read,
            Err(error) => return self.refuse(&error),
        };
        let ended = {
            let known = &mut *self.known();
            let outcome = known.errands.hear(from.run, word);
            match &outcome {
                Outcome::Worked => known.registry.worked(from.run),
                Outcome::Failed => known.registry.failed(Instant::now(), from.run),
                Outcome::Lied(_, nonsense) => {
                    tracing::error!(worker = from.name, "a worker is not believed: {nonsense}");
                    known.registry.failed(Instant::now(), from.run);
                }
                Outcome::Nothing | Outcome::GivenBack(_) => {}
            }
            outcome
        };
        match ended {
            Outcome::GivenBack(errand) => errand.lose("has given it back"),
            Outcome::Lied(errand, _) => errand.lose("is not believed"),
            Outcome::Nothing | Outcome::Worked | Outcome::Failed => {}
        }
    }

    /// Sends a search to the worker that suits it best. `None` if there is none that can have it.
    pub(super) fn dispatch(&self, dispatch: Dispatch) -> Option<RunId> {
        let Dispatch { job, reports, home, seat, elector, threads, before } = dispatch;
        let known = &mut *self.known();
        let offers = known.registry.offers(Instant::now(), self.0.run, &|worker| known.errands.threads_on(worker));
        let placed = placement::choose(&offers, threads, elector.engine(), before)?;
        let machine = known.registry.get(placed.worker)?.name.clone();
        let order = SearchOrder::of(job, seat, elector.clone(), u16::try_from(placed.threads).ok()?);
        if !self.send(known, placed.worker, &Order::Search(Box::new(order))) {
            return None;
        }
        known.errands.add(Errand {
            worker: placed.worker,
            machine,
            threads: placed.threads,
            elector: elector.name.clone(),
            job: job.clone(),
            reports: reports.clone(),
            home,
            sent: Instant::now(),
            heard: false,
        });
        Some(placed.worker)
    }

    /// A search is not wanted any more.
    pub(super) fn stop(&self, serial: u64) {
        let known = &mut *self.known();
        if let Some(worker) = known.errands.stop(serial) {
            self.send(known, worker, &Order::Stop(serial));
        }
    }

    /// Tells a worker something of a seat.
    pub(super) fn tell(&self, worker: RunId, order: &Order) {
        self.send(&self.known(), worker, order);
    }

    fn send<B: Serialize>(&self, known: &Known, worker: RunId, order: &B) -> bool {
        let Some((client, identity)) = &known.link else { return false };
        let message = wire::seal(identity, order);
        message.len() <= wire::LONGEST && connection::send(client, self.0.subjects.worker(worker), message)
    }
}

impl Elsewhere for Cluster {
    fn cores(&self) -> LentCores {
        // By right, not what is free at this moment: that would change with every search.
        let offers = self.known().registry.offers(Instant::now(), self.0.run, &|_| 0);
        let shares = offers.iter().map(placement::Offer::share);
        LentCores { together: shares.clone().sum(), widest: shares.max().unwrap_or(0) }
    }

    fn lodge(&self, spec: &ElectorSpec, table: Option<&SharedTable>) -> Option<Box<dyn Lodging>> {
        let elector = Elector::of(spec, table)?;
        let seat = {
            let known = &mut *self.known();
            known.seats = known.seats.wrapping_add(1);
            known.seats
        };
        Some(Box::new(Room::new(self.clone(), seat, elector, spec.threads)))
    }
}
