//! Who sits on this machine and what searches: the worker's rules, without threads, clock or network.
//!
//! A daemon is a tenant while it has seats here. Each has a right to an equal part of the cores and may use what the others leave
//! idle. Seats keep their tables from search to search, as long as memory lasts.
//!
//! Invariants: of every order something comes back, unless it is stopped; tables never take more memory than is lent; what belongs to
//! a daemon that is not heard of ends.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::{Duration, Instant},
};

use super::super::{
    identity::RunId,
    placement::fair_share,
    wire::{Call, Order, Says, SearchOrder, Searching, Word, WorkerState},
};
use chess::{ElectorName, SearchId};
use council::pool::{ElectorKind, ElectorSpec, Job};

/// A daemon is gone when it was silent for so long; it calls every second.
const GONE_AFTER: Duration = Duration::from_secs(5);

/// A daemon has no more seats than this on one worker.
const MOST_SEATS: usize = 512;

/// A seat: whose, and by which number of theirs.
pub type SeatKey = (RunId, u32);

/// A table that seats of one daemon share: whose, and by which number of theirs.
pub type TableKey = (RunId, u64);

/// What is to be done.
#[derive(Debug)]
pub enum Effect {
    /// Open a seat; it shares that table, which has the size that the elector would have of its own.
    Open(SeatKey, ElectorSpec, Option<TableKey>),
    /// Close a seat; its search ends.
    Close(SeatKey),
    /// Begin a search on a seat that is open.
    Search(SeatKey, Job),
    /// Stop the search on a seat.
    Stop(SeatKey),
    /// The elector on a seat forgets the last game.
    NewGame(SeatKey),
    /// Tell a daemon.
    Say(RunId, Word),
}

/// What is lent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lent {
    /// Cores.
    pub cores: usize,
    /// Memory for all tables, MiB.
    pub memory: usize,
    /// UCI engines by name.
    pub engines: BTreeMap<String, PathBuf>,
}

/// Who sits here.
#[derive(Debug)]
pub struct Tenancy {
    lent: Lent,
    state: WorkerState,
    seats: BTreeMap<SeatKey, Seat>,
    heard: BTreeMap<RunId, Instant>,
}

#[derive(Debug)]
struct Seat {
    /// As it was ordered; what was opened may have a smaller table.
    ordered: ElectorSpec,
    table: Option<TableKey>,
    hash: usize,
    search: Option<Search>,
    used: Instant,
}

#[derive(Clone, Debug)]
struct Search {
    id: SearchId,
    elector: ElectorName,
    threads: usize,
}

impl Tenancy {
    /// Nobody yet.
    pub fn new(lent: Lent) -> Self {
        Self { lent, state: WorkerState::Lending, seats: BTreeMap::new(), heard: BTreeMap::new() }
    }

    /// Whether searches are taken.
    pub fn state(&self) -> WorkerState {
        self.state
    }

    /// No more searches are taken.
    pub fn drain(&mut self) {
        self.state = WorkerState::Draining;
    }

    /// Whether nothing searches.
    pub fn is_idle(&self) -> bool {
        self.seats.values().all(|seat| seat.search.is_none())
    }

    /// Daemons that have seats.
    pub fn tenants(&self) -> Vec<RunId> {
        let tenants: BTreeSet<RunId> = self.seats.keys().map(|(daemon, _)| *daemon).collect();
        tenants.into_iter().collect()
    }

    /// What searches; the nodes are for the threads to say.
    pub fn searches(&self) -> Vec<(SeatKey, Searching)> {
        let running = self.seats.iter().filter_map(|(key, seat)| Some((*key, seat.search.clone()?)));
        let shown = running.map(|(key, Search { id, elector, threads })| {
            let threads = u16::try_from(threads).unwrap_or(u16::MAX);
            (key, Searching { daemon: key.0, search: id, elector, threads, nodes: 0 })
        });
        shown.collect()
    }

    /// A daemon wants something.
    pub fn order(&mut self, now: Instant, from: RunId, order: Order) -> Vec<Effect> {
        self.heard.insert(from, now);
        match order {
            Order::Search(order) => self.search(now, from, &order),
            Order::Stop(serial) => self.stop(from, |search| search.id.serial == serial),
            Order::NewGame(seat) if self.seats.contains_key(&(from, seat)) => vec![Effect::NewGame((from, seat))],
            Order::NewGame(_) => Vec::new(),
            Order::Leave(seat) => self.close((from, seat)).into_iter().collect(),
        }
    }

    /// A daemon says that it is there, and what it still wants.
    pub fn call(&mut self, now: Instant, from: RunId, call: &Call) -> Vec<Effect> {
        if !self.seats.keys().any(|(daemon, _)| *daemon == from) {
            return Vec::new();
        }
        self.heard.insert(from, now);
        self.stop(from, |search| !call.searches.contains(&search.id.serial))
    }

    /// A search is over by itself.
    pub fn over(&mut self, key: SeatKey, search: &SearchId) {
        if let Some(seat) = self.seats.get_mut(&key)
            && seat.search.as_ref().is_some_and(|running| running.id == *search)
        {
            seat.search = None;
        }
    }

    /// Daemons that have not been heard of are gone, with their seats.
    pub fn tick(&mut self, now: Instant) -> Vec<Effect> {
        let gone = |heard: &Instant| now.saturating_duration_since(*heard) > GONE_AFTER;
        let keys = self.seats.keys().filter(|(daemon, _)| self.heard.get(daemon).is_none_or(gone));
        let closing: Vec<SeatKey> = keys.copied().collect();
        self.heard.retain(|_, heard| !gone(heard));
        closing.into_iter().filter_map(|key| self.close(key)).collect()
    }

