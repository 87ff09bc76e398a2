//! Messages between a daemon and its workers about their transposition tables while they search one
//! position.
//!
//! The daemon is in the middle: a worker sends to the daemon alone, and entries that are news to
//! the daemon's table go on to the others with the daemon's own. A table is named by the daemon's
//! number for it, which stands for one council and one evaluation. Of a worker's entries only the
//! move is believed and passed on ([`Belief::Moves`]), so a lie costs some nodes and no score. A
//! worker believes its daemon, the only user of that table.
//!
//! Invariants: no machine sends or receives more than the budget in a second; all entries are of
//! the running search.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{identity::RunId, settings::ClusterSettings, wire::TableNews};
use engine::{Belief, SharedTable, TableBatch, TableEntry};

/// Limits on table messages between a daemon and a worker, each way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SyncBudget {
    /// Messages a second, at least 1.
    messages: u32,
    /// The most entries in a message, at least 1.
    pub entries: usize,
}

impl SyncBudget {
    /// Returns the budget of the settings; `None` if it allows no message.
    pub fn of(settings: &ClusterSettings) -> Option<Self> {
        let ClusterSettings { table_messages: messages, table_bytes: bytes, .. } = *settings;
        let entries = (bytes.checked_div(messages)? as usize / TableEntry::BYTES).min(TableNews::MOST_ENTRIES);
        (entries > 0).then_some(Self { messages, entries })
    }

    pub fn interval(&self) -> Duration {
        Duration::from_secs(1) / self.messages
    }
}

/// Returns the next news of these tables, in turn after the table of the last message.
pub(crate) fn next_news<'a, K: Ord + Copy + 'a>(
    tables: impl Iterator<Item = (K, &'a SharedTable)> + Clone,
    last: &mut Option<K>,
) -> Option<(K, TableBatch)> {
    let before = *last;
    let later = tables.clone().filter(|(key, _)| Some(*key) > before);
    let round = later.chain(tables.filter(|(key, _)| Some(*key) <= before));
    let (key, batch) = round.filter_map(|(key, table)| Some((key, table.tell()?))).next()?;
    *last = Some(key);
    Some((key, batch))
}

/// The daemon's shared tables, and the recent messages of each worker.
#[derive(Debug, Default)]
pub(crate) struct TableSync {
    /// Tables by number, each with its number of searching slots.
    tables: BTreeMap<u64, (SharedTable, usize)>,
    last: Option<u64>,
    /// For each worker, the start of the last second with messages, and their number since then.
    heard: BTreeMap<RunId, (Instant, u32)>,
}

impl TableSync {
    pub(crate) fn open(&mut self, table: &SharedTable, budget: &SyncBudget) {
        let (_, slots) = self.tables.entry(table.number()).or_insert_with(|| {
            table.keep_for_others(budget.entries);
            (table.clone(), 0)
        });
        *slots += 1;
    }

    pub(crate) fn close(&mut self, number: u64) {
        if let Some((table, slots)) = self.tables.get_mut(&number) {
            *slots -= 1;
            if *slots == 0 {
                table.keep_for_others(0);
                self.tables.remove(&number);
            }
        }
    }

    /// Returns the next batch, of the tables for which `is_searched` is true.
    pub(crate) fn next(&mut self, is_searched: impl Fn(u64) -> bool) -> Option<(u64, TableBatch)> {
        let tables = self.tables.iter().map(|(number, (table, _))| (*number, table));
        next_news(tables.filter(|(number, _)| is_searched(*number)).collect::<Vec<_>>().into_iter(), &mut self.last)
    }

    /// Takes a worker's news of a table; returns the number of new entries.
    pub(crate) fn hear(&mut self, now: Instant, from: RunId, news: &TableNews, budget: &SyncBudget) -> usize {
        self.heard.retain(|_, (since, _)| now.saturating_duration_since(*since) < Duration::from_secs(1));
        let (_, messages) = self.heard.entry(from).or_insert((now, 0));
        *messages += 1;
        // The messages of two seconds may arrive in one.
        let admitted = *messages <= 2 * budget.messages;
        let Some((table, _)) = self.tables.get(&news.table).filter(|_| admitted) else { return 0 };
        let mut batch = news.batch();
        batch.entries.truncate(budget.entries);
        table.relay(&batch, Belief::Moves)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::EngineOptions;

    fn budget(messages: u32, bytes: u32) -> Option<SyncBudget> {
        let settings = ClusterSettings { table_messages: messages, table_bytes: bytes, ..ClusterSettings::default() };
        SyncBudget::of(&settings)
    }

    #[test]
    fn budget_bounds_messages_and_entries() {
        let budget_of_20 = budget(20, 10_240).expect("some");
        assert_eq!((budget_of_20.interval(), budget_of_20.entries), (Duration::from_millis(50), 32));
        assert_eq!([budget(0, 10_240), budget(20, 0), budget(20, 100)], [None; 3]);
    }

    fn table() -> SharedTable {
        SharedTable::new(&EngineOptions { hash: 1, ..EngineOptions::default() })
    }

    /// Returns a batch of `entries` positions that the table does not know.
    fn news(table: &SharedTable, first: u64, entries: usize) -> TableNews {
        let keys = (first..).take(entries).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        // Exact, nine plies, a move.
        let data = 3 << 56 | 9 << 48 | 0x1234;
        let entries = keys.map(|key| TableEntry::new(key, data)).collect();
        TableNews::of(table.number(), &TableBatch { root: 0, entries })
    }

    #[test]
    fn relayed_entries_keep_the_budget() {
        let (table, budget) = (table(), budget(2, 128).expect("some"));
        let (ann, bob, now) = (RunId(1), RunId(2), Instant::now());
        let mut table_sync = TableSync::default();
        table_sync.open(&table, &budget);
        assert_eq!(table_sync.hear(now, ann, &news(&table, 1, 9), &budget), 4, "no more than a message may have");
        let told = table_sync.next(|_| true).expect("news");
        assert_eq!((told.0, told.1.entries.len()), (table.number(), 4));
        assert!(table_sync.next(|_| true).is_none(), "each is told once");
        let heard: Vec<usize> =
            (1..6).map(|number| table_sync.hear(now, ann, &news(&table, 100 * number, 1), &budget)).collect();
        assert_eq!(heard, [1, 1, 1, 0, 0], "a flood is not listened to");
        assert_eq!(table_sync.hear(now, bob, &news(&table, 1000, 1), &budget), 1, "another worker is");
        let later = now + Duration::from_secs(1);
        assert_eq!(table_sync.hear(later, ann, &news(&table, 2000, 1), &budget), 1);
    }

    #[test]
    fn unused_tables_are_not_sent() {
        let (table, budget) = (table(), budget(2, 128).expect("some"));
        let mut table_sync = TableSync::default();
        table_sync.open(&table, &budget);
        table_sync.hear(Instant::now(), RunId(1), &news(&table, 1, 1), &budget);
        assert!(table_sync.next(|_| false).is_none());
        assert!(table_sync.next(|number| number == table.number()).is_some());
        table_sync.close(table.number());
        assert_eq!(table_sync.hear(Instant::now(), RunId(1), &news(&table, 2, 1), &budget), 0);
    }
}
