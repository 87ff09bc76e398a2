//! The searches of this daemon that run on workers, and the handling of their events.
//!
//! A proposal is passed on after a search of its move here, with the value of that search (`verification`); of several waiting
//! proposals the newest counts. Contested moves are searched longer (`council::electors::Verification`).
//!
//! Invariants: a search ends exactly once, by a report or by its fallback, after its proposals;
//! only events of the assigned worker count; events of stopped searches are dropped; at most
//! [`MOST_VERIFIED`] moves of a position are verified for one worker; the proposals of a search are
//! limited by [`MOST_PROPOSALS`]; verification has at most an eighth of one core's time.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    identity::RunId,
    measured::{Conduct, EndedSearch, SpeedSample},
    verification::{
        claims::{self, ClaimVerdict, HomeValue},
        values::{Caught, HomeSearch, HomeValues, NextSearch, SHARE, VerifiedMove, VerifiedPosition},
    },
    wire::{SearchEvent, SearchEventKind},
};
use council::electors::{Fallback, Reports, SearchReport, SearchStatus, Task, VerificationLength};
use domain::{ElectorName, MachineName, Phase, Proposal};

/// Time after the lag until a missing search counts as lost.
const ARRIVED_AFTER: Duration = Duration::from_millis(600);
/// The most verified moves of one position for one worker: a few at once, then one after each [`VERIFIED_EVERY`]. Further changes
/// of its move are ignored: among many moves, one may look good to short searches by chance.
const MOST_VERIFIED: u32 = 16;
const VERIFIED_AT_ONCE: u32 = 4;
const VERIFIED_EVERY: Duration = Duration::from_millis(25);
/// Time after twice the lag until a search without a proposal counts as silent.
const SILENT_AFTER: Duration = Duration::from_millis(50);
/// The most proposals of one search, beside one for each [`PROPOSAL_EVERY`]: an honest search makes some dozens.
const MOST_PROPOSALS: u128 = 256;
const PROPOSAL_EVERY: Duration = Duration::from_millis(10);
/// The most nodes of a thread in a millisecond: several times those of the fastest engines.
const FASTEST: u64 = 10_000;

#[derive(Debug)]
pub(crate) struct RemoteSearch {
    pub worker: RunId,
    pub machine: MachineName,
    /// Lag from a question to the worker's answer.
    pub lag: Duration,
    pub threads: usize,
    /// True if its nodes measure the machine's speed: an external engine's do not.
    pub measures: bool,
    /// True if its evaluation knows material: otherwise any score is honest.
    pub values_men: bool,
    pub elector: ElectorName,
    pub table: Option<u64>,
    pub task: Task,
    pub reports: Reports,
    pub fallback: Fallback,
    pub sent: Instant,
    pub progress: ClaimProgress,
}

/// Reports of a worker about a search, and the last passed on.
#[derive(Debug, Default)]
pub(crate) struct ClaimProgress {
    position: Arc<str>,
    /// The worker's last proposal, unchanged.
    claim: Option<Proposal>,
    /// The last proposal passed on.
    believed: Option<Proposal>,
    /// Nodes at its last report, and the time of that report after the start.
    spoke: Option<(u64, Duration)>,
    proposals: u128,
    verified: u32,
    /// End of the search there, or its failure; passed on after its last proposal.
    ending: Option<Result<(), String>>,
}

impl ClaimProgress {
    pub(crate) fn new(task: &Task) -> Self {
        Self { position: task.line.fen().into(), ..Self::default() }
    }
}

impl RemoteSearch {
    fn report(&self, report: SearchReport) {
        let _ = self.reports.send(report);
    }

    fn finish(self) {
        self.report(SearchReport::Finished(self.task.id.clone(), self.elector.clone()));
    }

    fn fail(self, why: String) {
        self.report(SearchReport::Failed(self.task.id.clone(), self.elector.clone(), why));
    }

    /// Handles the loss of the worker. Proposals passed on stand; without one, the search restarts
    /// on this machine.
    pub(crate) fn lose(self, why: &str) {
        metrics::counter!(crate::SEARCHES_LOST).increment(1);
        if self.progress.believed.is_some() {
            let why = format!("{} {why}; what it proposed stands", self.machine);
            self.fail(why);
        } else {
            self.begin_anew();
        }
    }

    /// Restarts the search on this machine, whatever was proposed.
    pub(crate) fn begin_anew(self) {
        self.fallback.resume(self.task, &self.reports);
    }

    fn claimed_move(&self) -> Option<VerifiedMove> {
        let best = self.progress.claim.as_ref()?.best;
        Some(VerifiedMove { position: Arc::clone(&self.progress.position), best: Some(best) })
    }

