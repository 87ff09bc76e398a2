//! The transposition table: results of earlier searches, shared by all threads without locks.
//!
//! An entry is 64 bits of data and 16 bits of key. The key is stored exclusive-or'ed with a fold of
//! the data, so that an entry written by two threads at once does not match and is ignored (Hyatt
//! and Mann, "A lock-less transposition table implementation", 2002). Sixteen bits let a foreign
//! entry through now and then, so every move from the table is tested on the board first. Memory
//! comes zeroed from the system and is not touched before its use.

use std::sync::{
    Mutex, PoisonError,
    atomic::{
        AtomicBool, AtomicU8, AtomicU16, AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

pub(super) use super::entry::{Bound, Entry};
use super::{
    table_sync::{Belief, Outbox, TableEntry},
    value::{self, Value},
};
use crate::{
    board::Move,
    pages::{Pages, Zero, prefetch},
};

const AGES: u8 = 32;

/// Three entries in half a cache line.
#[repr(C, align(32))]
struct Cluster {
    data: [AtomicU64; 3],
    keys: [AtomicU16; 3],
}

// SAFETY: atomic integers, of which zero is one.
unsafe impl Zero for Cluster {}

/// Folds data to the width of a key.
#[inline]
fn fold(data: u64) -> u16 {
    (data ^ data >> 16 ^ data >> 32 ^ data >> 48) as u16
}

pub(super) struct Table {
    clusters: Pages<Cluster>,
    age: AtomicU8,
    root: AtomicU64,
    pub(super) outbox: Outbox,
    /// True if the table must be cleared before the next search.
    outdated: AtomicBool,
    clearing: Mutex<()>,
}

impl Table {
    /// A table of about `mebibytes` MiB, at least 1.
    pub(super) fn new(mebibytes: usize) -> Self {
        let count = (mebibytes.max(1) << 20) / size_of::<Cluster>();
        Self {
            clusters: Pages::zeroed(count),
            age: AtomicU8::new(0),
            root: AtomicU64::new(0),
            outbox: Outbox::closed(),
            outdated: AtomicBool::new(false),
            clearing: Mutex::new(()),
        }
    }

    /// Marks the contents as obsolete; [`Self::clear_outdated`] clears them, at the latest when the
    /// next search begins, because writing to all of the memory takes a while. An unused table
    /// needs no clearing, and its memory is not touched.
    pub(super) fn forget(&self) {
        if self.root() != 0 {
            self.outdated.store(true, Release);
        }
    }

    /// Clears obsolete contents. A second caller waits until the first has finished.
    pub(super) fn clear_outdated(&self) {
        if self.outdated.load(Acquire) {
            let _one_at_a_time = self.clearing.lock().unwrap_or_else(PoisonError::into_inner);
            if self.outdated.load(Acquire) {
                self.clear();
                self.outdated.store(false, Release);
            }
        }
    }

    /// Begins a search of the position with this key; entries of other positions' searches give way first. Several engines, or
    /// the two phases of a move, count as one search: the first of them clears an outdated table while the others wait, so that
    /// no new entry is lost.
    pub(super) fn begin(&self, root: u64) {
        self.clear_outdated();
        if self.root.swap(root, Relaxed) != root {
            self.age.store((self.age.load(Relaxed) + 1) % AGES, Relaxed);
            self.outbox.clear();
        }
    }

    /// The key of the position that is searched, or was searched last.
    pub(super) fn root(&self) -> u64 {
        self.root.load(Relaxed)
    }

    fn clear(&self) {
        for cluster in self.clusters.iter() {
            cluster.data.iter().for_each(|data| data.store(0, Relaxed));
            cluster.keys.iter().for_each(|key| key.store(0, Relaxed));
        }
        self.root.store(0, Relaxed);
    }

    #[inline]
    fn cluster(&self, key: u64) -> &Cluster {
        // The high bits of the key spread evenly over any number of clusters; the low ones are stored.
        &self.clusters[((u128::from(key) * self.clusters.len() as u128) >> 64) as usize]
    }

    /// Requests the memory of a position before it is needed.
    #[inline]
    pub(super) fn prefetch(&self, key: u64) {
        prefetch(self.cluster(key));
    }

    #[inline]
    pub(super) fn probe(&self, key: u64) -> Option<Entry> {
        let cluster = self.cluster(key);
        cluster.data.iter().zip(&cluster.keys).find_map(|(data, stored_key)| {
            let data = data.load(Relaxed);
            (data != 0 && stored_key.load(Relaxed) ^ fold(data) == key as u16).then(|| Entry::unpack(data))
        })
    }

    /// Remembers a search of `depth` plies. If it found no move, keeps the known one.
    #[expect(clippy::too_many_arguments, reason = "they are the fields of an entry")]
    pub(super) fn store(
        &self,
        key: u64,
        ply: usize,
        mv: Option<Move>,
        value: Value,
        evaluation: Value,
        depth: i32,
        bound: Bound,
        principal: bool,
    ) {
        let age = self.age.load(Relaxed);
        let cluster = self.cluster(key);
        let mut victim = 0;
        let mut least = i32::MAX;
        let mut mv = mv;
        for i in 0..3 {
            let data = cluster.data[i].load(Relaxed);
            let old = Entry::unpack(data);
            let years = i32::from((age + AGES - old.age) % AGES);
            if data != 0 && cluster.keys[i].load(Relaxed) ^ fold(data) == key as u16 {
                mv = mv.or(old.mv);
                // A deeper entry of this search is worth more than a shallow bound.
                if bound != Bound::Exact && years == 0 && depth + 4 < old.depth {
                    return;
                }
                victim = i;
                break;
            }
            let worth = if data == 0 { i32::MIN } else { old.depth - 4 * years };
            if worth < least {
                least = worth;
                victim = i;
            }
        }
        let stored = value::to_table(value, ply) as i16;
        let data = Entry { mv, stored, evaluation, depth, bound, principal, age }.pack();
        cluster.data[victim].store(data, Relaxed);
        cluster.keys[victim].store(key as u16 ^ fold(data), Relaxed);
        if self.outbox.wants(depth) {
            self.outbox.offer(key, data);
        }
    }

    /// Takes an entry from another table if it is deeper than the own one and possible at all.
    /// Returns true if it was taken.
    pub(super) fn take(&self, told: TableEntry, belief: Belief) -> bool {
        let age = self.age.load(Relaxed);
        let entry = Entry { age, ..Entry::unpack(told.data) };
        let possible = |value: i32| value == value::NONE || value.abs() <= value::MATE;
        if !possible(entry.stored.into()) || !possible(entry.evaluation) {
            return false;
        }
        // A relay that did not believe the value passes on the move alone.
        let belief = if entry.bound == Bound::None { Belief::Moves } else { belief };
        let known = self.probe(told.key);
        if known.is_some_and(|known| known.depth >= entry.depth) {
            return false;
        }
        let entry = match (belief, known) {
            (Belief::Values, _) => entry,
            (Belief::Moves, _) if entry.mv.is_none() => return false,
            (Belief::Moves, Some(known)) => Entry { mv: entry.mv, ..known },
            (Belief::Moves, None) => Entry { depth: 0, ..entry.move_alone() },
        };
        self.put(told.key, entry)
    }

    /// Writes an entry in the place of its position, or of a less valuable one. Returns false if there is none.
    fn put(&self, key: u64, entry: Entry) -> bool {
        let cluster = self.cluster(key);
        let data = entry.pack();
        let worth = |i: usize| {
            let old_data = cluster.data[i].load(Relaxed);
            let old = Entry::unpack(old_data);
            match old_data {
                0 => i32::MIN + 1,
                _ if cluster.keys[i].load(Relaxed) ^ fold(old_data) == key as u16 => i32::MIN,
                _ => old.depth - 4 * i32::from((entry.age + AGES - old.age) % AGES),
            }
        };
        let Some(place) = (0..3).min_by_key(|i| worth(*i)).filter(|i| worth(*i) < entry.depth.max(1)) else {
            return false;
        };
        cluster.data[place].store(data, Relaxed);
        cluster.keys[place].store(key as u16 ^ fold(data), Relaxed);
        true
    }

    /// Returns the share of entries of this search, in thousandths, by a sample.
    pub(super) fn per_mille_full(&self) -> usize {
        let age = self.age.load(Relaxed);
        let sample = &self.clusters[..self.clusters.len().min(1000)];
        let current = |data: &AtomicU64| {
            let data = data.load(Relaxed);
            data != 0 && Entry::unpack(data).age == age
        };
        let used: usize = sample.iter().map(|c| c.data.iter().filter(|d| current(d)).count()).sum();
        used * 1000 / (sample.len() * 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_entry_round_trips() {
        let table = Table::new(1);
        let mv = Move::from_bits(0x1234);
        table.store(0xdead_beef_cafe_f00d, 3, mv, value::mated_in(7), -250, 12, Bound::Lower, true);
        let entry = table.probe(0xdead_beef_cafe_f00d).expect("it was stored");
        assert_eq!((entry.mv, entry.value_at(3), entry.evaluation), (mv, value::mated_in(7), -250));
        assert_eq!((entry.depth, entry.bound, entry.principal), (12, Bound::Lower, true));
        assert_eq!(entry.value_at(5), value::mated_in(9), "two plies further from the root, the mate is further too");
        assert!(table.probe(0xdead_beef_cafe_f00c).is_none());
    }
}
