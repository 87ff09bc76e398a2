//! Slots of electors on this machine and their searches: the worker's rules, without threads, clock
//! or network.
//!
//! Each daemon that has slots here has a right to an equal part of the cores and may use cores that
//! the others leave idle. Slots keep their tables from search to search, as long as memory lasts. A
//! slot that its daemon has given up may stay open, for the message that says so can be lost: one
//! that is unused for long is closed, and so is the one unused longest where a daemon has too many.
//!
//! Invariants: every command gets an answer, unless it is stopped; tables never take more memory
//! than the limit; slots and searches of a silent daemon end.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::{Duration, Instant},
};

use super::{
    super::{
        identity::RunId,
        placement::fair_share,
        wire::{Poll, SearchCommand, SearchEvent, SearchEventKind, TableNews, WorkerCommand, WorkerState},
    },
    WorkerSettings,
};
use council::electors::{ElectorKind, ElectorSpec, SearchStatus, Task};
use domain::SearchId;

/// Time without a poll after which a daemon is gone; it polls every second.
const GONE_AFTER: Duration = Duration::from_secs(5);

/// A daemon has no more slots than this on one worker.
const MOST_SLOTS: usize = 512;

/// Time without a search after which a slot is closed: a long think of the opponent's is over by
/// then, and a warm table is cold.
const UNUSED_FOR: Duration = Duration::from_secs(600);

/// A slot: the daemon it belongs to, and the number that the daemon gave it.
pub(super) type SlotKey = (RunId, u32);

/// A table that slots of one daemon share: the daemon, and the number that it gave the table.
pub(super) type TableKey = (RunId, u64);

#[derive(Debug)]
pub(super) enum SchedulerEffect {
    /// Open a slot; it shares that table, which has the size that the elector would have of its own.
    Open(SlotKey, ElectorSpec, Option<TableKey>),
    Close(SlotKey),
    Search(SlotKey, Task),
    Stop(SlotKey),
    /// The elector on a slot forgets the last game, with that table if it shares one.
    NewGame(SlotKey, Option<TableKey>),
    Tell(RunId, SearchEvent),
    /// Take what is news to this table, and tell of it from now on.
    Hear(TableKey, TableNews),
}

/// The slots, their searches, and when each daemon was heard of last.
#[derive(Debug)]
pub(super) struct Scheduler {
    /// Cores and memory of this machine for all daemons together.
    pub lent: WorkerSettings,
    state: WorkerState,
    slots: BTreeMap<SlotKey, WorkerSlot>,
    heard: BTreeMap<RunId, Instant>,
}

#[derive(Debug)]
struct WorkerSlot {
    /// Elector as the daemon wants it; the slot may have a smaller table.
    wanted: ElectorSpec,
    /// The table that it is to share.
    asked_table: Option<TableKey>,
    /// The table that it shares; `None` also where the one it is to share belongs to another evaluation.
    table: Option<TableKey>,
    hash: usize,
    search: Option<SearchStatus>,
    used: Instant,
}

impl Scheduler {
    pub(super) fn new(lent: WorkerSettings) -> Self {
        Self { lent, state: WorkerState::Lending, slots: BTreeMap::new(), heard: BTreeMap::new() }
    }

    pub(super) fn state(&self) -> WorkerState {
        self.state
    }

    pub(super) fn drain(&mut self) {
        self.state = WorkerState::Draining;
    }

    pub(super) fn is_idle(&self) -> bool {
        self.slots.values().all(|slot| slot.search.is_none())
    }

    pub(super) fn daemons(&self) -> Vec<RunId> {
        let daemons: BTreeSet<RunId> = self.slots.keys().map(|(daemon, _)| *daemon).collect();
        daemons.into_iter().collect()
    }

    /// Returns the running searches; only the threads know the nodes.
    pub(super) fn searches(&self) -> Vec<(SlotKey, SearchStatus)> {
        self.slots.iter().filter_map(|(key, slot)| Some((*key, slot.search.clone()?))).collect()
    }

    pub(super) fn command(&mut self, now: Instant, from: RunId, command: WorkerCommand) -> Vec<SchedulerEffect> {
        self.heard.insert(from, now);
        match command {
            WorkerCommand::Search(command) => self.search(now, from, &command),
            WorkerCommand::Stop(serial) => self.stop(from, |search| search.search.serial == serial),
            WorkerCommand::NewGame(slot) => {
                let known = self.slots.get(&(from, slot));
                known.map(|known| SchedulerEffect::NewGame((from, slot), known.table)).into_iter().collect()
            }
            WorkerCommand::Leave(slot) => self.close((from, slot)).into_iter().collect(),
            WorkerCommand::Table(news) if self.has_table((from, news.table)) => {
                vec![SchedulerEffect::Hear((from, news.table), news)]
            }
            WorkerCommand::Table(_) => Vec::new(),
        }
    }

