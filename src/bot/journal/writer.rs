//! The writing thread.
//!
//! The jobs queued during a transaction go into the next one together, and callers get their
//! answers after the commit. A failed job leaves no trace and does not disturb its neighbours.
//!
//! If the disk is full or read-only, callers get an error at once, because play must go on; the
//! jobs are kept, in their order, and done when the disk works again. The log reports this once. If
//! the disk hangs, the queue is bounded; the log reports dropped entries.
//!
//! A panic costs only the entry with the panic.

use std::{
    collections::{HashMap, VecDeque},
    fs::File,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{
    GameKey, JournalError,
    queue::{Job, JobQueue, WaitingJobs},
    schema,
    store::{KnownLine, Store},
};
use crate::metrics;

const BATCH: usize = 256;

/// Number of transactions, and idle time, before the write-ahead log is moved into the database.
const LOGGED: u32 = 500;
const QUIET: Duration = Duration::from_secs(1);

/// Length of the log, in pages of 4 KiB, from which on the writer itself helps: without a rest of the
/// writer the other thread cannot reach the log's end.
const LONG_LOG: u32 = 8000;

/// Interval between attempts on a failing disk, and the most jobs kept meanwhile; then the oldest is dropped.
const RETRY: Duration = Duration::from_secs(1);
const MOST_KEPT: usize = if cfg!(test) { 100 } else { 100_000 };

struct Entry<T, W> {
    /// Name in the log, for an entry without a waiting caller.
    what: Option<&'static str>,
    work: W,
    value: Option<T>,
    writes: bool,
    /// `None` without a caller, and after an answer; the receiver may be gone.
    answer: Option<oneshot::Sender<Result<T, JournalError>>>,
}

impl<T, W> Job for Entry<T, W>
where
    T: Send,
    W: FnMut(&mut Store<'_>) -> Result<T, JournalError> + Send,
{
    fn write(&mut self, store: &mut Store<'_>) -> Result<(), JournalError> {
        self.value = Some(store.whole(&mut self.work)?);
        Ok(())
    }

    fn answer(&mut self, outcome: Result<(), JournalError>) {
        if let Some(answer) = self.answer.take() {
            let _ = answer.send(outcome.and_then(|()| self.value.take().ok_or(JournalError::Closed)));
            return;
        }
        match (self.what, outcome) {
            // It is kept, and the writer has reported the disk.
            (_, Ok(()) | Err(JournalError::Unwritable(_))) | (None, _) => (),
            (Some(what), Err(error)) => tracing::error!("journal: {what} not written: {error}"),
        }
    }

    fn is_awaited(&self) -> bool {
        self.answer.is_some()
    }

    fn is_kept(&self) -> bool {
        self.writes
    }
}

/// The way to the writing thread. The thread ends when every copy is gone and the queue is empty.
#[derive(Clone)]
pub(super) struct Writer {
    jobs: JobQueue,
    /// Connection for moves of the log into the database. The lock matters: SQLite fails the second of two moves at once.
    log: Arc<Mutex<Connection>>,
}

impl Writer {
    /// Starts the thread with the `lock` of the journal. A second thread keeps the log short: no move waits for it.
    pub(super) fn start(connection: Connection, second: Connection, lock: File) -> Result<Self, JournalError> {
        connection.pragma_update(None, "wal_autocheckpoint", LONG_LOG)?;
        connection.set_prepared_statement_cache_capacity(64);
        let failed = |error: std::io::Error| JournalError::Thread(error.to_string());
        let (jobs, queue) = JobQueue::new();
        let (due, is_due) = mpsc::sync_channel(1);
        let spawn = |name: &str| thread::Builder::new().name(name.to_owned());
        let thread = WriterThread { connection, lines: HashMap::new(), kept: VecDeque::new(), log_is_due: due };
        let run = move || {
            thread.run(&queue);
            drop(lock);
        };
        spawn("journal").spawn(run).map_err(failed)?;
        let log = Arc::new(Mutex::new(second));
        let writer = Self { jobs, log: Arc::clone(&log) };
        spawn("journal-log").spawn(move || shorten_log(&log, &is_due)).map_err(failed)?;
        Ok(writer)
    }

    pub(super) async fn empty_log(&self) -> Result<(), JournalError> {
        let log = Arc::clone(&self.log);
        let emptied = tokio::task::spawn_blocking(move || schema::empty_log(&held(&log))).await;
        emptied.map_err(|_| JournalError::Closed)?
    }

    /// Does `work` and returns its value after the commit. If the disk fails, the error comes at once, and the work is kept.
    pub(super) fn call<T, W>(&self, work: W) -> impl Future<Output = Result<T, JournalError>> + use<T, W>
    where
        T: Send + 'static,
        W: FnMut(&mut Store<'_>) -> Result<T, JournalError> + Send + 'static,
    {
        self.send(work, true)
    }

    /// Returns the value of `question`, which changes nothing, after the commit of all earlier entries. If the disk fails, the
    /// error comes at once, and nothing is kept.
    pub(super) fn ask<T, W>(&self, question: W) -> impl Future<Output = Result<T, JournalError>> + use<T, W>
    where
        T: Send + 'static,
        W: FnMut(&mut Store<'_>) -> Result<T, JournalError> + Send + 'static,
    {
        self.send(question, false)
    }

    /// The job is queued before the returned future is polled: entries are written in the order of the calls.
    fn send<T, W>(&self, work: W, writes: bool) -> impl Future<Output = Result<T, JournalError>> + use<T, W>
    where
        T: Send + 'static,
        W: FnMut(&mut Store<'_>) -> Result<T, JournalError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let asked = Instant::now();
        let entry = Entry { what: None, work, value: None, writes, answer: Some(answer) };
        let queued = self.jobs.add(Box::new(entry));
        async move {
            queued?;
            let outcome = answered.await.map_err(|_| JournalError::Closed)?;
            metrics::journal_took(asked.elapsed());
            outcome
        }
    }

    /// Does `work` some time soon; a failure is only logged.
    pub(super) fn note(
        &self,
        what: &'static str,
        work: impl FnMut(&mut Store<'_>) -> Result<(), JournalError> + Send + 'static,
    ) {
        let entry = Entry { what: Some(what), work, value: None::<()>, writes: true, answer: None };
        // A full queue is counted, and logged with the rest.
        if let Err(JournalError::Closed) = self.jobs.add(Box::new(entry)) {
            tracing::error!("journal: {what} not written: the journal is closed");
        }
    }
}

struct WriterThread {
    connection: Connection,
    lines: HashMap<GameKey, KnownLine>,
    /// Jobs kept for later, oldest first.
    kept: VecDeque<Box<dyn Job>>,
    log_is_due: mpsc::SyncSender<()>,
}

impl WriterThread {
    fn run(mut self, queue: &WaitingJobs) {
        let mut logged = 0;
        loop {
            let patience = match (self.kept.is_empty(), logged) {
                (true, 0) => None,
                (true, _) => Some(QUIET),
                (false, _) => Some(RETRY),
            };
            let Some(batch) = queue.next(patience, BATCH) else { return self.end() };
            let before = self.kept.len();
            if !batch.is_empty() {
                self.kept.extend(batch);
                self.write_after(before);
                logged += 1;
                let lost = queue.take_lost();
                if lost > 0 {
                    tracing::error!("journal: {lost} entries lost while the disk hung");
                }
            } else if before > 0 {
                self.write_after(before);
            } else {
                logged = LOGGED;
            }
            if logged >= LOGGED {
                // An earlier request may still wait; one is enough.
                let _ = self.log_is_due.try_send(());
                logged = 0;
            }
        }
    }

    /// Writes the kept jobs; the first `was_kept` have waited for the disk. A panic undoes all of them, and they are tried once more.
    fn write_after(&mut self, was_kept: usize) {
        for _ in 0..2 {
            if catch_unwind(AssertUnwindSafe(|| self.write_all(was_kept))).is_ok() {
                return;
            }
            tracing::error!("the journal's thread panicked, a defect of this program; continuing");
            self.lines.clear();
        }
    }

    fn write_all(&mut self, was_kept: usize) {
        tracing::trace!(target: "concilio::task", task = "journal", "writing");
        match self.commit() {
            Err(JournalError::Unwritable(reason)) => {
                if was_kept == 0 {
                    tracing::error!(
                        "THE JOURNAL CANNOT BE WRITTEN: {reason}. Play goes on, and entries are kept in memory: free disk space or make the file writable before this program stops"
                    );
                }
                self.kept.retain(|job| job.is_kept());
                let too_many = self.kept.len().saturating_sub(MOST_KEPT);
                if too_many > 0 {
                    tracing::error!("journal: {too_many} entries lost: too many to keep in memory");
                    self.kept.drain(..too_many);
                }
            }
            Ok(()) if was_kept > 0 => {
                tracing::warn!("the journal is written again; {was_kept} kept entries are in it")
            }
            _ => (),
        }
    }

    /// Does the kept jobs in one transaction and answers them. An error is [`JournalError::Unwritable`]: none is done.
    fn commit(&mut self) -> Result<(), JournalError> {
        // Savepoints cost a third of a transaction, and jobs rarely fail: only a second attempt uses them.
        let outcomes = match self.attempt(false) {
            Ok(outcomes) if outcomes.iter().any(Result::is_err) => self.attempt(true),
            outcomes => outcomes,
        };
        match &outcomes {
            // The jobs are done, whatever happens to their answers.
            Ok(outcomes) => {
                let done = std::mem::take(&mut self.kept);
                done.into_iter().zip(outcomes).for_each(|(mut job, outcome)| job.answer(outcome.clone()));
            }
            Err(error) => {
                self.lines.clear();
                self.kept.iter_mut().for_each(|job| job.answer(Err(error.clone())));
            }
        }
        outcomes.map(drop)
    }

    /// Returns the outcome of each kept job after a transaction. Without savepoints nothing is committed if one fails.
    fn attempt(&mut self, saves: bool) -> Result<Vec<Result<(), JournalError>>, JournalError> {
        let begun = Store::begin(&self.connection, &mut self.lines, saves);
        let mut store = begun.map_err(|error| JournalError::Unwritable(error.to_string()))?;
        let mut outcomes = Vec::with_capacity(self.kept.len());
        for job in &mut self.kept {
            match job.write(&mut store) {
                // SQLite may have undone all by itself; dropping the transaction makes sure.
                Err(JournalError::Unwritable(reason)) => return Err(JournalError::Unwritable(reason)),
                // Later jobs would be written at once, and again with the rest.
                Err(JournalError::Sqlite(reason)) if store.is_undone() => return Err(JournalError::Unwritable(reason)),
                Ok(()) if store.is_undone() => {
                    return Err(JournalError::Unwritable("SQLite undid the transaction".to_owned()));
                }
                outcome => outcomes.push(outcome),
            }
            if !saves && outcomes.last().is_some_and(Result::is_err) {
                return Ok(outcomes);
            }
        }
        store.commit()?;
        Ok(outcomes)
    }

    /// Tries the kept jobs a last time; all handles are gone.
    fn end(mut self) {
        if !self.kept.is_empty() {
            self.write_after(self.kept.len());
        }
        if !self.kept.is_empty() {
            tracing::error!("journal: {} entries lost: the disk failed to the end", self.kept.len());
        }
    }
}

fn shorten_log(log: &Mutex<Connection>, is_due: &mpsc::Receiver<()>) {
    for () in is_due {
        if let Err(error) = held(log).execute_batch("PRAGMA wal_checkpoint(PASSIVE)") {
            tracing::warn!("journal: cannot move the write-ahead log into the database: {error}");
        }
    }
}

/// Locks the connection. A panic of another holder leaves it usable.
fn held(log: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}
