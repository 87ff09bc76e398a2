//! The writing thread.
//!
//! Jobs that queued during a transaction go into the next one together, and callers get their
//! answers after the commit. A failed job leaves no trace and does not disturb its neighbours.
//!
//! If the disk is full or read-only, callers get an error at once, because play must go on; the
//! jobs are kept, in their order, and done when the disk works again. The log reports this once. If
//! the disk hangs, the queue is bounded to [`MOST_WAITING`] entries; further ones are dropped,
//! which is logged too.
//!
//! A panic costs the entry that panicked, and no other.

use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc},
    thread,
    time::{Duration, Instant},
};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{
    JournalError,
    job::WriterJob,
    lock::JournalLock,
    queue::{JobQueue, MOST_WAITING, Next, NotQueued, WaitingJobs},
    schema,
    store::{KnownLines, Store},
};
use crate::metrics;

/// Maximum number of jobs in a transaction.
const BATCH: usize = 256;

/// Transactions, and idle time, after which the write-ahead log is moved into the database.
const LOGGED: u32 = 500;
const QUIET: Duration = Duration::from_secs(1);

/// Pages of the log (of 4 KiB) from which on the writer itself helps: if it never rests, the other
/// thread cannot reach the log's end.
const LONG_LOG: u32 = 8000;

/// Interval between attempts on a failing disk, and the maximum number of jobs kept meanwhile; then
/// the oldest is dropped.
const RETRY: Duration = Duration::from_secs(1);
const MOST_KEPT: usize = if cfg!(test) { 100 } else { 100_000 };

/// Job with a caller that waits for its value.
struct Call<T, W> {
    work: W,
    value: Option<T>,
    writes: bool,
    /// `None` after an answer; the receiver may be gone.
    answer: Option<oneshot::Sender<Result<T, JournalError>>>,
}

