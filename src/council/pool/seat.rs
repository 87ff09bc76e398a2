//! A seat: one elector behind a handle, usually on a thread of its own.

use std::{
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    time::{Duration, Instant},
};

use tokio::sync::mpsc::UnboundedSender;

use super::{Elector, ElectorFailure, ElectorSpec, Job, backoff::Backoff, place::Place};
use chess::{ElectorName, Proposal, SearchId};
use engine::SharedTable;

/// What a seat tells the council.
#[derive(Clone, Debug)]
pub enum Report {
    /// An iteration was completed.
    Proposal(Proposal),
    /// The search is over; nothing more will come of it.
    Finished(SearchId, ElectorName),
    /// The elector failed; nothing more will come of this search.
    Failed(SearchId, ElectorName, String),
}

impl Report {
    /// The search it is about.
    pub fn search(&self) -> &SearchId {
        match self {
            Self::Proposal(proposal) => &proposal.search,
            Self::Finished(search, _) | Self::Failed(search, ..) => search,
        }
    }
}

/// The handle of a seat. Dropping it stops the search; a thread ends as soon as the elector lets it.
#[derive(Debug)]
pub struct Seat {
    spec: ElectorSpec,
    place: Box<dyn Place>,
}

impl Seat {
    /// Opens a seat on a thread of this process. The elector starts at once: an engine may need a while before it can
    /// search. `table` is searched with together with the other seats that were given it.
    pub fn here(spec: ElectorSpec, table: Option<&SharedTable>) -> Self {
        let thread = Thread::start(&spec, table);
        Self::at(spec, Box::new(thread))
    }

    /// Opens a seat at a place that is there already.
    pub(super) fn at(spec: ElectorSpec, place: Box<dyn Place>) -> Self {
        Self { spec, place }
    }

    /// Who sits here.
    pub fn spec(&self) -> &ElectorSpec {
        &self.spec
    }

    /// Begins a search; reports go to `reports`. A search still running is told to stop first.
    pub fn search(&mut self, job: Job, reports: &UnboundedSender<Report>) {
        self.place.search(job, reports);
    }

    /// Tells the running search to stop; its last proposal stands.
    pub fn stop(&self) {
        self.place.stop();
    }

    /// Forgets the last game.
    pub fn new_game(&self) {
        self.place.new_game();
    }
}

enum Command {
    Search(Box<Job>, Arc<Flags>, UnboundedSender<Report>),
    NewGame,
}

/// What the handle and the thread know of one search.
#[derive(Debug, Default)]
struct Flags {
    stop: AtomicBool,
    told_to_stop: OnceLock<Instant>,
    over: AtomicBool,
}

/// An elector that is still at work this long after it was told to stop is given up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(3);

/// A thread of this process as a place.
#[derive(Debug)]
pub(super) struct Thread {
    spec: ElectorSpec,
    table: Option<SharedTable>,
    commands: mpsc::Sender<Command>,
    /// Of the newest search; none has begun yet where there is none.
    flags: Option<Arc<Flags>>,
}

impl Thread {
    pub(super) fn start(spec: &ElectorSpec, table: Option<&SharedTable>) -> Self {
        let (commands, inbox) = mpsc::channel();
        let occupant = Occupant {
            spec: spec.clone(),
            table: table.cloned(),
            elector: None,
            backoff: Backoff::default(),
            priority: Priority::of_this_thread(),
        };
        let started = std::thread::Builder::new()
            .name(format!("elector {}", spec.name))
            .stack_size(8 << 20)
            .spawn(move || occupant.serve(&inbox));
        if let Err(error) = started {
            // The inbox is gone, so every search of this seat will be reported as failed.
            tracing::error!(elector = %spec.name, %error, "no thread for an elector");
        }
        Self { spec: spec.clone(), table: table.cloned(), commands, flags: None }
    }

    /// Whether its search was told to stop long ago and has not.
    fn is_stuck(&self) -> bool {
        let stuck = |flags: &Arc<Flags>| {
            let since = flags.told_to_stop.get().map(Instant::elapsed);
            !flags.over.load(Relaxed) && since.is_some_and(|since| since > GIVEN_UP_AFTER)
        };
        self.flags.as_ref().is_some_and(stuck)
    }
}

impl Place for Thread {
    fn search(&mut self, job: Job, reports: &UnboundedSender<Report>) {
        self.stop();
        if self.is_stuck() {
            tracing::warn!(elector = %self.spec.name, "it does not stop, and another one takes its seat");
            *self = Self::start(&self.spec, self.table.as_ref());
        }
        let flags: Arc<Flags> = Arc::default();
        self.flags = Some(Arc::clone(&flags));
        let id = job.task.id.clone();
        let command = Command::Search(Box::new(job), Arc::clone(&flags), reports.clone());
        if self.commands.send(command).is_err() {
            flags.over.store(true, Relaxed);
            let _ = reports.send(Report::Failed(id, self.spec.name.clone(), "its thread has ended".to_owned()));
        }
    }