    /// A daemon says that it is there, and what it still wants.
    pub(super) fn poll(&mut self, now: Instant, from: RunId, poll: &Poll) -> Vec<SchedulerEffect> {
        if !self.slots.keys().any(|(daemon, _)| *daemon == from) {
            return Vec::new();
        }
        self.heard.insert(from, now);
        self.stop(from, |search| !poll.searches.contains(&search.search.serial))
    }

    pub(super) fn ended(&mut self, key: SlotKey, search: &SearchId) {
        if let Some(slot) = self.slots.get_mut(&key)
            && slot.search.as_ref().is_some_and(|running| running.search == *search)
        {
            slot.search = None;
        }
    }

    /// Daemons that have not been heard of are gone, with their slots; so are slots that have been unused for long.
    pub(super) fn tick(&mut self, now: Instant) -> Vec<SchedulerEffect> {
        for slot in self.slots.values_mut().filter(|slot| slot.search.is_some()) {
            slot.used = now;
        }
        let gone = |heard: &Instant| now.saturating_duration_since(*heard) > GONE_AFTER;
        let unused = |slot: &WorkerSlot| now.saturating_duration_since(slot.used) > UNUSED_FOR;
        let over =
            self.slots.iter().filter(|((daemon, _), slot)| self.heard.get(daemon).is_none_or(gone) || unused(slot));
        let closing: Vec<SlotKey> = over.map(|(key, _)| *key).collect();
        self.heard.retain(|_, heard| !gone(heard));
        closing.into_iter().filter_map(|key| self.close(key)).collect()
    }

    fn search(&mut self, now: Instant, from: RunId, command: &SearchCommand) -> Vec<SchedulerEffect> {
        let key = (from, command.slot);
        let tell = |kind| {
            vec![SchedulerEffect::Tell(
                from,
                SearchEvent { search: command.id.clone(), elector: command.elector.name.clone(), kind },
            )]
        };
        let threads = usize::from(command.threads).clamp(1, self.lent.cores.max(1));
        // What the slot did before is over in any case.
        let mut effects = self.stop_slot(key);
        if self.state != WorkerState::Lending || !self.has_room(from, threads) {
            effects.extend(tell(SearchEventKind::GivenBack));
            return effects;
        }
        let asked =
            command.elector.spec(command.threads, &self.lent.engines).and_then(|spec| Ok((spec, command.task()?)));
        let (mut spec, mut task) = match asked {
            Ok(asked) => asked,
            Err(invalid) => {
                effects.extend(tell(SearchEventKind::Failed(invalid)));
                return effects;
            }
        };
        if matches!(spec.kind, ElectorKind::Own(_)) {
            // Its threads may differ from search to search without a new table.
            spec.threads = self.lent.cores.max(1);
            task.threads_at_most = Some(threads);
        } else {
            spec.threads = threads;
        }
        let table = command.elector.table.map(|number| (from, number));
        if !self.take_slot(now, key, spec, table, &mut effects) {
            effects.extend(tell(SearchEventKind::GivenBack));
            return effects;
        }
        if let Some(slot) = self.slots.get_mut(&key) {
            slot.used = now;
            let (search, elector) = (command.id.clone(), command.elector.name.clone());
            let threads = u16::try_from(threads).unwrap_or(u16::MAX);
            slot.search = Some(SearchStatus { search, elector, threads, nodes: 0 });
        }
        effects.push(SchedulerEffect::Search(key, task));
        effects
    }

    /// Returns true if a daemon may have `threads` more threads: there are idle cores, or it has
    /// less than its part.
    fn has_room(&self, daemon: RunId, threads: usize) -> bool {
        let used = |everybody: bool| -> usize {
            let slots = self.slots.iter().filter(|((other, _), _)| everybody || *other == daemon);
            slots.filter_map(|(_, slot)| slot.search.as_ref()).map(|search| usize::from(search.threads)).sum()
        };
        let mut daemons = self.daemons();
        if !daemons.contains(&daemon) {
            daemons.push(daemon);
        }
        let fits = used(true) + threads <= self.lent.cores.max(1);
        let entitled = used(false) + threads <= fair_share(self.lent.cores, daemons.len());
        fits || entitled
    }