impl<T, W> WriterJob for Call<T, W>
where
    T: Send,
    W: FnMut(&mut Store<'_>) -> Result<T, JournalError> + Send,
{
    fn write(&mut self, store: &mut Store<'_>) -> Result<(), JournalError> {
        self.value = Some(store.whole(&mut self.work)?);
        Ok(())
    }

    fn answer(&mut self, outcome: Result<(), JournalError>) {
        let outcome = outcome.and_then(|()| self.value.take().ok_or(JournalError::Closed));
        if let Some(answer) = self.answer.take() {
            let _ = answer.send(outcome);
        }
    }

    fn is_awaited(&self) -> bool {
        true
    }

    fn is_kept(&self) -> bool {
        self.writes
    }
}

/// Job without a caller that waits.
struct Note<W> {
    what: &'static str,
    work: W,
}

impl<W> WriterJob for Note<W>
where
    W: FnMut(&mut Store<'_>) -> Result<(), JournalError> + Send,
{
    fn write(&mut self, store: &mut Store<'_>) -> Result<(), JournalError> {
        store.whole(&mut self.work)
    }

    fn answer(&mut self, outcome: Result<(), JournalError>) {
        match outcome {
            // It is kept, and the writer has told.
            Ok(()) | Err(JournalError::Unwritable(_)) => (),
            Err(error) => tracing::error!("journal: {} not written: {error}", self.what),
        }
    }

    fn is_awaited(&self) -> bool {
        false
    }

    fn is_kept(&self) -> bool {
        true
    }
}

/// The way to the writing thread. The thread ends when every copy is gone and the queue is empty.
#[derive(Clone)]
pub(super) struct Writer {
    jobs: JobQueue,
    /// Connection that moves the write-ahead log into the database. One at a time: of two at once
    /// SQLite fails the second.
    log: Arc<Mutex<Connection>>,
}

impl Writer {
    /// Starts the thread, which keeps the `lock` as long as it lives, and one that keeps the write-ahead log short: that waits
    /// for the disk, so it has a connection of its own and no move waits for it.
    pub(super) fn start(connection: Connection, second: Connection, lock: JournalLock) -> Result<Self, JournalError> {
        connection.pragma_update(None, "wal_autocheckpoint", LONG_LOG)?;
        connection.set_prepared_statement_cache_capacity(64);
        let failed = |error: std::io::Error| JournalError::Thread(error.to_string());
        let (jobs, queue) = JobQueue::new();
        let (due, is_due) = mpsc::sync_channel(1);
        let spawn = |name: &str| thread::Builder::new().name(name.to_owned());
        let thread = WriterThread { connection, lines: KnownLines::default(), kept: VecDeque::new(), log_is_due: due };
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

    /// Brings the whole write-ahead log into the database and empties it.
    pub(super) async fn empty_log(&self) -> Result<(), JournalError> {
        let log = Arc::clone(&self.log);
        let emptied = tokio::task::spawn_blocking(move || schema::empty_log(&held(&log))).await;
        emptied.map_err(|_| JournalError::Closed)?
    }

    /// Does `work` and returns its value after it is committed. Where the disk takes nothing, returns
    /// [`JournalError::Unwritable`] at once and keeps the work for later.
    pub(super) fn call<T, W>(&self, work: W) -> impl Future<Output = Result<T, JournalError>> + use<T, W>
    where
        T: Send + 'static,
        W: FnMut(&mut Store<'_>) -> Result<T, JournalError> + Send + 'static,
    {
        self.send(work, true)
    }

    /// The value of `question`, which changes nothing, after all that was queued before it is committed. Where the disk takes nothing,
    /// returns [`JournalError::Unwritable`] at once, and nothing is kept.
    pub(super) fn ask<T, W>(&self, question: W) -> impl Future<Output = Result<T, JournalError>> + use<T, W>
    where
        T: Send + 'static,
        W: FnMut(&mut Store<'_>) -> Result<T, JournalError> + Send + 'static,
    {
        self.send(question, false)
    }

    /// The job is queued at once, before the returned future is polled: entries are written in the
    /// order of the calls.
    fn send<T, W>(&self, work: W, writes: bool) -> impl Future<Output = Result<T, JournalError>> + use<T, W>
    where
        T: Send + 'static,
        W: FnMut(&mut Store<'_>) -> Result<T, JournalError> + Send + 'static,
    {
        let (answer, answered) = oneshot::channel();
        let asked = Instant::now();
        let job = Call { work, value: None, writes, answer: Some(answer) };
        let queued = self.queue(Box::new(job));
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
        // A full queue is counted, and logged with the rest.
        if let Err(JournalError::Closed) = self.queue(Box::new(Note { what, work })) {
            tracing::error!("journal: {what} not written: the journal is closed");
        }
    }

    fn queue(&self, job: Box<dyn WriterJob>) -> Result<(), JournalError> {
        self.jobs.add(job).map_err(|refused| match refused {
            NotQueued::Closed => JournalError::Closed,
            NotQueued::Full => {
                JournalError::Unwritable(format!("its disk hangs, and {MOST_WAITING} entries wait for it"))
            }
        })
    }
}

struct WriterThread {
    connection: Connection,
    lines: KnownLines,
    /// Jobs that the disk did not take yet, oldest first.
    kept: VecDeque<Box<dyn WriterJob>>,
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
            match queue.next(patience, BATCH) {
                Next::Jobs(batch) => {
                    let before = self.kept.len();
                    self.kept.extend(batch);
                    self.write_after(before);
                    logged += 1;
                    let lost = queue.take_lost();
                    if lost > 0 {
                        tracing::error!("journal: {lost} entries lost while the disk hung");
                    }
                }
                Next::Nothing if self.kept.is_empty() => logged = LOGGED,
                Next::Nothing => self.write_after(self.kept.len()),
                Next::End => return self.end(),
            }
            if logged >= LOGGED {
                // Where the last one is not done yet, the next one will do.
                let _ = self.log_is_due.try_send(());
                logged = 0;
            }
        }
    }

    /// Writes what is kept, of which the first `was_kept` have waited for the disk. After a panic nothing of it is done, and it is tried
    /// once more.
    fn write_after(&mut self, was_kept: usize) {
        for _ in 0..2 {
            if catch_unwind(AssertUnwindSafe(|| self.write_all(was_kept))).is_ok() {
                return;
            }
            tracing::error!("the journal's thread panicked, a defect of this program; continuing");
            self.lines.forget();
        }
    }

    /// Writes what is kept; the disk may not take it.
    fn write_all(&mut self, was_kept: usize) {
        tracing::trace!(target: "concilio::task", task = "journal", "writing");
        match commit(&self.connection, &mut self.lines, &mut self.kept) {
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

/// The life of the thread beside it.
fn shorten_log(log: &Mutex<Connection>, is_due: &mpsc::Receiver<()>) {
    for () in is_due {
        if let Err(error) = held(log).execute_batch("PRAGMA wal_checkpoint(PASSIVE)") {
            tracing::warn!("journal: cannot move the write-ahead log into the database: {error}");
        }
    }
}

/// A connection that panicked in other hands is as good as before: what it did is done, or is not.
fn held(log: &Mutex<Connection>) -> MutexGuard<'_, Connection> {
    log.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Does the jobs in one transaction and answers them; those that are done are gone then. An error is [`JournalError::Unwritable`] and means
/// that none of them is done.
fn commit(
    connection: &Connection,
    lines: &mut KnownLines,
    jobs: &mut VecDeque<Box<dyn WriterJob>>,
) -> Result<(), JournalError> {
    let outcomes = write(connection, lines, jobs);
    match &outcomes {
        // They are done, whatever their answers come to.
        Ok(outcomes) => {
            let done = std::mem::take(jobs);
            done.into_iter().zip(outcomes).for_each(|(mut job, outcome)| job.answer(outcome.clone()));
        }
        Err(error) => {
            lines.forget();
            jobs.iter_mut().for_each(|job| job.answer(Err(error.clone())));
        }
    }
    outcomes.map(drop)
}

/// Returns the outcome of each job, after their common commit. Savepoints cost a third of a transaction, and nearly no job fails: they are
/// used only where one has failed without them.
fn write(
    connection: &Connection,
    lines: &mut KnownLines,
    jobs: &mut VecDeque<Box<dyn WriterJob>>,
) -> Result<Vec<Result<(), JournalError>>, JournalError> {
    let outcomes = attempt(connection, lines, jobs, false)?;
    match outcomes.iter().all(Result::is_ok) {
        true => Ok(outcomes),
        false => attempt(connection, lines, jobs, true),
    }
}

/// Does the jobs in one transaction. Without savepoints nothing is committed if one fails.
fn attempt(
    connection: &Connection,
    lines: &mut KnownLines,
    jobs: &mut VecDeque<Box<dyn WriterJob>>,
    saves: bool,
) -> Result<Vec<Result<(), JournalError>>, JournalError> {
    let begun = Store::begin(connection, lines, saves);
    let mut store = begun.map_err(|error| JournalError::Unwritable(error.to_string()))?;
    let mut outcomes = Vec::with_capacity(jobs.len());
    for job in jobs.iter_mut() {
        match job.write(&mut store) {
            // SQLite may have undone all by itself. Dropping the transaction makes sure of it.
            Err(JournalError::Unwritable(reason)) => return Err(JournalError::Unwritable(reason)),
            // What came after it would be written at once, and again with the rest.
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
