//! A slot on a thread of this process: one elector, started afresh when it fails, left behind when it does not stop.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
        mpsc,
    },
    time::{Duration, Instant},
};

use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    Elector, ElectorFailure, ElectorSpec, Job, SearchReport,
    priority::Priority,
    running::RunningSearches,
    slot::{SearchSlot, Slot},
};
use crate::CouncilGame;
use domain::{Line, Proposal};
use engine::SharedTable;
use util::Backoff;

enum SlotCommand<L: CouncilGame> {
    Search(Box<Job<L>>, Arc<Flags>, UnboundedSender<SearchReport<L::Move>>),
    NewGame,
}

/// State of one search, shared by the handle and the thread.
#[derive(Debug, Default)]
struct Flags {
    stop: AtomicBool,
    /// Start of its elector's work: the elector may have been started first, or have ended an
    /// earlier search.
    begun: OnceLock<Instant>,
    told_to_stop: OnceLock<Instant>,
    over: AtomicBool,
}

/// An elector that is still at work this long after it was told to stop is given up.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(3);

/// An elector that failed twice in a row is not started again for this long at least; searches fail meanwhile.
const SHORTEST_REST: Duration = Duration::from_millis(250);
/// However often it failed, it is started again after this long.
const LONGEST_REST: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct LocalSlot<L: CouncilGame = Line> {
    spec: ElectorSpec<L::Kind>,
    table: Option<SharedTable>,
    commands: mpsc::Sender<SlotCommand<L>>,
    /// Cancelled when its thread has tried to start the elector.
    started: CancellationToken,
    running: RunningSearches,
    /// Searches that may still run, the newest last.
    searches: Vec<Arc<Flags>>,
}

impl<L: CouncilGame> Slot<L> {
    /// Opens a slot on a thread of this process. The elector starts at once: an engine may need a while before it can
    /// search. `table` is searched with together with the other slots that were given it.
    pub fn local(spec: ElectorSpec<L::Kind>, table: Option<&SharedTable>) -> Self {
        let slot = LocalSlot::<L>::start(&spec, table, &RunningSearches::default());
        Self::of(spec, slot)
    }
}

impl<L: CouncilGame> LocalSlot<L> {
    pub(super) fn start(spec: &ElectorSpec<L::Kind>, table: Option<&SharedTable>, running: &RunningSearches) -> Self {
        let (commands, inbox) = mpsc::channel();
        let thread = ElectorThread::<L> {
            spec: spec.clone(),
            table: table.cloned(),
            running: running.clone(),
            elector: None,
            backoff: Backoff::new(SHORTEST_REST, LONGEST_REST).first_at_once(),
            priority: Priority::of_this_thread(spec.niceness),
        };
        let started = CancellationToken::new();
        let starting = started.clone().drop_guard();
        let spawned = std::thread::Builder::new()
            .name(format!("elector {}", spec.name))
            .stack_size(8 << 20)
            .spawn(move || thread.serve(&inbox, starting));
        if let Err(error) = spawned {
            // The inbox is gone, so every search of this slot will be reported as failed.
            tracing::error!(elector = %spec.name, %error, "cannot start the thread of an elector");
        }
        let (table, running) = (table.cloned(), running.clone());
        Self { spec: spec.clone(), table, commands, started, running, searches: Vec::new() }
    }

    /// Returns true if a search was told to stop long ago and still runs.
    fn is_stuck(&self) -> bool {
        self.searches.iter().any(|flags| {
            let since = flags.begun.get().zip(flags.told_to_stop.get()).map(|(begun, told)| *begun.max(told));
            !flags.over.load(Relaxed) && since.is_some_and(|since| since.elapsed() > GIVEN_UP_AFTER)
        })
    }
}

impl<L: CouncilGame> SearchSlot<L> for LocalSlot<L> {
    fn search(&mut self, job: Job<L>, reports: &UnboundedSender<SearchReport<L::Move>>) {
        self.stop();
        if self.is_stuck() {
            tracing::warn!(elector = %self.spec.name, "search does not stop; replacing the elector");
            *self = Self::start(&self.spec, self.table.as_ref(), &self.running);
        }
        let flags: Arc<Flags> = Arc::default();
        self.searches.retain(|earlier| !earlier.over.load(Relaxed));
        self.searches.push(Arc::clone(&flags));
        let id = job.task.id.clone();
        let command = SlotCommand::Search(Box::new(job), Arc::clone(&flags), reports.clone());
        if self.commands.send(command).is_err() {
            flags.over.store(true, Relaxed);
            let _ = reports.send(SearchReport::Failed(id, self.spec.name.clone(), "its thread has ended".to_owned()));
        }
    }

    fn stop(&self) {
        for flags in &self.searches {
            flags.stop.store(true, Relaxed);
            flags.told_to_stop.get_or_init(Instant::now);
        }
    }

    fn new_game(&self) {
        let _ = self.commands.send(SlotCommand::NewGame);
    }

    fn started(&self) -> CancellationToken {
        self.started.clone()
    }
}

impl<L: CouncilGame> Drop for LocalSlot<L> {
    fn drop(&mut self) {
        self.stop();
    }
}

