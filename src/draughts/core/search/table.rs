//! The transposition table: results for positions that may be reached by several ways.

/// The relation of a stored value to the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bound {
    Exact,
    Lower,
    Upper,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    /// All bits of the position's key, so that a move never comes from another position.
    key: u64,
    /// The value for the side to move; wins are counted from this position, not from the root.
    pub(super) value: i16,
    /// The search depth, in plies.
    pub(super) depth: i8,
    pub(super) bound: Bound,
    /// The best move as its place among the legal moves.
    pub(super) best: u8,
    /// The number of the search that stored it.
    age: u8,
}

/// A table of buckets of two: in each the deeper result stays in the first place, the latest goes to the second.
pub(super) struct Table {
    entries: Vec<Option<[Entry; 2]>>,
    age: u8,
}

impl Table {
    /// A table of as many MiB; at least one.
    pub(super) fn new(mib: usize) -> Self {
        let room = (mib.max(1) << 20) / size_of::<Option<[Entry; 2]>>();
        // A power of two, so that the low bits of a key are a place.
        let buckets = 1 << room.ilog2();
        Self { entries: vec![None; buckets], age: 0 }
    }

    pub(super) fn clear(&mut self) {
        self.entries.fill(None);
        self.age = 0;
    }

    /// Allows entries of earlier searches to be overwritten.
    pub(super) fn next_search(&mut self) {
        self.age = self.age.wrapping_add(1);
    }

    fn place(&self, key: u64) -> usize {
        key as usize & (self.entries.len() - 1)
    }

    pub(super) fn probe(&self, key: u64) -> Option<Entry> {
        self.entries[self.place(key)].as_ref()?.iter().find(|entry| entry.key == key).copied()
    }

    pub(super) fn store(&mut self, key: u64, value: i32, depth: i32, bound: Bound, best: usize) {
        let new = Entry {
            key,
            value: value as i16,
            depth: depth.clamp(-1, 127) as i8,
            bound,
            best: best.min(255) as u8,
            age: self.age,
        };
        let place = self.place(key);
        let Some([deep, recent]) = &mut self.entries[place] else {
            self.entries[place] = Some([new, new]);
            return;
        };
        if deep.key == key || deep.age != self.age || deep.depth <= new.depth {
            if deep.key != key {
                *recent = *deep;
            }
            *deep = new;
        } else {
            *recent = new;
        }
    }
}
