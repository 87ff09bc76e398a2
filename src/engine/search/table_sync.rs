//! Exchange between transposition tables: the deepest new entries, in batches.
//!
//! State without a clock or a network: [`Outbox`] keeps entries until they are collected, and a
//! table takes from a [`TableBatch`] entries deeper than its own. The caller decides the frequency,
//! size and delay of batches.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicI32, Ordering::Relaxed},
    },
};

use super::entry::Entry;

/// An entry on its way from one table to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableEntry {
    pub(super) key: u64,
    pub(super) data: u64,
}

impl TableEntry {
    pub const BYTES: usize = 16;

    /// An entry of a position with this key, as a table has it.
    pub fn new(key: u64, data: u64) -> Self {
        Self { key, data }
    }

    /// Writes the entry, the same on every machine.
    pub fn to_bytes(self) -> [u8; Self::BYTES] {
        (u128::from(self.key) << 64 | u128::from(self.data)).to_le_bytes()
    }

    /// Reads the output of [`Self::to_bytes`]. Any bytes are an entry; the receiver tests whether
    /// it is possible.
    pub fn from_bytes(bytes: [u8; Self::BYTES]) -> Self {
        let both = u128::from_le_bytes(bytes);
        Self { key: (both >> 64) as u64, data: both as u64 }
    }
}

/// Entries that searches of one position have made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableBatch {
    /// The key of the searched position. Tables of other searches ignore the batch.
    pub root: u64,
    /// The entries, deepest first.
    pub entries: Vec<TableEntry>,
}

/// The trust of a table in another one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Belief {
    /// Moves alone, which are then searched first. A lie costs some nodes.
    #[default]
    Moves,
    /// Values too. A lie is as good as the truth.
    Values,
}

/// The least depth to send: a search of less depth is as fast as a message.
const SHALLOWEST: i32 = 2;

/// No entry is deep enough.
const CLOSED: i32 = i32::MAX;

/// The deepest entries since the last collection, a bounded number of them.
pub(super) struct Outbox {
    /// The least depth of an entry worth keeping, plies. Read at every store, so it is outside of
    /// the lock.
    least_depth: AtomicI32,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    capacity: usize,
    entries: BTreeMap<u64, u64>,
}

impl Outbox {
    /// Creates an outbox that keeps nothing.
    pub(super) fn closed() -> Self {
        Self { least_depth: AtomicI32::new(CLOSED), kept: Mutex::default() }
    }

    /// Keeps up to `capacity` entries from now on; 0 keeps none.
    pub(super) fn open(&self, capacity: usize) {
        let mut kept = self.kept();
        *kept = Kept { capacity, entries: BTreeMap::new() };
        self.admit_from(&kept);
    }

    /// Returns true if an entry of this depth may be worth sending.
    #[inline]
    pub(super) fn wants(&self, depth: i32) -> bool {
        depth >= self.least_depth.load(Relaxed)
    }

    /// Keeps an entry if it is among the deepest.
    #[cold]
    pub(super) fn offer(&self, key: u64, data: u64) {
        let mut kept = self.kept();
        if kept.capacity == 0 {
            return;
        }
        kept.entries.insert(key, data);
        if kept.entries.len() > kept.capacity
            && let Some(shallowest) = kept.shallowest().map(|(key, _)| key)
        {
            kept.entries.remove(&shallowest);
        }
        self.admit_from(&kept);
    }

    /// Keeps an entry from another table, as far as that table is trusted.
    pub(super) fn pass_on(&self, told: TableEntry, belief: Belief) {
        let entry = Entry::unpack(told.data);
        if self.wants(entry.depth) {
            let believed = if belief == Belief::Moves { entry.move_alone() } else { entry };
            self.offer(told.key, believed.pack());
        }
    }

    /// Forgets the entries of an earlier search.
    pub(super) fn clear(&self) {
        let mut kept = self.kept();
        kept.entries.clear();
        self.admit_from(&kept);
    }

    /// Takes all entries out, deepest first.
    pub(super) fn empty(&self) -> Vec<TableEntry> {
        let mut kept = self.kept();
        let taken = std::mem::take(&mut kept.entries);
        self.admit_from(&kept);
        drop(kept);
        let mut entries: Vec<TableEntry> = taken.into_iter().map(|(key, data)| TableEntry { key, data }).collect();
        entries.sort_by_key(|entry| -depth_of(entry.data));
        entries
    }

    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Raises the depth of admission once it is full, to that of its shallowest entry.
    fn admit_from(&self, kept: &Kept) {
        let least = match kept.shallowest() {
            _ if kept.capacity == 0 => CLOSED,
            Some((_, depth)) if kept.entries.len() >= kept.capacity => depth + 1,
            _ => SHALLOWEST,
        };
        self.least_depth.store(least, Relaxed);
    }
}