    fn awaits(&self, values: &HomeValues) -> Option<VerifiedMove> {
        self.claimed_move().filter(|key| values.get(key).is_none())
    }

    fn conduct(&self, now: Instant) -> Conduct {
        let silent_after = 2 * self.lag + SILENT_AFTER;
        match &self.progress {
            progress if progress.believed.is_some() => Conduct::Proposed,
            progress if progress.claim.is_some() => Conduct::Unknown,
            progress if progress.ending.is_some() || now.saturating_duration_since(self.sent) > silent_after => {
                Conduct::Silent
            }
            _ => Conduct::Unknown,
        }
    }

    /// Passes its claim on with the counted score, after the verification of its move.
    fn settle(&mut self, values: &mut HomeValues) {
        let Some((claim, key)) = self.progress.claim.as_ref().zip(self.claimed_move()) else { return };
        let Some(home) = values.get(&key) else { return };
        // The election bounds the score of a vote once more, and nothing else.
        let window = self.task.guidance.window;
        let is_vote = self.values_men && window.is_none() && self.task.id.phase == Phase::First;
        let (believed, verdict) = claims::judge(claim, &home, window, is_vote);
        if verdict == ClaimVerdict::Outlying && self.values_men {
            values.suspect(self.worker, &self.task, claim, &key);
        }
        if self.progress.believed.as_ref() != Some(&believed) {
            self.report(SearchReport::Proposal(believed.clone()));
            self.progress.believed = Some(believed);
        }
    }

    /// Returns a claim with its numbers limited by the time since the search began.
    fn within_its_time(&self, now: Instant, claim: Proposal) -> Proposal {
        let roots = u32::try_from(self.task.line.legal_moves().len()).unwrap_or(u32::MAX);
        Proposal {
            nodes: claim.nodes.min(self.most_nodes(now)),
            time: claim.time.min(now.saturating_duration_since(self.sent)),
            root_moves_done: claim.root_moves_done.min(roots),
            ..claim
        }
    }

    /// Returns the most nodes of any machine in the time since the command.
    fn most_nodes(&self, now: Instant) -> u64 {
        let elapsed = now.saturating_duration_since(self.sent);
        let milliseconds = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX).saturating_add(1);
        milliseconds.saturating_mul(FASTEST).saturating_mul(self.threads as u64)
    }

    /// Returns true if a new proposal exceeds the limit for the time since the search began.
    fn floods(&mut self, now: Instant) -> bool {
        let elapsed = now.saturating_duration_since(self.sent);
        self.progress.proposals += 1;
        self.progress.proposals > MOST_PROPOSALS + elapsed.as_nanos() / PROPOSAL_EVERY.as_nanos()
    }

    fn speaks(&mut self, now: Instant, nodes: u64) {
        self.task.state.count(nodes);
        self.progress.spoke = Some((nodes, now.saturating_duration_since(self.sent)));
    }

    fn ended(&self, now: Instant) -> EndedSearch {
        EndedSearch { worker: self.worker, conduct: self.conduct(now), sample: self.sample() }
    }

    fn sample(&self) -> Option<SpeedSample> {
        let (nodes, after) = self.progress.spoke.filter(|_| self.measures)?;
        Some(SpeedSample { nodes, time: after.saturating_sub(self.lag), threads: self.threads })
    }
}

#[derive(Debug)]
pub(crate) enum EventOutcome {
    /// The event is stale, or was passed on.
    Nothing,
    Worked(EndedSearch),
    Failed(EndedSearch),
    GivenBack(Box<RemoteSearch>),
    /// The worker sent an impossible report: the search is taken from it.
    Invalid(Box<RemoteSearch>, String),
}

/// All searches on workers, by serial number, and their verification.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    searches: BTreeMap<u64, RemoteSearch>,
    values: HomeValues,
    positions: Vec<VerifiedPosition>,
    /// The next time for the search of a doubtful claim.
    doubts_from: Option<Instant>,
}

impl InFlight {
    pub(crate) fn add(&mut self, search: RemoteSearch) {
        self.verify(&search);
        self.searches.insert(search.task.id.serial, search);
    }

    /// Verifies moves of its position from now on, and passes known values on.
    fn verify(&mut self, search: &RemoteSearch) {
        let Some(verification) = &search.task.guidance.verification else { return };
        self.positions.retain(|known| known.verification.strong_count() > 0);
        if self.positions.iter().any(|known| known.verification.as_ptr() == Arc::as_ptr(verification)) {
            return;
        }
        let position = Arc::clone(&search.progress.position);
        self.values.of(&position).for_each(|(best, value)| verification.found(best, value.length, value.score));
        self.positions.push(VerifiedPosition {
            position,
            line: Arc::clone(&search.task.line),
            verification: Arc::downgrade(verification),
            since: search.sent,
            spent: Duration::ZERO,
            verified: BTreeMap::new(),
        });
    }

