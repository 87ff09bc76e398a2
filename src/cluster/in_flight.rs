//! The searches of this daemon that run on workers, and what becomes of each event of theirs.
//!
//! Invariants: a search ends exactly once, by a report or by its fallback; nobody but the worker that was asked is believed; a
//! event of anything that is not wanted any more is dropped.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use tokio::sync::mpsc::UnboundedSender;

use super::{
    identity::RunId,
    wire::{
        SearchEvent, SearchEventKind, SearchStatus,
        checked::{Invalid, MOST_NODES},
    },
};
use chess::{ElectorName, MachineName};
use council::pool::{Fallback, Job, SearchReport};

/// A worker has the command by then, or it was lost on the way.
const ARRIVED_AFTER: Duration = Duration::from_millis(600);

/// A search that was sent out.
#[derive(Debug)]
pub(crate) struct RemoteSearch {
    /// The worker that searches.
    pub worker: RunId,
    /// What that machine is called.
    pub machine: MachineName,
    /// How many threads it has there.
    pub threads: usize,
    /// The elector that searches.
    pub elector: ElectorName,
    /// The search that it does.
    pub job: Job,
    /// Where the council waits for reports.
    pub reports: UnboundedSender<SearchReport>,
    /// Where it begins anew if it is lost before it proposed.
    pub fallback: Fallback,
    /// When it was sent.
    pub sent: Instant,
    /// Whether it has proposed.
    pub proposed: bool,
}

impl RemoteSearch {
    fn report(&self, report: SearchReport) {
        let _ = self.reports.send(report);
    }

    /// It ends as if it had been told to.
    fn finish(self) {
        self.report(SearchReport::Finished(self.job.task.id.clone(), self.elector.clone()));
    }

    fn fail(self, why: String) {
        self.report(SearchReport::Failed(self.job.task.id.clone(), self.elector.clone(), why));
    }

    /// It is lost. What it proposed stands; if it proposed nothing, it begins anew on this machine.
    pub(crate) fn lose(self, why: &str) {
        if self.proposed {
            let why = format!("{} {why}; what it proposed stands", self.machine);
            self.fail(why);
        } else {
            self.fallback.resume(self.job, &self.reports);
        }
    }
}

/// What is to be done about an event.
#[derive(Debug)]
pub(crate) enum EventOutcome {
    /// Nothing: it is stale, or was passed on.
    Nothing,
    /// A search has ended well.
    Worked,
    /// The elector failed there.
    Failed,
    /// The worker cannot have it.
    GivenBack(Box<RemoteSearch>),
    /// The worker sent what cannot be true: the search is taken from it.
    Invalid(Box<RemoteSearch>, Invalid),
}

/// All of them, by the serial numbers of the searches.
#[derive(Debug, Default)]
pub(crate) struct InFlight(BTreeMap<u64, RemoteSearch>);

impl InFlight {
    /// Adds a search that was sent.
    pub(crate) fn add(&mut self, search: RemoteSearch) {
        self.0.insert(search.job.task.id.serial, search);
    }

    /// A search is not wanted any more: its last proposal stands. Says where it ran.
    pub(crate) fn stop(&mut self, serial: u64) -> Option<RunId> {
        let search = self.0.remove(&serial)?;
        let worker = search.worker;
        search.finish();
        Some(worker)
    }

    /// A worker tells of a search.
    pub(crate) fn on_event(&mut self, from: RunId, event: SearchEvent) -> EventOutcome {
        let serial = event.search.serial;
        let known = self.0.get_mut(&serial);
        let asked = known.filter(|search| {
            search.worker == from && search.job.task.id == event.search && search.elector == event.elector
        });
        let Some(search) = asked else { return EventOutcome::Nothing };
        match event.kind {
            SearchEventKind::Proposal(text) => {
                match text.proposal(&search.job.task, &search.elector, &search.machine) {
                    Ok(proposal) => {
                        search.proposed = true;
                        search.job.meter.count(proposal.nodes);
                        search.report(SearchReport::Proposal(proposal));
                        EventOutcome::Nothing
                    }
                    Err(invalid) => self.end(serial, |search| EventOutcome::Invalid(Box::new(search), invalid)),
                }
            }
            SearchEventKind::Finished(nodes) => {
                search.job.meter.count(nodes.min(MOST_NODES));
                self.end(serial, |search| {
                    search.finish();
                    EventOutcome::Worked
                })
            }
            SearchEventKind::Failed(why) => self.end(serial, |search| {
                let why = format!("on {}: {}", search.machine, why.chars().take(200).collect::<String>());
                search.fail(why);
                EventOutcome::Failed
            }),
            SearchEventKind::GivenBack => self.end(serial, |search| EventOutcome::GivenBack(Box::new(search))),
        }
    }

    fn end(&mut self, serial: u64, how: impl FnOnce(RemoteSearch) -> EventOutcome) -> EventOutcome {
        self.0.remove(&serial).map_or(EventOutcome::Nothing, how)
    }

    /// A worker says what it searches, with nodes so far. What it should be searching and is not was lost on the way.
    pub(crate) fn compare(&mut self, now: Instant, from: RunId, searches: &[SearchStatus]) -> Vec<RemoteSearch> {
        let mut missing = Vec::new();
        for search in self.0.values().filter(|search| search.worker == from) {
            match searches.iter().find(|status| status.search == search.job.task.id) {
                Some(status) => search.job.meter.count(status.nodes.min(MOST_NODES)),
                None if now.saturating_duration_since(search.sent) < ARRIVED_AFTER => {}
                None => missing.push(search.job.task.id.serial),
            }
        }
        missing.into_iter().filter_map(|serial| self.0.remove(&serial)).collect()
    }

