//! The searches of this daemon that run on workers, and what becomes of each event of theirs.
//!
//! A proposal is passed on after its move was looked at here, as far as the look bears it out (`scrutiny`); of several that wait
//! the newest counts.
//!
//! Invariants: a search ends exactly once, by a report or by its fallback, after its proposals; nobody but the worker that was
//! asked is believed; an event of anything that is not wanted any more is dropped; no search is looked at more than
//! [`MOST_LOOKS`] times, and none is listened to more often than [`MOST_PROPOSALS`] allows.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::mpsc::UnboundedSender;

use super::{
    identity::RunId,
    looks::{Caught, Look, LookKey, Looks},
    measured::SpeedSample,
    scrutiny::{self, ClaimVerdict, HomeValue, LookLength},
    wire::{SearchEvent, SearchEventKind, SearchStatus, checked::Invalid},
};
use chess::{ElectorName, MachineName, Proposal};
use council::pool::{Fallback, Job, SearchReport};

/// A worker has the command so long after the way has taken its time, or it was lost on it.
const ARRIVED_AFTER: Duration = Duration::from_millis(600);
/// Different moves of one search that are looked at: who changes its mind more often keeps what it said until then.
const MOST_LOOKS: u32 = 12;
/// Proposals of one search that are heard, however soon, and how long each further one takes: an honest search makes some dozens.
const MOST_PROPOSALS: u128 = 256;
const PROPOSAL_EVERY: Duration = Duration::from_millis(10);
/// Nodes that a thread can visit in a millisecond, whatever the machine: several times what the fastest engines do.
const FASTEST: u64 = 10_000;

/// A search that was sent out.
#[derive(Debug)]
pub(crate) struct RemoteSearch {
    /// The worker that searches.
    pub worker: RunId,
    /// What that machine is called.
    pub machine: MachineName,
    /// From a question to that worker to its answer.
    pub lag: Duration,
    /// How many threads it has there.
    pub threads: usize,
    /// Whether its nodes say how fast the machine is: those of a foreign engine do not.
    pub measures: bool,
    /// Whether its scores say what men are worth: one that does not know it is honest with any score.
    pub values_men: bool,
    /// The elector that searches.
    pub elector: ElectorName,
    /// The number of the table that it shares with its copies, if it does.
    pub table: Option<u64>,
    /// The search that it does.
    pub job: Job,
    /// Where the council waits for reports.
    pub reports: UnboundedSender<SearchReport>,
    /// Where it begins anew if it is lost before it proposed.
    pub fallback: Fallback,
    /// When it was sent.
    pub sent: Instant,
    /// What became of it so far.
    pub progress: ClaimProgress,
}

/// What a worker has said of a search, and what of it was passed on.
#[derive(Debug, Default)]
pub(crate) struct ClaimProgress {
    /// The position as FEN.
    position: Arc<str>,
    /// What the worker proposed last, as it said it.
    claim: Option<Proposal>,
    /// What was passed on last.
    believed: Option<Proposal>,
    /// How many nodes it had visited when it spoke last, and how long after it was sent.
    spoke: Option<(u64, Duration)>,
    /// How many proposals came.
    proposals: u128,
    /// How many moves were looked at for it.
    looks: u32,
    /// How it ended there; that is passed on after its last proposal.
    ending: Option<SearchEnding>,
}

#[derive(Debug)]
enum SearchEnding {
    Finished,
    Failed(String),
}

impl ClaimProgress {
    /// Nothing yet, of a search of this position.
    pub(crate) fn new(job: &Job) -> Self {
        Self { position: job.task.line.fen().into(), ..Self::default() }
    }
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

    /// It is lost. What was passed on stands; if that is nothing, it begins anew on this machine.
    pub(crate) fn lose(self, why: &str) {
        if self.progress.believed.is_some() {
            let why = format!("{} {why}; what it proposed stands", self.machine);
            self.fail(why);
        } else {
            self.begin_anew();
        }
    }

    /// It begins anew on this machine, whatever was proposed: nothing of that is worth keeping, or there is nothing.
    pub(crate) fn begin_anew(self) {
        self.fallback.resume(self.job, &self.reports);
    }

    /// The move that is claimed to be best, as it is looked at.
    fn look(&self) -> Option<LookKey> {
        let best = self.progress.claim.as_ref()?.best;
        Some(LookKey { position: Arc::clone(&self.progress.position), best: Some(best) })
    }

    /// The look for which its claim waits, if it does.
    fn awaits(&self, looks: &Looks) -> Option<LookKey> {
        self.look().filter(|key| self.progress.looks < MOST_LOOKS && looks.get(key).is_none())
    }

