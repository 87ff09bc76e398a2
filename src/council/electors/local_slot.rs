//! A slot on a thread of this process: one elector, started afresh when it fails, left behind when it does not stop.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender, error::SendError};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{
    CouncilGame, Elector, ElectorFailure, ElectorResult, ElectorSpec, Reports, SearchPriority, SearchReport,
    SearchState, Task, priority::Priority, running::RunningSearches, slot::Slot,
};
use domain::{Line, Proposal};
use engine::SharedTable;
use util::Backoff;

enum SlotCommand<L: CouncilGame> {
    Search(Box<Task<L>>, Reports<L::Move>),
    NewGame,
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
    /// Tokio's channel wakes the thread once a command, std's twice.
    commands: UnboundedSender<SlotCommand<L>>,
    /// Cancelled when its thread has tried to start the elector.
    started: CancellationToken,
    running: RunningSearches,
    /// Searches that may still run, the newest last.
    searches: Vec<Arc<SearchState>>,
}

/// Opens a slot on a thread of this process. The elector starts at once: an engine may need a while before it can
/// search. `table` is searched with together with the other slots that were given it.
pub fn local_slot<L: CouncilGame>(spec: &ElectorSpec<L::Kind>, table: Option<&SharedTable>) -> Box<dyn Slot<L>> {
    Box::new(LocalSlot::<L>::start(spec, table, &RunningSearches::default()))
}

impl<L: CouncilGame> LocalSlot<L> {
    pub(super) fn start(spec: &ElectorSpec<L::Kind>, table: Option<&SharedTable>, running: &RunningSearches) -> Self {
        let (commands, mut inbox) = mpsc::unbounded_channel();
        let thread = ElectorThread::<L> {
            spec: spec.clone(),
            table: table.cloned(),
            running: running.clone(),
            elector: None,
            backoff: Backoff::new(SHORTEST_REST, LONGEST_REST).first_at_once(),
            priority: Priority::of_this_thread(spec.priority),
        };
        let started = CancellationToken::new();
        let starting = started.clone().drop_guard();
        let spawned = std::thread::Builder::new()
            .name(format!("elector {}", spec.name))
            .stack_size(8 << 20)
            .spawn(move || thread.serve(&mut inbox, starting));
        if let Err(error) = spawned {
            // The inbox is gone, so every search of this slot will be reported as failed.
            tracing::error!(elector = %spec.name, %error, "cannot start the thread of an elector");
        }
        let (table, running) = (table.cloned(), running.clone());
        Self { spec: spec.clone(), table, commands, started, running, searches: Vec::new() }
    }

    /// Returns true if a search was told to stop long ago and still runs.
    fn is_stuck(&self) -> bool {
        self.searches.iter().any(|search| {
            let since = search.begun.get().zip(search.told_to_stop.get()).map(|(begun, told)| *begun.max(told));
            !search.over.load(Relaxed) && since.is_some_and(|since| since.elapsed() > GIVEN_UP_AFTER)
        })
    }
}

impl<L: CouncilGame> Slot<L> for LocalSlot<L> {
    fn search(&mut self, task: Task<L>, reports: &Reports<L::Move>) {
        self.stop();
        if self.is_stuck() {
            tracing::warn!(elector = %self.spec.name, "search does not stop; replacing the elector");
            *self = Self::start(&self.spec, self.table.as_ref(), &self.running);
        }
        self.searches.retain(|earlier| !earlier.over.load(Relaxed));
        self.searches.push(Arc::clone(&task.state));
        let sent = self.commands.send(SlotCommand::Search(Box::new(task), reports.clone()));
        if let Err(SendError(SlotCommand::Search(task, _))) = sent {
            task.state.over.store(true, Relaxed);
            let why = "its thread has ended".to_owned();
            let _ = reports.send(SearchReport::Failed(task.id, self.spec.name.clone(), why));
        }
    }

    fn stop(&self) {
        for search in &self.searches {
            search.stop.store(true, Relaxed);
            search.told_to_stop.get_or_init(Instant::now);
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
    fn serve(mut self, inbox: &mut UnboundedReceiver<SlotCommand<L>>, starting: DropGuard) {
        if self.spec.priority != SearchPriority::Usual {
            self.priority.come_back();
        }
        // One that does not start is tried again with the first search, which can report it.
        self.elector = self.start().ok();
        drop(starting);
        while let Some(command) = inbox.blocking_recv() {
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
                SlotCommand::Search(task, reports) => {
                    let name = self.spec.name.clone();
                    self.running.begin(&self.spec, &task);
                    let searched = self.answer(&task, &reports);
                    task.state.over.store(true, Relaxed);
                    let _ = reports.send(match searched {
                        Ok(()) => SearchReport::Finished(task.id, name),
                        Err(failure) => SearchReport::Failed(task.id, name, failure.to_string()),
                    });
                    // After the report, because the council may decide now.
                    if L::is_ours(&self.spec) {
                        self.priority.come_back();
                    }
                }
            }
        }
    }

    /// Starts the elector. A foreign engine is a process of its own, with the priority that it is started with; the thread that hears
    /// it computes nothing, and must not wait for a core when the engine has moved.
    fn start(&self) -> ElectorResult<Box<dyn Elector<L>>> {
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
    fn answer(&mut self, task: &Task<L>, reports: &Reports<L::Move>) -> ElectorResult {
        let has_played = self.elector.is_some();
        match self.search(task, reports) {
            Err(_) if has_played && !task.state.stop.load(Relaxed) => self.search(task, reports),
            searched => searched,
        }
    }

    fn search(&mut self, task: &Task<L>, reports: &Reports<L::Move>) -> ElectorResult {
        if self.elector.is_none() {
            if let Some(rest) = self.backoff.rest(Instant::now()) {
                let rest = rest.as_secs_f64();
                return Err(ElectorFailure(format!("failed several times in a row and rests for {rest:.1} s")));
            }
            self.elector = Some(self.start().inspect_err(|_| self.backoff.fail(Instant::now()))?);
        }
        let Some(elector) = &mut self.elector else { return Err(ElectorFailure("it is not there".to_owned())) };
        let ours = L::is_ours(&self.spec);
        // An elector of one thread lowers its priority only after its first proposal, which comes within microseconds: until then
        // no decision is possible. The threads of a search keep the priority that it begins with, and so does the process of a
        // foreign engine: they have low priority from the beginning.
        let mut prompt = ours && task.threads_of(self.spec.threads) == 1;
        if ours && !prompt {
            self.priority.give_way();
        }
        task.state.begun.get_or_init(Instant::now);
        let mut report = |proposal: Proposal<L::Move>| {
            // Only legal moves among the root moves are passed on: not every engine can be limited to a choice of moves.
            let asked = &task.root_moves;
            if !task.line.is_legal(proposal.best) {
                let (best, fen) = (proposal.best, task.line.position_text());
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
            elector.search(task, &task.state.stop, &mut report)
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
fn defended<T>(work: impl FnOnce() -> ElectorResult<T>) -> ElectorResult<T> {
    let panicked = |_| Err(ElectorFailure("it panicked, a defect of this program".to_owned()));
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked)
}