struct ElectorThread<L: CouncilGame> {
    spec: ElectorSpec<L::Kind>,
    table: Option<SharedTable>,
    running: RunningSearches,
    elector: Option<Box<dyn Elector<L>>>,
    backoff: Backoff,
    priority: Priority,
}

impl<L: CouncilGame> ElectorThread<L> {
    fn serve(mut self, inbox: &mpsc::Receiver<SlotCommand<L>>, starting: DropGuard) {
        if self.spec.niceness != 0 {
            self.priority.come_back();
        }
        // One that does not start is tried again with the first search, which can report it.
        self.elector = self.start().ok();
        drop(starting);
        for command in inbox {
            match command {
                SlotCommand::NewGame => {
                    let forgotten = defended(|| {
                        if let Some(elector) = &mut self.elector {
                            elector.new_game();
                        }
                        Ok(())
                    });
                    if forgotten.is_err() {
                        self.elector = None;
                    }
                }
                SlotCommand::Search(job, flags, reports) => {
                    let name = self.spec.name.clone();
                    let running = self.running.begin(&self.spec, &job);
                    let searched = self.answer(&job, &flags, &reports);
                    drop(running);
                    flags.over.store(true, Relaxed);
                    let _ = reports.send(match searched {
                        Ok(()) => SearchReport::Finished(job.task.id, name),
                        Err(failure) => SearchReport::Failed(job.task.id, name, failure.to_string()),
                    });
                    // The council may decide now, so what is left to do comes after it.
                    if L::is_ours(&self.spec) {
                        self.priority.come_back();
                    }
                }
            }
        }
    }

    /// Starts the elector. A foreign engine is a process of its own, with the priority that it is started with; the thread that hears
    /// it computes nothing, and must not wait for a core when the engine has moved.
    fn start(&self) -> Result<Box<dyn Elector<L>>, ElectorFailure> {
        if L::is_ours(&self.spec) {
            return defended(|| L::start(&self.spec, self.table.as_ref()));
        }
        self.priority.give_way();
        let started = defended(|| L::start(&self.spec, self.table.as_ref()));
        if !L::proves(&self.spec) {
            self.priority.come_back();
        }
        started
    }

    /// Searches. An engine that has died since the last search costs a new start, not the vote.
    fn answer(
        &mut self,
        job: &Job<L>,
        flags: &Flags,
        reports: &UnboundedSender<SearchReport<L::Move>>,
    ) -> Result<(), ElectorFailure> {
        let has_played = self.elector.is_some();
        match self.search(job, flags, reports) {
            Err(_) if has_played && !flags.stop.load(Relaxed) => self.search(job, flags, reports),
            searched => searched,
        }
    }

    fn search(
        &mut self,
        job: &Job<L>,
        flags: &Flags,
        reports: &UnboundedSender<SearchReport<L::Move>>,
    ) -> Result<(), ElectorFailure> {
        if self.elector.is_none() {
            if let Some(rest) = self.backoff.rest(Instant::now()) {
                let rest = rest.as_secs_f64();
                return Err(ElectorFailure(format!("failed several times in a row and rests for {rest:.1} s")));
            }
            self.elector = Some(self.start().inspect_err(|_| self.backoff.fail(Instant::now()))?);
        }
        let Some(elector) = &mut self.elector else { return Err(ElectorFailure("it is not there".to_owned())) };
        let ours = L::is_ours(&self.spec);
        let mut prompt = is_prompt::<L>(&self.spec, job.threads_of(self.spec.threads));
        if ours && !prompt {
            self.priority.give_way();
        }
        flags.begun.get_or_init(Instant::now);
        let mut report = |proposal: Proposal<L::Move>| {
            // Wherever it was computed, nothing illegal passes this door, and nothing that was not asked about: not every engine can
            // be kept to a choice of moves.
            let asked = &job.task.root_moves;
            if !job.task.line.is_legal(proposal.best) {
                let (best, fen) = (proposal.best, job.task.line.position_text());
                tracing::error!(elector = %self.spec.name, %best, fen, "illegal proposal dropped");
            } else if asked.is_empty() || asked.contains(&proposal.best) {
                let _ = reports.send(SearchReport::Proposal(proposal));
            }
            if std::mem::take(&mut prompt) {
                self.priority.give_way();
            }
        };
        let searched = defended(|| {
            tracing::trace!(target: "concilio::task", task = "elector", "searching");
            elector.search(job, &flags.stop, &mut report)
        });
        match &searched {
            Ok(()) => self.backoff.reset(),
            Err(_) => {
                self.elector = None;
                self.backoff.fail(Instant::now());
            }
        }
        searched
    }
}

/// Runs `work`; an elector that panics fails, and a new one takes its place.
fn defended<T>(work: impl FnOnce() -> Result<T, ElectorFailure>) -> Result<T, ElectorFailure> {
    let panicked = |_| Err(ElectorFailure("it panicked, a defect of this program".to_owned()));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}

/// Returns true if an elector lowers its priority only after its first proposal, which comes within
/// microseconds: until then no decision is possible. The threads of a search keep the priority that
/// it begins with, and so does the process of a foreign engine: they have low priority from the
/// beginning.
fn is_prompt<L: CouncilGame>(spec: &ElectorSpec<L::Kind>, threads: usize) -> bool {
    L::is_ours(spec) && threads == 1
}