    /// Passes on what is believed of its claim, once its move was looked at.
    fn settle(&mut self, looks: &mut Looks) {
        let Some((claim, key)) = self.progress.claim.as_ref().zip(self.look()) else { return };
        let Some(home) = looks.get(&key) else { return };
        let judgement = scrutiny::judge(claim, &home, self.job.guidance.window);
        if judgement.verdict == ClaimVerdict::Outlying && self.values_men {
            looks.suspect(self.worker, &self.job, claim, &key);
        }
        if self.progress.believed.as_ref() != Some(&judgement.believed) {
            self.report(SearchReport::Proposal(judgement.believed.clone()));
            self.progress.believed = Some(judgement.believed);
        }
    }

    /// A claim says no more than the time since the search began allows.
    fn within_its_time(&self, now: Instant, claim: Proposal) -> Proposal {
        let roots = u32::try_from(self.job.task.line.legal_moves().len()).unwrap_or(u32::MAX);
        Proposal {
            nodes: claim.nodes.min(self.most_nodes(now)),
            time: claim.time.min(now.saturating_duration_since(self.sent)),
            root_moves_done: claim.root_moves_done.min(roots),
            ..claim
        }
    }

    /// No machine visits more nodes in the time since it was sent.
    fn most_nodes(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.sent);
        let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        milliseconds.saturating_mul(FASTEST).saturating_mul(self.threads as u64)
    }

    /// Whether a proposal that has just come is one too many for the time since the search began.
    fn floods(&mut self, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.sent);
        self.progress.proposals += 1;
        self.progress.proposals > MOST_PROPOSALS + elapsed.as_nanos() / PROPOSAL_EVERY.as_nanos()
    }

    /// It has visited so many nodes by now.
    fn speaks(&mut self, now: Instant, nodes: u64) {
        self.job.meter.count(nodes);
        self.progress.spoke = Some((nodes, now.saturating_duration_since(self.sent)));
    }

    /// What it came to, if that says anything about the machine.
    fn sample(&self) -> Option<SpeedSample> {
        let (nodes, after) = self.progress.spoke.filter(|_| self.measures)?;
        Some(SpeedSample { nodes, time: after.saturating_sub(self.lag), threads: self.threads })
    }
}

/// What is to be done about an event.
#[derive(Debug)]
pub(crate) enum EventOutcome {
    /// Nothing: it is stale, or was passed on.
    Nothing,
    /// A search has ended well, and came to this.
    Worked(Option<SpeedSample>),
    /// The elector failed there.
    Failed,
    /// The worker cannot have it.
    GivenBack(Box<RemoteSearch>),
    /// The worker sent what cannot be true: the search is taken from it.
    Invalid(Box<RemoteSearch>, Invalid),
}

/// All of them, by the serial numbers of the searches, and what was looked at for them.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    searches: BTreeMap<u64, RemoteSearch>,
    looks: Looks,
}

impl InFlight {
    /// Adds a search that was sent.
    pub(crate) fn add(&mut self, search: RemoteSearch) {
        self.searches.insert(search.job.task.id.serial, search);
    }

    /// A search is not wanted any more: its last proposal stands. Says where it ran, and what it came to.
    pub(crate) fn stop(&mut self, serial: u64) -> Option<(RunId, Option<SpeedSample>)> {
        let search = self.searches.remove(&serial)?;
        let stopped = (search.worker, search.sample());
        search.finish();
        Some(stopped)
    }

    /// A worker tells of a search.
    pub(crate) fn on_event(&mut self, now: Instant, from: RunId, event: SearchEvent) -> EventOutcome {
        let serial = event.search.serial;
        let known = self.searches.get_mut(&serial);
        let asked = known.filter(|search| {
            search.worker == from
                && search.job.task.id == event.search
                && search.elector == event.elector
                && search.progress.ending.is_none()
        });
        let Some(search) = asked else { return EventOutcome::Nothing };
        match event.kind {
            SearchEventKind::Proposal(_) if search.floods(now) => EventOutcome::Nothing,
            SearchEventKind::Proposal(text) => {
                match text.proposal(&search.job.task, &search.elector, &search.machine) {
                    Ok(proposal) => {
                        let claim = search.within_its_time(now, proposal);
                        search.speaks(now, claim.nodes);
                        search.progress.claim = Some(claim);
                        search.settle(&mut self.looks);
                        EventOutcome::Nothing
                    }
                    Err(invalid) => self
                        .searches
                        .remove(&serial)
                        .map_or(EventOutcome::Nothing, |search| EventOutcome::Invalid(Box::new(search), invalid)),
                }
            }
            SearchEventKind::Finished(nodes) => {
                search.speaks(now, nodes.min(search.most_nodes(now)));
                let sample = search.sample();
                search.progress.ending = Some(SearchEnding::Finished);
                self.end(serial);
                EventOutcome::Worked(sample)
            }
            SearchEventKind::Failed(why) => {
                let why = format!("on {}: {}", search.machine, why.chars().take(200).collect::<String>());
                search.progress.ending = Some(SearchEnding::Failed(why));
                self.end(serial);
                EventOutcome::Failed
            }
            SearchEventKind::GivenBack => {
                let search = self.searches.remove(&serial);
                search.map_or(EventOutcome::Nothing, |search| EventOutcome::GivenBack(Box::new(search)))
            }
        }
    }

