//! The searches of this daemon that run elsewhere, and what becomes of each word about them.
//!
//! Invariants: a search ends exactly once, by a report or by going home; nobody but the worker that was asked is believed; a
//! word about anything that is not wanted any more is dropped.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::mpsc::UnboundedSender;

use super::{
    identity::RunId,
    wire::{
        Says, Searching, Word,
        checked::{MOST_NODES, Nonsense},
    },
};
use chess::{ElectorName, MachineName};
use council::pool::{Home, Job, Report};

/// A worker has the order by then, or it was lost on the way.
const ARRIVED_AFTER: Duration = Duration::from_millis(600);

/// A search that was sent out.
#[derive(Debug)]
pub struct Errand {
    /// To whom.
    pub worker: RunId,
    /// What it is called.
    pub machine: MachineName,
    /// On how many threads.
    pub threads: usize,
    /// By whom.
    pub elector: ElectorName,
    /// What was asked.
    pub job: Job,
    /// Who waits for it.
    pub reports: UnboundedSender<Report>,
    /// Where it goes if it is lost.
    pub home: Home,
    /// When it was sent.
    pub sent: Instant,
    /// Whether it has proposed.
    pub heard: bool,
}

impl Errand {
    fn report(&self, report: Report) {
        let _ = self.reports.send(report);
    }

    /// It ends as if it had been told to.
    fn finish(self) {
        self.report(Report::Finished(self.job.task.id.clone(), self.elector.clone()));
    }

    fn fail(self, why: String) {
        self.report(Report::Failed(self.job.task.id.clone(), self.elector.clone(), why));
    }

    /// It is lost. What it proposed stands; if it proposed nothing, it begins anew at home.
    pub fn lose(self, why: &str) {
        if self.heard {
            let why = format!("{} {why}; what it proposed stands", self.machine);
            self.fail(why);
        } else {
            self.home.take_back(self.job, &self.reports);
        }
    }
}

/// What is to be done about a word.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing: it is stale, or was passed on.
    Nothing,
    /// A search has ended well.
    Worked,
    /// The elector failed there.
    Failed,
    /// The worker cannot have it.
    GivenBack(Box<Errand>),
    /// The worker said what cannot be: the search is taken from it.
    Lied(Box<Errand>, Nonsense),
}

/// All of them, by the serial numbers of the searches.
#[derive(Debug, Default)]
pub struct Errands(BTreeMap<u64, Errand>);

impl Errands {
    /// One more.
    pub fn add(&mut self, errand: Errand) {
        self.0.insert(errand.job.task.id.serial, errand);
    }

    /// A search is not wanted any more: its last proposal stands. Says where it ran.
    pub fn stop(&mut self, serial: u64) -> Option<RunId> {
        let errand = self.0.remove(&serial)?;
        let worker = errand.worker;
        errand.finish();
        Some(worker)
    }

    /// A worker has said something.
    pub fn hear(&mut self, from: RunId, word: Word) -> Outcome {
        let serial = word.search.serial;
        let known = self.0.get_mut(&serial);
        let asked = known.filter(|errand| {
            errand.worker == from && errand.job.task.id == word.search && errand.elector == word.elector
        });
        let Some(errand) = asked else { return Outcome::Nothing };
        match word.says {
            Says::Proposal(text) => match text.proposal(&errand.job.task, &errand.elector, &errand.machine) {
                Ok(proposal) => {
                    errand.heard = true;
                    errand.job.meter.count(proposal.nodes);
                    errand.report(Report::Proposal(proposal));
                    Outcome::Nothing
                }
                Err(nonsense) => self.end(serial, |errand| Outcome::Lied(Box::new(errand), nonsense)),
            },
            Says::Finished(nodes) => {
                errand.job.meter.count(nodes.min(MOST_NODES));
                self.end(serial, |errand| {
                    errand.finish();
                    Outcome::Worked
                })
            }
            Says::Failed(why) => self.end(serial, |errand| {
                let why = format!("on {}: {}", errand.machine, why.chars().take(200).collect::<String>());
                errand.fail(why);
                Outcome::Failed
            }),
            Says::GivenBack => self.end(serial, |errand| Outcome::GivenBack(Box::new(errand))),
        }
    }

    fn end(&mut self, serial: u64, how: impl FnOnce(Errand) -> Outcome) -> Outcome {
        self.0.remove(&serial).map_or(Outcome::Nothing, how)
    }

    /// A worker says what it searches, with nodes so far. What it should be searching and is not was lost on the way.
    pub fn compare(&mut self, now: Instant, from: RunId, searches: &[Searching]) -> Vec<Errand> {
        let mut missing = Vec::new();
        for errand in self.0.values().filter(|errand| errand.worker == from) {
            match searches.iter().find(|search| search.search == errand.job.task.id) {
                Some(search) => errand.job.meter.count(search.nodes.min(MOST_NODES)),
                None if now.saturating_duration_since(errand.sent) < ARRIVED_AFTER => {}
                None => missing.push(errand.job.task.id.serial),
            }
        }
        missing.into_iter().filter_map(|serial| self.0.remove(&serial)).collect()
    }

    /// All that ran on a worker that is gone.
    pub fn lost(&mut self, worker: RunId) -> Vec<Errand> {
        let serials: Vec<u64> = self.0.iter().filter(|(_, e)| e.worker == worker).map(|(serial, _)| *serial).collect();
        serials.into_iter().filter_map(|serial| self.0.remove(&serial)).collect()
    }