    /// Opens the slot unless it is open for this very elector; `false` where no memory is left for it, or the daemon has too many that
    /// search.
    fn take_slot(
        &mut self,
        now: Instant,
        key: SlotKey,
        wanted: ElectorSpec,
        asked_table: Option<TableKey>,
        effects: &mut Vec<SchedulerEffect>,
    ) -> bool {
        if self.slots.get(&key).is_some_and(|slot| slot.wanted == wanted && slot.asked_table == asked_table) {
            return true;
        }
        effects.extend(self.close(key));
        if !self.make_place(key.0, effects) {
            return false;
        }
        let table = asked_table.filter(|table| self.can_share(*table, &wanted));
        let hash = self.size_of(table).unwrap_or_else(|| {
            effects.extend(self.make_room(wanted.hash));
            wanted.hash.max(1).min(self.lent.memory.saturating_sub(self.memory()))
        });
        if hash == 0 {
            return false;
        }
        effects.push(SchedulerEffect::Open(key, ElectorSpec { hash, ..wanted.clone() }, table));
        self.slots.insert(key, WorkerSlot { wanted, asked_table, table, hash, search: None, used: now });
        true
    }

    fn size_of(&self, table: Option<TableKey>) -> Option<usize> {
        let mut sharers = self.slots.values().filter(|slot| table.is_some() && slot.table == table);
        sharers.next().map(|slot| slot.hash)
    }

    pub(super) fn has_table(&self, table: TableKey) -> bool {
        self.size_of(Some(table)).is_some()
    }

    /// Returns true if an elector can search with a table: it is one of our own, and evaluates like
    /// all others that search with it.
    fn can_share(&self, table: TableKey, wanted: &ElectorSpec) -> bool {
        let mut sharers = self.slots.values().filter(|slot| slot.table == Some(table));
        wanted.instance().is_some() && sharers.all(|slot| evaluate_alike(&slot.wanted, wanted))
    }

    /// Closes the idle slot of a daemon that is unused longest, where it has as many as it may have. `false` if all of them search.
    fn make_place(&mut self, daemon: RunId, effects: &mut Vec<SchedulerEffect>) -> bool {
        if self.slots.keys().filter(|(other, _)| *other == daemon).count() < MOST_SLOTS {
            return true;
        }
        let Some(oldest) = self.longest_idle(|other| other == daemon) else { return false };
        effects.extend(self.close(oldest));
        true
    }

    /// Closes idle slots, those unused longest first, until there is memory for a table.
    fn make_room(&mut self, hash: usize) -> Vec<SchedulerEffect> {
        let mut effects = Vec::new();
        while self.memory() + hash > self.lent.memory {
            let Some(oldest) = self.longest_idle(|_| true) else { break };
            effects.extend(self.close(oldest));
        }
        effects
    }

    fn longest_idle(&self, whose: impl Fn(RunId) -> bool) -> Option<SlotKey> {
        let idle = self.slots.iter().filter(|((daemon, _), slot)| whose(*daemon) && slot.search.is_none());
        idle.min_by_key(|(_, slot)| slot.used).map(|(key, _)| *key)
    }

    /// Memory of all tables, MiB; a shared one counts once.
    fn memory(&self) -> usize {
        let mut counted = BTreeSet::new();
        let counts = |slot: &&WorkerSlot| slot.table.is_none_or(|table| counted.insert(table));
        self.slots.values().filter(counts).map(|slot| slot.hash).sum()
    }

    fn close(&mut self, key: SlotKey) -> Option<SchedulerEffect> {
        self.slots.remove(&key).map(|_| SchedulerEffect::Close(key))
    }

    fn stop(&mut self, from: RunId, which: impl Fn(&SearchStatus) -> bool) -> Vec<SchedulerEffect> {
        let theirs = self.slots.iter().filter(|((daemon, _), _)| *daemon == from);
        let stopping = theirs.filter(|(_, slot)| slot.search.as_ref().is_some_and(&which));
        let keys: Vec<SlotKey> = stopping.map(|(key, _)| *key).collect();
        keys.into_iter().flat_map(|key| self.stop_slot(key)).collect()
    }

    fn stop_slot(&mut self, key: SlotKey) -> Vec<SchedulerEffect> {
        let running = self.slots.get_mut(&key).and_then(|slot| slot.search.take());
        running.map(|_| SchedulerEffect::Stop(key)).into_iter().collect()
    }
}

/// Returns true if the values of these electors mean the same, so that they can search with one
/// table, as `engine::SharedTable` requires.
fn evaluate_alike(one: &ElectorSpec, other: &ElectorSpec) -> bool {
    let evaluation = |spec: &ElectorSpec| {
        let options = spec.instance()?.options(spec.hash, spec.threads);
        Some((options.recipe(), options.contempt))
    };
    evaluation(one).is_some_and(|one| Some(one) == evaluation(other))
}