impl Kept {
    /// The key and the depth of the entry that is given up first.
    fn shallowest(&self) -> Option<(u64, i32)> {
        self.entries.iter().map(|(key, data)| (*key, depth_of(*data))).min_by_key(|(_, depth)| *depth)
    }
}

fn depth_of(data: u64) -> i32 {
    Entry::unpack(data).depth
}

#[cfg(test)]
mod tests {
    use super::{
        super::{entry::Bound, table::Table, value},
        *,
    };
    use crate::board::Move;

    fn key(number: u64) -> u64 {
        number.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    fn store(table: &Table, key: u64, depth: i32) {
        table.store(key, 0, Move::from_bits(0x1234), 50, 10, depth, Bound::Exact, false);
    }

    fn keys(entries: &[TableEntry]) -> Vec<u64> {
        entries.iter().map(|entry| entry.key).collect()
    }

    #[test]
    fn deepest_new_entries_go_out_once() {
        let table = Table::new(1);
        store(&table, key(1), 9);
        table.outbox.open(2);
        for (key, depth) in [(key(2), 5), (key(3), 1), (key(4), 7), (key(5), 6), (key(4), 8)] {
            store(&table, key, depth);
        }
        assert_eq!(
            keys(&table.outbox.empty()),
            [key(4), key(5)],
            "the deepest first; what was there before is not new"
        );
        assert!(table.outbox.empty().is_empty());
        store(&table, key(6), 3);
        assert_eq!(keys(&table.outbox.empty()), [key(6)], "there is room again");
    }

    #[test]
    fn only_deeper_entries_are_taken() {
        let [from, to] = [Table::new(1), Table::new(1)];
        from.outbox.open(8);
        to.outbox.open(8);
        store(&from, key(1), 9);
        store(&from, key(2), 4);
        store(&to, key(2), 6);
        to.outbox.empty();
        let told = from.outbox.empty();
        assert_eq!(told.iter().filter(|entry| to.take(**entry, Belief::Values)).count(), 1);
        assert_eq!(to.probe(key(1)).map(|entry| (entry.depth, entry.bound)), Some((9, Bound::Exact)));
        assert_eq!(to.probe(key(2)).map(|entry| entry.depth), Some(6));
        assert!(to.outbox.empty().is_empty(), "what was heard is not told again");
    }

    #[test]
    fn untrusted_entry_keeps_its_move() {
        let [from, to] = [Table::new(1), Table::new(1)];
        from.outbox.open(8);
        store(&from, key(1), 200);
        let told = from.outbox.empty();
        assert!(to.take(told[0], Belief::Moves));
        let taken = to.probe(key(1)).expect("it was taken");
        assert_eq!((taken.mv, taken.depth, taken.bound), (Move::from_bits(0x1234), 0, Bound::None));
        assert_eq!(taken.evaluation, value::NONE);
    }

    #[test]
    fn only_trusted_data_is_relayed() {
        let [from, between, to] = [Table::new(1), Table::new(1), Table::new(1)];
        for table in [&from, &between] {
            table.outbox.open(8);
        }
        store(&from, key(1), 9);
        let told = from.outbox.empty()[0];
        assert!(between.take(told, Belief::Moves));
        between.outbox.pass_on(told, Belief::Moves);
        store(&between, key(2), 5);
        let told = between.outbox.empty();
        assert_eq!(keys(&told), [key(1), key(2)]);
        assert!(told.iter().all(|entry| to.take(*entry, Belief::Values)));
        let bounds = [1, 2].map(|number| to.probe(key(number)).map(|entry| entry.bound));
        assert_eq!(bounds, [Some(Bound::None), Some(Bound::Exact)]);
    }

    #[test]
    fn new_search_sends_no_old_entries() {
        let table = Table::new(1);
        table.outbox.open(8);
        table.begin(7);
        store(&table, key(1), 9);
        table.begin(8);
        assert!(table.outbox.empty().is_empty());
    }

    #[test]
    fn entry_bytes_round_trip() {
        let entry = TableEntry { key: 0x0123_4567_89ab_cdef, data: 0xfedc_ba98_7654_3210 };
        assert_eq!(TableEntry::from_bytes(entry.to_bytes()), entry);
    }
}