    /// Threads that search on a worker.
    pub fn threads_on(&self, worker: RunId) -> usize {
        self.0.values().filter(|errand| errand.worker == worker).map(|errand| errand.threads).sum()
    }

    /// The serial numbers of all that are wanted.
    pub fn serials(&self) -> Vec<u64> {
        self.0.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::sync::mpsc;

    use super::*;
    use crate::wire::ProposalText;
    use chess::{Bound, GameId, Limits, Line, Phase, Score, SearchId, Task, Variant};

    const ANN: RunId = RunId(1);
    const BOB: RunId = RunId(2);

    struct Stage {
        errands: Errands,
        inbox: mpsc::UnboundedReceiver<Report>,
        sent: Instant,
    }

    fn id(serial: u64) -> SearchId {
        SearchId { game: GameId::new("g"), ply: 0, serial, phase: Phase::First }
    }

    /// One search, with Ann.
    fn stage() -> Stage {
        let (reports, inbox) = mpsc::unbounded_channel();
        let line = Arc::new(Line::start(Variant::Standard));
        let job = Job::new(Task { id: id(1), line, root_moves: Vec::new(), limits: Limits::default() });
        let (mut errands, sent) = (Errands::default(), Instant::now());
        errands.add(Errand {
            worker: ANN,
            machine: "ann".into(),
            threads: 2,
            elector: "mp".into(),
            job,
            reports,
            home: Home::nowhere(),
            sent,
            heard: false,
        });
        Stage { errands, inbox, sent }
    }

    fn word(serial: u64, says: Says) -> Word {
        Word { search: id(serial), elector: "mp".into(), says }
    }

    fn proposal(moves: &str) -> Says {
        Says::Proposal(ProposalText {
            moves: moves.to_owned(),
            score: Score::Cp(0),
            bound: Bound::Exact,
            depth: 1,
            selective_depth: 1,
            root_moves_done: 0,
            nodes: 20,
            microseconds: 5,
        })
    }

    #[test]
    fn only_the_worker_that_was_asked_is_believed_about_what_was_asked() {
        let mut stage = stage();
        let mut other = word(1, proposal("e2e4"));
        other.elector = "ma".into();
        for (from, word) in [(BOB, word(1, proposal("e2e4"))), (ANN, word(2, proposal("e2e4"))), (ANN, other)] {
            assert!(matches!(stage.errands.hear(from, word), Outcome::Nothing));
        }
        assert!(stage.inbox.try_recv().is_err(), "none of it is passed on");
        stage.errands.hear(ANN, word(1, proposal("e2e4")));
        let Ok(Report::Proposal(proposal)) = stage.inbox.try_recv() else { panic!("this one is") };
        assert_eq!(proposal.machine, Some("ann".into()));
    }

    #[test]
    fn a_lie_ends_the_search_there() {
        let mut stage = stage();
        assert!(matches!(stage.errands.hear(ANN, word(1, proposal("e2e5"))), Outcome::Lied(..)));
        assert!(matches!(stage.errands.hear(ANN, word(1, proposal("e2e4"))), Outcome::Nothing));
        assert_eq!(stage.errands.threads_on(ANN), 0);
    }

    #[test]
    fn a_search_ends_once() {
        let mut stage = stage();
        assert!(matches!(stage.errands.hear(ANN, word(1, Says::Finished(500))), Outcome::Worked));
        assert!(matches!(stage.errands.hear(ANN, word(1, Says::Finished(500))), Outcome::Nothing));
        assert_eq!(stage.errands.stop(1), None);
        assert!(matches!(stage.inbox.try_recv(), Ok(Report::Finished(..))));
        assert!(stage.inbox.try_recv().is_err());
    }

    #[test]
    fn one_that_is_stopped_has_finished_and_is_not_listened_to_any_more() {
        let mut stage = stage();
        assert_eq!(stage.errands.stop(1), Some(ANN));
        assert!(matches!(stage.inbox.try_recv(), Ok(Report::Finished(..))));
        stage.errands.hear(ANN, word(1, proposal("e2e4")));
        assert!(stage.inbox.try_recv().is_err());
    }

    #[test]
    fn what_a_lost_worker_proposed_stands() {
        let mut stage = stage();
        stage.errands.hear(ANN, word(1, proposal("e2e4")));
        assert!(stage.errands.lost(BOB).is_empty());
        stage.errands.lost(ANN).into_iter().for_each(|errand| errand.lose("is lost"));
        assert!(matches!(stage.inbox.try_recv(), Ok(Report::Proposal(_))));
        let Ok(Report::Failed(_, _, why)) = stage.inbox.try_recv() else { panic!("it has failed") };
        assert!(why.contains("ann is lost"), "{why}");
    }

    #[test]
    fn an_order_that_never_arrived_is_noticed() {
        let mut stage = stage();
        assert!(stage.errands.compare(stage.sent, ANN, &[]).is_empty(), "it may still be on its way");
        let later = stage.sent + ARRIVED_AFTER;
        let searching = Searching { daemon: BOB, search: id(1), elector: "mp".into(), threads: 2, nodes: 77 };
        assert!(stage.errands.compare(later, ANN, &[searching]).is_empty());
        assert!(stage.errands.compare(later, BOB, &[]).is_empty());
        assert_eq!(stage.errands.compare(later, ANN, &[]).len(), 1);
    }
}