    /// Stops a search: its last proposal stands.
    pub(crate) fn stop(&mut self, now: Instant, serial: u64) -> Option<EndedSearch> {
        let search = self.searches.remove(&serial)?;
        let stopped = search.ended(now);
        search.finish();
        Some(stopped)
    }

    pub(crate) fn on_event(&mut self, now: Instant, from: RunId, event: SearchEvent) -> EventOutcome {
        let serial = event.search.serial;
        let known = self.searches.get_mut(&serial);
        let asked = known.filter(|search| {
            search.worker == from
                && search.task.id == event.search
                && search.elector == event.elector
                && search.progress.ending.is_none()
        });
        let Some(search) = asked else { return EventOutcome::Nothing };
        match event.kind {
            SearchEventKind::Proposal(_) if search.floods(now) => EventOutcome::Nothing,
            SearchEventKind::Proposal(text) => match text.proposal(&search.task, &search.elector, &search.machine) {
                Ok(proposal) => {
                    let claim = search.within_its_time(now, proposal);
                    search.speaks(now, claim.nodes);
                    search.progress.claim = Some(claim);
                    search.settle(&mut self.values);
                    EventOutcome::Nothing
                }
                Err(invalid) => self
                    .searches
                    .remove(&serial)
                    .map_or(EventOutcome::Nothing, |search| EventOutcome::Invalid(Box::new(search), invalid)),
            },
            SearchEventKind::Finished(nodes) => {
                search.speaks(now, nodes.min(search.most_nodes(now)));
                search.progress.ending = Some(Ok(()));
                let ended = search.ended(now);
                self.end(serial);
                EventOutcome::Worked(ended)
            }
            SearchEventKind::Failed(why) => {
                let why = format!("on {}: {}", search.machine, why.chars().take(200).collect::<String>());
                search.progress.ending = Some(Err(why));
                let ended = search.ended(now);
                self.end(serial);
                EventOutcome::Failed(ended)
            }
            SearchEventKind::GivenBack => {
                let search = self.searches.remove(&serial);
                search.map_or(EventOutcome::Nothing, |search| EventOutcome::GivenBack(Box::new(search)))
            }
        }
    }

    /// Passes the end of a search on, unless its claim still waits for verification.
    fn end(&mut self, serial: u64) {
        let waits = |search: &RemoteSearch| search.awaits(&self.values).is_some() && self.may_verify(search);
        let over = |search: &RemoteSearch| search.progress.ending.is_some() && !waits(search);
        if !self.searches.get(&serial).is_some_and(over) {
            return;
        }
        let Some(mut search) = self.searches.remove(&serial) else { return };
        match search.progress.ending.take() {
            Some(Err(why)) => search.fail(why),
            Some(Ok(())) | None => search.finish(),
        }
    }

    fn position_of(&self, search: &RemoteSearch) -> Option<&VerifiedPosition> {
        self.positions.iter().find(|known| known.position == search.progress.position)
    }

    /// Returns the number of moves verified for the worker of a search in its position.
    fn verified_for(&self, search: &RemoteSearch) -> u32 {
        let of_position = self.position_of(search).and_then(|known| known.verified.get(&search.worker));
        of_position.copied().unwrap_or_default().max(search.progress.verified)
    }

    /// Returns the time until the claim of a search may be verified.
    fn wait(&self, now: Instant, search: &RemoteSearch) -> Duration {
        let position = self.position_of(search);
        let further = (self.verified_for(search) + 1).saturating_sub(VERIFIED_AT_ONCE);
        let since = position.map_or(search.sent, |known| known.since);
        let turn = (VERIFIED_EVERY * further).saturating_sub(now.saturating_duration_since(since));
        position.map_or(Duration::ZERO, |known| known.wait(now)).max(turn)
    }

    fn may_verify(&self, search: &RemoteSearch) -> bool {
        self.verified_for(search) < MOST_VERIFIED
    }

