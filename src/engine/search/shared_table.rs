//! A transposition table for several engines of one evaluation.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
};

use super::{Belief, EngineOptions, TableBatch, table::Table};
use crate::evaluation::Recipe;

/// A table for engines on several threads. It belongs to one evaluation, because scores of different ones are not comparable.
#[derive(Clone)]
pub struct SharedTable {
    pub(super) evaluation: (Recipe, i32),
    pub(super) table: Arc<Table>,
    hash: usize,
    number: u64,
}

impl SharedTable {
    /// Creates a table of `options.hash` MiB for all engines that evaluate by `options`.
    pub fn new(options: &EngineOptions) -> Self {
        let table = Arc::new(Table::new(options.hash));
        Self { evaluation: evaluation(options), table, hash: options.hash, number: next_number() }
    }

    /// Returns a table in the memory of this one, which the next search clears; `None` if an engine uses this one, or if it has
    /// another size or evaluation.
    pub fn renewed(&self, options: &EngineOptions) -> Option<Self> {
        if !self.is_unused() || self.hash != options.hash || !self.suits(options) {
            return None;
        }
        self.table.forget();
        Some(Self { number: next_number(), ..self.clone() })
    }

    /// Returns true if there is no clone of this table.
    pub fn is_unused(&self) -> bool {
        Arc::strong_count(&self.table) == 1
    }

    pub fn hash(&self) -> usize {
        self.hash
    }

    /// Returns a number unique among the tables of this process.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Forgets everything before the next search, which belongs to another game, whichever engine
    /// starts it. Clearing begins at once on another thread: a large table takes a second, which
    /// must not be on a clock.
    pub fn forget(&self) {
        self.table.forget();
        let table = Arc::clone(&self.table);
        // Without another thread the next search clears it.
        let _ = thread::Builder::new().name("forget".to_owned()).spawn(move || table.clear_outdated());
    }

    /// Waits until the table is cleared, which writes to all of its memory.
    pub fn finish_forgetting(&self) {
        self.table.clear_outdated();
    }

    /// Keeps up to `entries` of its deepest new entries for [`Self::tell`]; 0, the default, keeps
    /// none.
    pub fn keep_for_others(&self, entries: usize) {
        self.table.outbox.open(entries);
    }

    /// Returns the deepest entries of the running search since the last call; `None` if there are
    /// none.
    pub fn tell(&self) -> Option<TableBatch> {
        let (root, entries) = (self.table.root(), self.table.outbox.empty());
        (!entries.is_empty()).then_some(TableBatch { root, entries })
    }

    /// Takes entries from a table of the same evaluation, if they belong to the running search and
    /// are deeper than the own ones. Returns the number of entries taken.
    pub fn hear(&self, batch: &TableBatch, belief: Belief) -> usize {
        if batch.root != self.table.root() {
            return 0;
        }
        batch.entries.iter().filter(|entry| self.table.take(**entry, belief)).count()
    }

    /// Does the same and passes accepted entries on, as far as they are trusted: for a table
    /// between others.
    pub fn relay(&self, batch: &TableBatch, belief: Belief) -> usize {
        if batch.root != self.table.root() {
            return 0;
        }
        let taken = batch.entries.iter().filter(|entry| self.table.take(**entry, belief));
        taken.inspect(|entry| self.table.outbox.pass_on(**entry, belief)).count()
    }

    /// Returns true if both tables hold values of the same evaluation.
    pub fn evaluates_as(&self, other: &Self) -> bool {
        self.evaluation == other.evaluation
    }

    /// Returns true if engines with these options may share it.
    pub fn suits(&self, options: &EngineOptions) -> bool {
        self.evaluation == evaluation(options)
    }
}

fn next_number() -> u64 {
    static TABLES: AtomicU64 = AtomicU64::new(0);
    TABLES.fetch_add(1, Relaxed)
}

/// Returns everything that the values in a table depend on.
fn evaluation(options: &EngineOptions) -> (Recipe, i32) {
    (options.recipe(), options.contempt)
}

impl std::fmt::Debug for SharedTable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedTable").field("evaluation", &self.evaluation).finish_non_exhaustive()
    }
}