    fn stop(&self) {
        if let Some(flags) = &self.flags {
            flags.stop.store(true, Relaxed);
            flags.told_to_stop.get_or_init(Instant::now);
        }
    }

    fn new_game(&self) {
        let _ = self.commands.send(Command::NewGame);
    }
}

impl Drop for Thread {
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
    priority: Priority,
}

impl Occupant {
    fn serve(mut self, inbox: &mpsc::Receiver<Command>) {
        // A foreign engine is a process of its own, with the priority that it is started with.
        if self.spec.instance().is_none() {
            self.priority.give_way();
        }
        // One that does not start is tried again with the first search, which can report it.
        self.elector = self.spec.start_with(self.table.as_ref()).ok();
        for command in inbox {
            match command {
                Command::NewGame => {
                    if let Some(elector) = &mut self.elector {
                        elector.new_game();
                    }
                }
                Command::Search(job, flags, reports) => {
                    let name = self.spec.name.clone();
                    let searched = self.answer(&job, &flags.stop, &reports);
                    flags.over.store(true, Relaxed);
                    let _ = reports.send(match searched {
                        Ok(()) => Report::Finished(job.task.id, name),
                        Err(failure) => Report::Failed(job.task.id, name, failure.to_string()),
                    });
                }
            }
        }
    }

    /// Searches. An engine that has died since the last search costs a new start, not the vote.
    fn answer(
        &mut self,
        job: &Job,
        stop: &AtomicBool,
        reports: &UnboundedSender<Report>,
    ) -> Result<(), ElectorFailure> {
        let has_played = self.elector.is_some();
        match self.search(job, stop, reports) {
            Err(_) if has_played && !stop.load(Relaxed) => self.search(job, stop, reports),
            searched => searched,
        }
    }

    fn search(
        &mut self,
        job: &Job,
        stop: &AtomicBool,
        reports: &UnboundedSender<Report>,
    ) -> Result<(), ElectorFailure> {
        let elector = match &mut self.elector {
            Some(elector) => elector,
            vacant => {
                self.backoff.check(Instant::now())?;
                let started = self.spec.start_with(self.table.as_ref());
                vacant.insert(started.inspect_err(|_| self.backoff.failed(Instant::now()))?)
            }
        };
        let mut prompt = is_prompt(&self.spec, job.threads_of(self.spec.threads));
        if !prompt {
            self.priority.give_way();
        }
        let searched = elector.search(job, stop, &mut |proposal| {
            if std::mem::take(&mut prompt) {
                self.priority.give_way();
            }
            // Wherever it was computed, nothing illegal passes this door.
            if job.task.line.is_legal(proposal.best) {
                let _ = reports.send(Report::Proposal(proposal));
            } else {
                let (best, fen) = (proposal.best, job.task.line.fen());
                tracing::error!(elector = %self.spec.name, %best, fen, "illegal proposal dropped");
            }
        });
        if self.spec.instance().is_some() {
            self.priority.come_back();
        }
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

/// Whether an elector gives way only after its first proposal, which comes within microseconds: until then nobody can decide.
/// The threads of a search have the priority that it begins with, and so has the process of a foreign engine: they give way
/// from the beginning.
fn is_prompt(spec: &ElectorSpec, threads: usize) -> bool {
    spec.instance().is_some() && threads == 1
}

/// The priority of a search thread. Where the platform refuses another one, searches merely compete.
#[derive(Debug)]
struct Priority {
    /// What the process was started with.
    usual: i32,
}

impl Priority {
    /// How much a search gives way to the threads that talk to servers: enough that a move ready to be sent never waits for a
    /// search, little enough that other programs do not starve the search.
    const YIELDED: i32 = 5;

    /// Of this thread as it is now.
    fn of_this_thread() -> Self {
        Self { usual: rustix::process::getpriority_process(None).unwrap_or(0) }
    }

    fn give_way(&self) {
        Self::set(self.usual + Self::YIELDED);
    }

    /// For the next search. It takes a privilege (CAP_SYS_NICE, or a limit RLIMIT_NICE of 20, which is `LimitNICE=0` to
    /// systemd); without it the first proposals of later searches are made at the lower priority too.
    fn come_back(&self) {
        Self::set(self.usual);
    }

    fn set(niceness: i32) {
        // On Linux niceness belongs to the thread; elsewhere it would be the whole process's, so it is left alone.
        if cfg!(target_os = "linux")
            && let Err(error) = rustix::process::setpriority_process(None, niceness)
        {
            tracing::trace!(%error, niceness, "a search thread keeps its priority");
        }
    }
}