    fn search(&mut self, now: Instant, from: RunId, order: &SearchOrder) -> Vec<Effect> {
        let key = (from, order.seat);
        let say = |says| {
            vec![Effect::Say(from, Word { search: order.id.clone(), elector: order.elector.name.clone(), says })]
        };
        let threads = usize::from(order.threads).clamp(1, self.lent.cores.max(1));
        // What the seat did before is over in any case.
        let mut effects = self.stop_seat(key);
        if self.state != WorkerState::Lending || !self.has_room(key, threads) {
            effects.extend(say(Says::GivenBack));
            return effects;
        }
        let asked = order.elector.spec(order.threads, &self.lent.engines).and_then(|spec| Ok((spec, order.job()?)));
        let (mut spec, mut job) = match asked {
            Ok(asked) => asked,
            Err(nonsense) => {
                effects.extend(say(Says::Failed(nonsense.to_string())));
                return effects;
            }
        };
        if matches!(spec.kind, ElectorKind::Own(_)) {
            // Its threads may differ from search to search without a new table.
            spec.threads = self.lent.cores.max(1);
            job.threads_at_most = Some(threads);
        } else {
            spec.threads = threads;
        }
        let table = order.elector.table.map(|number| (from, number));
        effects.extend(self.take_seat(now, key, spec, table));
        if let Some(seat) = self.seats.get_mut(&key) {
            seat.used = now;
            seat.search = Some(Search { id: order.id.clone(), elector: order.elector.name.clone(), threads });
        }
        effects.push(Effect::Search(key, job));
        effects
    }

    /// Whether a daemon may have so many threads more: there are idle cores, or it has less than its part.
    fn has_room(&self, (daemon, seat): SeatKey, threads: usize) -> bool {
        let used = |theirs: bool| -> usize {
            let seats = self.seats.iter().filter(|((other, _), _)| theirs || *other == daemon);
            seats.filter_map(|(_, seat)| seat.search.as_ref()).map(|search| search.threads).sum()
        };
        let mut tenants = self.tenants();
        if !tenants.contains(&daemon) {
            tenants.push(daemon);
        }
        let seats = self.seats.keys().filter(|(other, _)| *other == daemon).count();
        let known = self.seats.contains_key(&(daemon, seat));
        let fits = used(true) + threads <= self.lent.cores.max(1);
        let entitled = used(false) + threads <= fair_share(self.lent.cores, tenants.len());
        (fits || entitled) && (known || seats < MOST_SEATS)
    }

    /// Opens the seat unless it is open for this very elector.
    fn take_seat(&mut self, now: Instant, key: SeatKey, ordered: ElectorSpec, table: Option<TableKey>) -> Vec<Effect> {
        if self.seats.get(&key).is_some_and(|seat| seat.ordered == ordered && seat.table == table) {
            return Vec::new();
        }
        let mut effects: Vec<Effect> = self.close(key).into_iter().collect();
        let hash = self.size_of(table).unwrap_or_else(|| {
            effects.extend(self.make_room(ordered.hash));
            ordered.hash.min(self.lent.memory.saturating_sub(self.memory())).max(1)
        });
        effects.push(Effect::Open(key, ElectorSpec { hash, ..ordered.clone() }, table));
        self.seats.insert(key, Seat { ordered, table, hash, search: None, used: now });
        effects
    }

    /// The size of a shared table, if it is there.
    fn size_of(&self, table: Option<TableKey>) -> Option<usize> {
        let mut sharers = self.seats.values().filter(|seat| table.is_some() && seat.table == table);
        sharers.next().map(|seat| seat.hash)
    }

    /// Whether a shared table is still used.
    pub fn has_table(&self, table: TableKey) -> bool {
        self.size_of(Some(table)).is_some()
    }

    /// Closes idle seats, those unused longest first, until there is memory for a table.
    fn make_room(&mut self, hash: usize) -> Vec<Effect> {
        let mut effects = Vec::new();
        while self.memory() + hash > self.lent.memory {
            let idle = self.seats.iter().filter(|(_, seat)| seat.search.is_none());
            let Some(oldest) = idle.min_by_key(|(_, seat)| seat.used).map(|(key, _)| *key) else { break };
            effects.extend(self.close(oldest));
        }
        effects
    }

    /// Memory of all tables, MiB; a shared one counts once.
    fn memory(&self) -> usize {
        let mut counted = BTreeSet::new();
        let counts = |seat: &&Seat| seat.table.is_none_or(|table| counted.insert(table));
        self.seats.values().filter(counts).map(|seat| seat.hash).sum()
    }

    fn close(&mut self, key: SeatKey) -> Option<Effect> {
        self.seats.remove(&key).map(|_| Effect::Close(key))
    }

    fn stop(&mut self, from: RunId, which: impl Fn(&Search) -> bool) -> Vec<Effect> {
        let theirs = self.seats.iter().filter(|((daemon, _), _)| *daemon == from);
        let stopping = theirs.filter(|(_, seat)| seat.search.as_ref().is_some_and(&which));
        let keys: Vec<SeatKey> = stopping.map(|(key, _)| *key).collect();
        keys.into_iter().flat_map(|key| self.stop_seat(key)).collect()
    }

    fn stop_seat(&mut self, key: SeatKey) -> Vec<Effect> {
        let running = self.seats.get_mut(&key).and_then(|seat| seat.search.take());
        running.map(|_| Effect::Stop(key)).into_iter().collect()
    }
}