    /// Passes the end of a search on, if it has ended and no claim of it waits for a look.
    fn end(&mut self, serial: u64) {
        let over = |search: &RemoteSearch| search.progress.ending.is_some() && search.awaits(&self.looks).is_none();
        if !self.searches.get(&serial).is_some_and(over) {
            return;
        }
        let Some(mut search) = self.searches.remove(&serial) else { return };
        match search.progress.ending.take() {
            Some(SearchEnding::Failed(why)) => search.fail(why),
            Some(SearchEnding::Finished) | None => search.finish(),
        }
    }

    /// What is to be looked at next: claims that wait, one search after the other, before those that are in doubt.
    pub(crate) fn next_look(&mut self) -> Option<Look> {
        let waiting = self.searches.values_mut().filter_map(|search| Some((search.awaits(&self.looks)?, search)));
        let Some((key, search)) = waiting.min_by_key(|(_, search)| search.progress.looks) else {
            return self.looks.next();
        };
        search.progress.looks += 1;
        Some(Look { key, line: Arc::clone(&search.job.task.line), length: LookLength::Short })
    }

    /// Something was looked at. Says who was caught by it.
    pub(crate) fn looked(&mut self, key: &LookKey, value: HomeValue) -> Vec<Caught> {
        let caught = self.looks.found(key, value);
        let concerned = self.searches.iter().filter(|(_, search)| search.look().as_ref() == Some(key));
        let concerned: Vec<u64> = concerned.map(|(serial, _)| *serial).collect();
        for serial in concerned {
            if let Some(search) = self.searches.get_mut(&serial) {
                search.settle(&mut self.looks);
            }
            self.end(serial);
        }
        caught
    }

    /// A worker says what it searches, with nodes so far. What it should be searching and is not was lost on the way.
    pub(crate) fn compare(&mut self, now: Instant, from: RunId, searches: &[SearchStatus]) -> Vec<RemoteSearch> {
        let mut missing = Vec::new();
        for search in self.searches.values().filter(|search| search.worker == from && search.progress.ending.is_none())
        {
            match searches.iter().find(|status| status.search == search.job.task.id) {
                Some(status) => search.job.meter.count(status.nodes.min(search.most_nodes(now))),
                None if now.saturating_duration_since(search.sent) < ARRIVED_AFTER + search.lag => {}
                None => missing.push(search.job.task.id.serial),
            }
        }
        missing.into_iter().filter_map(|serial| self.searches.remove(&serial)).collect()
    }

    /// All that ran on a worker that is gone.
    pub(crate) fn lost(&mut self, worker: RunId) -> Vec<RemoteSearch> {
        let theirs = self.searches.iter().filter(|(_, search)| search.worker == worker);
        let serials: Vec<u64> = theirs.map(|(serial, _)| *serial).collect();
        serials.into_iter().filter_map(|serial| self.searches.remove(&serial)).collect()
    }

    /// Threads that search, by worker.
    pub(crate) fn threads(&self) -> BTreeMap<RunId, usize> {
        let mut threads = BTreeMap::new();
        for search in self.searches.values().filter(|search| search.progress.ending.is_none()) {
            *threads.entry(search.worker).or_default() += search.threads;
        }
        threads
    }

    /// Who searches with the table of this number.
    pub(crate) fn searching_with(&self, table: u64) -> BTreeSet<RunId> {
        let running = self.searches.values().filter(|search| search.progress.ending.is_none());
        running.filter(|search| search.table == Some(table)).map(|search| search.worker).collect()
    }

    /// The serial numbers of all that are wanted.
    pub(crate) fn serials(&self) -> Vec<u64> {
        self.searches.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests;