    /// Returns the next verification: the choice of the home electors, then waiting claims, of each
    /// worker in turn, then contested moves, then doubtful claims.
    pub(crate) fn next_search(&mut self, now: Instant) -> NextSearch {
        self.positions.retain(|known| known.verification.strong_count() > 0);
        let contested: Vec<(HomeSearch, Duration)> =
            self.positions.iter().filter_map(|known| Some((known.next()?, known.wait(now)))).collect();
        let waits = |search: &RemoteSearch| self.wait(now, search);
        let claims = self.searches.values().filter(|search| self.may_verify(search)).filter_map(|search| {
            let next = HomeSearch {
                key: search.awaits(&self.values)?,
                line: Arc::clone(&search.task.line),
                length: VerificationLength::Short,
                doubt: false,
            };
            Some((next, waits(search), self.verified_for(search), search.task.id.serial))
        });
        let claim = claims.min_by_key(|(_, wait, verified, _)| (*wait, *verified));
        let is_due = |next: &&(HomeSearch, Duration)| next.1.is_zero();
        let first = contested.iter().filter(is_due).find(|(next, _)| next.length == VerificationLength::Short);
        if let Some((next, _)) = first {
            return NextSearch::Now(next.clone());
        }
        if let Some((next, Duration::ZERO, _, serial)) = &claim {
            self.count_verified(*serial);
            return NextSearch::Now(next.clone());
        }
        if let Some((next, _)) = contested.iter().find(is_due) {
            return NextSearch::Now(next.clone());
        }
        let doubt = self.values.next();
        let doubt_waits = self.doubts_from.map_or(Duration::ZERO, |from| from.saturating_duration_since(now));
        let waiting = contested.iter().map(|(_, wait)| *wait).chain(claim.map(|(_, wait, ..)| wait));
        match doubt {
            Some(doubt) if doubt_waits.is_zero() => NextSearch::Now(doubt),
            doubt => waiting.chain(doubt.map(|_| doubt_waits)).min().map_or(NextSearch::Nothing, NextSearch::Wait),
        }
    }

    fn count_verified(&mut self, serial: u64) {
        let Some(search) = self.searches.get_mut(&serial) else { return };
        search.progress.verified += 1;
        let (worker, position) = (search.worker, &search.progress.position);
        if let Some(known) = self.positions.iter_mut().find(|known| known.position == *position) {
            *known.verified.entry(worker).or_default() += 1;
        }
    }

    /// Records a search of this machine. Returns the workers whose claims it refutes.
    pub(crate) fn verified(
        &mut self,
        now: Instant,
        next: &HomeSearch,
        value: HomeValue,
        took: Duration,
    ) -> Vec<Caught> {
        let key = &next.key;
        let caught = self.values.found(key, value);
        if next.doubt {
            self.doubts_from = Some(now + took * SHARE);
        }
        for known in self.positions.iter_mut().filter(|known| known.position == key.position) {
            known.spent += if next.doubt { Duration::ZERO } else { took };
            if let Some(verification) = known.verification.upgrade() {
                verification.found(key.best, value.length, value.score);
            }
        }
        let concerned = self.searches.iter().filter(|(_, search)| search.claimed_move().as_ref() == Some(key));
        let concerned: Vec<u64> = concerned.map(|(serial, _)| *serial).collect();
        for serial in concerned {
            if let Some(search) = self.searches.get_mut(&serial) {
                search.settle(&mut self.values);
            }
            self.end(serial);
        }
        caught
    }

    /// Takes a worker's list of its searches, with their nodes. Returns the missing ones: they were lost on the way.
    pub(crate) fn compare(
        &mut self,
        now: Instant,
        from: RunId,
        searches: &[(RunId, SearchStatus)],
    ) -> Vec<RemoteSearch> {
        let mut missing = Vec::new();
        for search in self.searches.values().filter(|search| search.worker == from && search.progress.ending.is_none())
        {
            match searches.iter().find(|(_, status)| status.search == search.task.id) {
                Some((_, status)) => search.task.state.count(status.nodes.min(search.most_nodes(now))),
                None if now.saturating_duration_since(search.sent) < ARRIVED_AFTER + search.lag => {}
                None => missing.push(search.task.id.serial),
            }
        }
        missing.into_iter().filter_map(|serial| self.searches.remove(&serial)).collect()
    }

    /// Removes and returns all searches of a lost worker.
    pub(crate) fn lost(&mut self, worker: RunId) -> Vec<RemoteSearch> {
        let theirs = self.searches.iter().filter(|(_, search)| search.worker == worker);
        let serials: Vec<u64> = theirs.map(|(serial, _)| *serial).collect();
        serials.into_iter().filter_map(|serial| self.searches.remove(&serial)).collect()
    }

    pub(crate) fn threads(&self) -> BTreeMap<RunId, usize> {
        let mut threads = BTreeMap::new();
        for search in self.searches.values().filter(|search| search.progress.ending.is_none()) {
            *threads.entry(search.worker).or_default() += search.threads;
        }
        threads
    }

    pub(crate) fn searching_with(&self, table: u64) -> BTreeSet<RunId> {
        let running = self.searches.values().filter(|search| search.progress.ending.is_none());
        running.filter(|search| search.table == Some(table)).map(|search| search.worker).collect()
    }

    pub(crate) fn serials(&self) -> Vec<u64> {
        self.searches.keys().copied().collect()
    }
}

#[cfg(test)]
mod tests;