    /// All that ran on a worker that is gone.
    pub(crate) fn lost(&mut self, worker: RunId) -> Vec<RemoteSearch> {
        let serials: Vec<u64> = self.0.iter().filter(|(_, e)| e.worker == worker).map(|(serial, _)| *serial).collect();
        serials.into_iter().filter_map(|serial| self.0.remove(&serial)).collect()
    }

    /// Threads that search on a worker.
    pub(crate) fn threads_on(&self, worker: RunId) -> usize {
        self.0.values().filter(|search| search.worker == worker).map(|search| search.threads).sum()
    }

    /// The serial numbers of all that are wanted.
    pub(crate) fn serials(&self) -> Vec<u64> {
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

    struct Setting {
        in_flight: InFlight,
        inbox: mpsc::UnboundedReceiver<SearchReport>,
        sent: Instant,
    }

    fn id(serial: u64) -> SearchId {
        SearchId { game: GameId::new("g"), ply: 0, serial, phase: Phase::First }
    }

    /// One search, with Ann.
    fn setting() -> Setting {
        let (reports, inbox) = mpsc::unbounded_channel();
        let line = Arc::new(Line::start(Variant::Standard));
        let job = Job::new(Task { id: id(1), line, root_moves: Vec::new(), limits: Limits::default() });
        let (mut in_flight, sent) = (InFlight::default(), Instant::now());
        in_flight.add(RemoteSearch {
            worker: ANN,
            machine: "ann".into(),
            threads: 2,
            elector: "mp".into(),
            job,
            reports,
            fallback: Fallback::new(|_, _| {}),
            sent,
            proposed: false,
        });
        Setting { in_flight, inbox, sent }
    }

    fn event(serial: u64, kind: SearchEventKind) -> SearchEvent {
        SearchEvent { search: id(serial), elector: "mp".into(), kind }
    }

    fn proposal(moves: &str) -> SearchEventKind {
        SearchEventKind::Proposal(ProposalText {
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
        let mut setting = setting();
        let mut other = event(1, proposal("e2e4"));
        other.elector = "ma".into();
        for (from, sent) in [(BOB, event(1, proposal("e2e4"))), (ANN, event(2, proposal("e2e4"))), (ANN, other)] {
            assert!(matches!(setting.in_flight.on_event(from, sent), EventOutcome::Nothing));
        }
        assert!(setting.inbox.try_recv().is_err(), "none of it is passed on");
        setting.in_flight.on_event(ANN, event(1, proposal("e2e4")));
        let Ok(SearchReport::Proposal(proposal)) = setting.inbox.try_recv() else { panic!("this one is") };
        assert_eq!(proposal.machine, Some("ann".into()));
    }

    #[test]
    fn an_invalid_proposal_ends_the_search_there() {
        let mut setting = setting();
        assert!(matches!(setting.in_flight.on_event(ANN, event(1, proposal("e2e5"))), EventOutcome::Invalid(..)));
        assert!(matches!(setting.in_flight.on_event(ANN, event(1, proposal("e2e4"))), EventOutcome::Nothing));
        assert_eq!(setting.in_flight.threads_on(ANN), 0);
    }

    #[test]
    fn a_search_ends_once() {
        let mut setting = setting();
        assert!(matches!(
            setting.in_flight.on_event(ANN, event(1, SearchEventKind::Finished(500))),
            EventOutcome::Worked
        ));
        assert!(matches!(
            setting.in_flight.on_event(ANN, event(1, SearchEventKind::Finished(500))),
            EventOutcome::Nothing
        ));
        assert_eq!(setting.in_flight.stop(1), None);
        assert!(matches!(setting.inbox.try_recv(), Ok(SearchReport::Finished(..))));
        assert!(setting.inbox.try_recv().is_err());
    }

    #[test]
    fn one_that_is_stopped_has_finished_and_is_not_listened_to_any_more() {
        let mut setting = setting();
        assert_eq!(setting.in_flight.stop(1), Some(ANN));
        assert!(matches!(setting.inbox.try_recv(), Ok(SearchReport::Finished(..))));
        setting.in_flight.on_event(ANN, event(1, proposal("e2e4")));
        assert!(setting.inbox.try_recv().is_err());
    }

    #[test]
    fn what_a_lost_worker_proposed_stands() {
        let mut setting = setting();
        setting.in_flight.on_event(ANN, event(1, proposal("e2e4")));
        assert!(setting.in_flight.lost(BOB).is_empty());
        setting.in_flight.lost(ANN).into_iter().for_each(|search| search.lose("is lost"));
        assert!(matches!(setting.inbox.try_recv(), Ok(SearchReport::Proposal(_))));
        let Ok(SearchReport::Failed(_, _, why)) = setting.inbox.try_recv() else { panic!("it has failed") };
        assert!(why.contains("ann is lost"), "{why}");
    }

    #[test]
    fn a_command_that_never_arrived_is_noticed() {
        let mut setting = setting();
        assert!(setting.in_flight.compare(setting.sent, ANN, &[]).is_empty(), "it may still be on its way");
        let later = setting.sent + ARRIVED_AFTER;
        let searching = SearchStatus { daemon: BOB, search: id(1), elector: "mp".into(), threads: 2, nodes: 77 };
        assert!(setting.in_flight.compare(later, ANN, &[searching]).is_empty());
        assert!(setting.in_flight.compare(later, BOB, &[]).is_empty());
        assert_eq!(setting.in_flight.compare(later, ANN, &[]).len(), 1);
    }
}
