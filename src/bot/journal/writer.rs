//! The one thread that writes.
//!
//! What queued while a transaction was running goes into the next one together, and everybody who waits is answered
//! after its commit. A job that fails leaves no trace of itself and does not disturb its neighbours.

use std::{sync::mpsc, thread, time::Duration};

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::{
    JournalError,
    ledger::{Ledger, Lines},
};

/// At most so many jobs share a transaction.
const BATCH: usize = 256;

/// The write-ahead log is brought into the database after so many transactions, or after so long without work.
const LOGGED: u32 = 500;
const QUIET: Duration = Duration::from_secs(1);

/// The log's pages (of 4 KiB) from which on the writer itself lends a hand: where it never rests, the other thread cannot
/// reach the log's end.
const LONG_LOG: u32 = 8000;

/// Work inside the transaction, or why there is none; what it returns is called after the commit with what came of it.
type Job = Box<dyn FnOnce(Result<&mut Ledger<'_>, JournalError>) -> Answer + Send>;
type Answer = Box<dyn FnOnce(Result<(), JournalError>)>;

/// The way to the writing thread. The thread ends when every copy is gone and the queue is empty.
#[derive(Clone)]
pub(super) struct Writer {
    jobs: mpsc::Sender<Job>,
}

impl Writer {
    /// Starts the thread, and one that keeps the write-ahead log short: that waits for the disk, so it has a connection of
    /// its own and no move waits for it.
    pub(super) fn start(connection: Connection, second: Connection) -> Result<Self, JournalError> {
        connection.pragma_update(None, "wal_autocheckpoint", LONG_LOG)?;
        let failed = |error: std::io::Error| JournalError::Thread(error.to_string());
        let (jobs, queue) = mpsc::channel();
        let (due, is_due) = mpsc::sync_channel(1);
        let spawn = |name: &str| thread::Builder::new().name(name.to_owned());
        spawn("journal").spawn(move || write(connection, &queue, &due)).map_err(failed)?;
        spawn("journal-log").spawn(move || shorten_log(&second, &is_due)).map_err(failed)?;
        Ok(Self { jobs })
    }

    /// Does `work` and returns its value after it is committed.
    pub(super) async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Ledger<'_>) -> Result<T, JournalError> + Send + 'static,
    ) -> Result<T, JournalError> {
        let (answer, answered) = oneshot::channel();
        let job: Job = Box::new(move |ledger| {
            let outcome = ledger.and_then(|ledger| ledger.whole(work));
            // Whoever asked may have gone away; the work is done all the same.
            Box::new(move |committed| drop(answer.send(committed.and(outcome))))
        });
        self.jobs.send(job).map_err(|_| JournalError::Closed)?;
        answered.await.map_err(|_| JournalError::Closed)?
    }

    /// Does `work` some time soon; a failure is only logged.
    pub(super) fn note(
        &self,
        what: &'static str,
        work: impl FnOnce(&mut Ledger<'_>) -> Result<(), JournalError> + Send + 'static,
    ) {
        let job: Job = Box::new(move |ledger| {
            let outcome = ledger.and_then(|ledger| ledger.whole(work));
            Box::new(move |committed| {
                if let Err(error) = committed.and(outcome) {
                    tracing::error!("journal: {what} was not written: {error}");
                }
            })
        });
        if self.jobs.send(job).is_err() {
            tracing::error!("journal: {what} was not written: the journal is closed");
        }
    }
}

/// The writing thread's life.
fn write(mut connection: Connection, queue: &mpsc::Receiver<Job>, log_is_due: &mpsc::SyncSender<()>) {
    let mut lines = Lines::default();
    let mut logged = 0;
    loop {
        let next = if logged == 0 {
            queue.recv().map_err(|_| mpsc::RecvTimeoutError::Disconnected)
        } else {
            queue.recv_timeout(QUIET)
        };
        match next {
            Ok(first) => {
                let batch: Vec<Job> = std::iter::once(first).chain(queue.try_iter()).take(BATCH).collect();
                commit(&mut connection, &mut lines, batch);
                logged += 1;
            }
            Err(mpsc::RecvTimeoutError::Timeout) => logged = LOGGED,
            Err(mpsc::RecvTimeoutError::Disconnected) => return,
        }
        if logged >= LOGGED {
            // Where the last one is not done yet, the next one will do.
            let _ = log_is_due.try_send(());
            logged = 0;
        }
    }
}

/// The life of the thread beside it.
fn shorten_log(connection: &Connection, is_due: &mpsc::Receiver<()>) {
    for () in is_due {
        if let Err(error) = connection.execute_batch("PRAGMA wal_checkpoint(PASSIVE)") {
            tracing::warn!("journal: the log could not be brought into the database: {error}");
        }
    }
}

/// Does a batch in one transaction and answers it.
fn commit(connection: &mut Connection, lines: &mut Lines, batch: Vec<Job>) {
    let mut answers: Vec<Answer> = Vec::with_capacity(batch.len());
    let outcome = match connection.transaction_with_behavior(TransactionBehavior::Immediate) {
        Ok(transaction) => {
            let mut ledger = Ledger::new(transaction, lines);
            answers.extend(batch.into_iter().map(|job| job(Ok(&mut ledger))));
            ledger.commit()
        }
        Err(error) => {
            let error = JournalError::from(error);
            answers.extend(batch.into_iter().map(|job| job(Err(error.clone()))));
            Err(error)
        }
    };
    if outcome.is_err() {
        lines.forget();
    }
    for answer in answers {
        answer(outcome.clone());
    }
}
