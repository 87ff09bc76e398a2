//! A seat: one elector on a thread of its own, behind a handle.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    time::{Duration, Instant},
};

use tokio::sync::mpsc::UnboundedSender;

use super::{Elector, ElectorFailure, ElectorSpec, Job, backoff::Backoff};
use crate::{
    chess::{Proposal, SearchId},
    engine::SharedTable,
};

/// What a seat tells the council.
#[derive(Clone, Debug)]
pub struct Report {
    /// The number the council gave this search.
    pub process: usize,
    /// The search it is about.
    pub search: SearchId,
    /// What is new.
    pub news: News,
}

/// What is new of a search.
#[derive(Clone, Debug)]
pub enum News {
    /// An iteration was completed.
    Proposal(Proposal),
    /// The search is over; nothing more will come of it.
    Finished,
    /// The elector failed; nothing more will come of this search.
    Failed(String),
}

enum Command {
    Search { process: usize, job: Box<Job>, flags: Arc<Flags>, reports: UnboundedSender<Report> },
    NewGame,
}

/// What the handle and the thread know of one search.
#[derive(Debug, Default)]
struct Flags {
    stop: AtomicBool,
    over: AtomicBool,
}

/// An elector that is still at work this long after it was told to stop is given up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(3);

/// The handle of a seat. Dropping it stops the search and ends the thread as soon as the elector lets it.
#[derive(Debug)]
pub struct Seat {
    spec: ElectorSpec,
    table: Option<SharedTable>,
    commands: mpsc::Sender<Command>,
    /// Of the newest search.
    flags: Arc<Flags>,
    told_to_stop: Option<Instant>,
}

impl Seat {
    /// Opens a seat. The elector starts at once, on its own thread: an engine may need a while before it can search.
    pub(super) fn open(spec: ElectorSpec, table: Option<SharedTable>) -> Self {
        let (commands, inbox) = mpsc::channel();
        let (occupant, shared) = (spec.clone(), table.clone());
        let started = std::thread::Builder::new()
            .name(format!("elector {}", spec.name))
            .stack_size(8 << 20)
            .spawn(move || Occupant::new(occupant, shared).serve(&inbox));
        if let Err(error) = started {
            // The inbox is gone, so every search of this seat will be reported as failed.
            tracing::error!(elector = %spec.name, %error, "no thread for an elector");
        }
        Self { spec, table, commands, flags: Arc::default(), told_to_stop: None }
    }

    /// Who sits here.
    pub fn spec(&self) -> &ElectorSpec {
        &self.spec
    }

    /// Begins a search; reports go to `reports` under the number `process`. A search still running is told to stop first;
    /// an elector that did not stop when it was told to is replaced.
    pub fn search(&mut self, process: usize, job: Job, reports: &UnboundedSender<Report>) {
        self.stop();
        if self.is_stuck() {
            tracing::warn!(elector = %self.spec.name, "does not stop; another one takes its seat");
            *self = Self::open(self.spec.clone(), self.table.clone());
        }
        self.flags = Arc::default();
        self.told_to_stop = None;
        let search = job.task.id.clone();
        let flags = Arc::clone(&self.flags);
        let command = Command::Search { process, job: Box::new(job), flags, reports: reports.clone() };
        if self.commands.send(command).is_err() {
            self.flags.over.store(true, Relaxed);
            let news = News::Failed("its thread has ended".to_owned());
            let _ = reports.send(Report { process, search, news });
        }
    }

    /// Tells the running search to stop; its last proposal stands.
    pub fn stop(&mut self) {
        self.flags.stop.store(true, Relaxed);
        self.told_to_stop.get_or_insert_with(Instant::now);
    }

    /// Whether it was told to stop, and long enough ago.
    fn is_stuck(&self) -> bool {
        let running = Arc::strong_count(&self.flags) > 1 && !self.flags.over.load(Relaxed);
        running && self.told_to_stop.is_some_and(|since| since.elapsed() > GIVEN_UP_AFTER)
    }

    /// Forgets the last game.
    pub fn new_game(&self) {
        let _ = self.commands.send(Command::NewGame);
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.stop();
    }
}

/// What lives on a seat's thread. An elector that failed is started afresh.
struct Occupant {
    spec: ElectorSpec,
    table: Option<SharedTable>,
    elector: Option<Box<dyn Elector>>,
    backoff: Backoff,
}

impl Occupant {
    fn new(spec: ElectorSpec, table: Option<SharedTable>) -> Self {
        Self { spec, table, elector: None, backoff: Backoff::default() }
    }

    fn serve(mut self, inbox: &mpsc::Receiver<Command>) {
        yield_to_the_daemon();
        // One that does not start is tried again with the first search, which can report it.
        self.elector = self.spec.start(self.table.as_ref()).ok();
        for command in inbox {
            match command {
                Command::NewGame => {
                    if let Some(elector) = &mut self.elector {
                        elector.new_game();
                    }
                }
                Command::Search { process, job, flags, reports } => {
                    let news = self.answer(process, &job, &flags.stop, &reports);
                    flags.over.store(true, Relaxed);
                    let _ = reports.send(Report { process, search: job.task.id, news });
                }
            }
        }
    }

    /// Searches, and says how it ended.
    fn answer(&mut self, process: usize, job: &Job, stop: &AtomicBool, reports: &UnboundedSender<Report>) -> News {
        let has_played = self.elector.is_some();
        let mut searched = self.search(process, job, stop, reports);
        if searched.is_err() && has_played && !stop.load(Relaxed) {
            // An engine that has died since the last search costs a new start, not the vote.
            searched = self.search(process, job, stop, reports);
        }
        match searched {
            Ok(()) => News::Finished,
            Err(failure) => News::Failed(failure.to_string()),
        }
    }

    fn search(
        &mut self,
        process: usize,
        job: &Job,
        stop: &AtomicBool,
        reports: &UnboundedSender<Report>,
    ) -> Result<(), ElectorFailure> {
        let elector = match &mut self.elector {
            Some(elector) => elector,
            vacant => {
                self.backoff.check(Instant::now())?;
                let started = self.spec.start(self.table.as_ref());
                vacant.insert(started.inspect_err(|_| self.backoff.failed(Instant::now()))?)
            }
        };
        let at_work = job.meter.work();
        let searched = elector.search(job, stop, &mut |proposal| {
            // Wherever it was computed, nothing illegal passes this door.
            if job.task.line.is_legal(proposal.best) {
                let search = job.task.id.clone();
                let _ = reports.send(Report { process, search, news: News::Proposal(proposal) });
            } else {
                let (best, fen) = (proposal.best, job.task.line.fen());
                tracing::error!(elector = %self.spec.name, %best, fen, "illegal proposal dropped");
            }
        });
        drop(at_work);
        match &searched {
            Ok(()) => self.backoff.worked(),
            Err(_) => {
                self.elector = None;
                self.backoff.failed(Instant::now());
            }
        }
        searched
    }
}

/// How much search threads give way to the daemon's own: enough that a move ready to be sent never waits for a search,
/// little enough that other programs do not starve the search.
const NICENESS: i32 = 5;

/// Gives way to the threads that talk to servers. Where the platform refuses, searches merely compete.
fn yield_to_the_daemon() {
    // On Linux niceness belongs to the thread; elsewhere it would be the whole process's, so it is left alone.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "search threads keep their priority");
    }
}
