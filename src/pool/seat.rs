//! A seat: one elector on a thread of its own, behind a handle.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
    mpsc,
};

use tokio::sync::mpsc::UnboundedSender;

use super::{Elector, ElectorFailure, ElectorSpec, place::Place};
use crate::chess::{ElectorName, Proposal, SearchId, Task};

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

enum Command {
    Search(Box<Task>, Arc<AtomicBool>, UnboundedSender<Report>),
    NewGame,
}

/// The handle of a seat. Dropping it stops the search; a thread ends as soon as the elector lets it.
#[derive(Debug)]
pub struct Seat {
    spec: ElectorSpec,
    place: Box<dyn Place>,
}

impl Seat {
    /// Opens a seat on a thread of this process. The elector starts at once: an engine may need a while before it can
    /// search.
    pub fn here(spec: ElectorSpec) -> Self {
        let thread = Thread::start(&spec);
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
    pub fn search(&mut self, task: Task, reports: &UnboundedSender<Report>) {
        self.place.search(task, reports);
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

/// A thread of this process as a place.
#[derive(Debug)]
struct Thread {
    elector: ElectorName,
    commands: mpsc::Sender<Command>,
    /// The stop flag of the newest search.
    stop: Arc<AtomicBool>,
}

impl Thread {
    fn start(spec: &ElectorSpec) -> Self {
        let (commands, inbox) = mpsc::channel();
        let occupant = spec.clone();
        let started = std::thread::Builder::new()
            .name(format!("elector {}", spec.name))
            .stack_size(8 << 20)
            .spawn(move || occupy(&occupant, &inbox));
        if let Err(error) = started {
            // The inbox is gone, so every search of this seat will be reported as failed.
            tracing::error!(elector = %spec.name, %error, "no thread for an elector");
        }
        Self { elector: spec.name.clone(), commands, stop: Arc::default() }
    }
}

impl Place for Thread {
    fn search(&mut self, task: Task, reports: &UnboundedSender<Report>) {
        self.stop();
        self.stop = Arc::default();
        let id = task.id.clone();
        let command = Command::Search(Box::new(task), Arc::clone(&self.stop), reports.clone());
        if self.commands.send(command).is_err() {
            let _ = reports.send(Report::Failed(id, self.elector.clone(), "its thread has ended".to_owned()));
        }
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
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

/// The life of a seat's thread. An elector that failed is started afresh.
fn occupy(spec: &ElectorSpec, inbox: &mpsc::Receiver<Command>) {
    yield_to_the_daemon();
    // One that does not start is tried again with the first search, which can report it.
    let mut occupant: Option<Box<dyn Elector>> = spec.start().ok();
    for command in inbox {
        match command {
            Command::NewGame => {
                if let Some(elector) = &mut occupant {
                    elector.new_game();
                }
            }
            Command::Search(task, stop, reports) => {
                let name = spec.name.clone();
                let has_played = occupant.is_some();
                let mut searched = search(spec, &mut occupant, &task, &stop, &reports);
                if searched.is_err() && has_played && !stop.load(Ordering::Relaxed) {
                    // An engine that has died since the last search costs a new start, not the vote.
                    occupant = None;
                    searched = search(spec, &mut occupant, &task, &stop, &reports);
                }
                let _ = match searched {
                    Ok(()) => reports.send(Report::Finished(task.id, name)),
                    Err(failure) => {
                        occupant = None;
                        reports.send(Report::Failed(task.id, name, failure.to_string()))
                    }
                };
            }
        }
    }
}

fn search(
    spec: &ElectorSpec,
    occupant: &mut Option<Box<dyn Elector>>,
    task: &Task,
    stop: &AtomicBool,
    reports: &UnboundedSender<Report>,
) -> Result<(), ElectorFailure> {
    let elector = match occupant {
        Some(elector) => elector,
        vacant => vacant.insert(spec.start()?),
    };
    elector.search(task, stop, &mut |proposal| {
        // Wherever it was computed, nothing illegal passes this door.
        if task.line.is_legal(proposal.best) {
            let _ = reports.send(Report::Proposal(proposal));
        } else {
            tracing::error!(elector = %spec.name, best = %proposal.best, fen = task.line.fen(), "illegal proposal dropped");
        }
    })
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
