//! The first phase: every elector searches and proposes. The newest proposal of each is kept, so that the council can decide at
//! any moment.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::Notify;

use super::{
    GroupMode, Rule,
    ballots::Ballots,
    election::{ElectionOutcome, split},
    proving::Proving,
    question::{Progress, at_speed, share_of},
    search_session::{Event, SearchSession},
    searcher::{CouncilSearcher, search_id},
    second::{SearchAssignment, SecondPhaseTask, SplitGroup},
    trust,
};
use crate::{
    CouncilGame,
    electors::{ElectorSpec, Guidance, Hints, SearchReport, Task, Verification},
};
use domain::{Bound, GameLine, Phase, Proposal};
use engine::{BestOfGroup, Turnstile};

/// The wait for silent electors after others have finished, if only the electors' own limits end
/// the question.
const PATIENCE: Duration = Duration::from_secs(30);

/// The number of reports taken at once before the clock is checked again.
const LONGEST_BURST: usize = 1000;

pub(super) struct FirstPhaseSetup<L: CouncilGame> {
    pub electors: Arc<[ElectorSpec<L::Kind>]>,
    pub rule: Rule,
    pub seed: u64,
    pub groups: GroupMode,
    /// Its part of the time and of the nodes, 0 to 1.
    pub share: f64,
    /// The advisers' part of the move's time, 0 to 1.
    pub advised_share: f64,
    /// The advisers' part of the cores meanwhile, 0 to 0.5; 0 without advisers.
    pub advice: f64,
    /// The anchor. It goes on afterwards, and so gets all of its nodes.
    pub anchor: Option<usize>,
    pub round_robin: Option<Arc<Turnstile>>,
    /// Wakes the verifier of other machines' proposals; `None` without other machines.
    pub verifier: Option<Arc<Notify>>,
}

type LineVerification<L> = (Arc<L>, Arc<Verification<<L as GameLine>::Move>>);

pub(super) struct FirstPhase<L: CouncilGame> {
    setup: FirstPhaseSetup<L>,
    pub ballots: Ballots<L>,
    pub line: Arc<L>,
    /// The line of each searcher, and its newest proposal about it.
    lines: Vec<Arc<L>>,
    newest: Vec<Option<Proposal<L::Move>>>,
    advisers: Vec<usize>,
    pub leader: Option<Proposal<L::Move>>,
    /// The choice of the home electors alone.
    pub home: Option<L::Move>,
    /// Number of counted proposals, number of their different moves, and the split of the vote.
    standing: (usize, usize, f64),
    /// Verifications by line: values of home cores for the moves of other machines.
    verifications: Vec<LineVerification<L>>,
    /// The leading move's share of its searcher's nodes.
    effort: Option<f64>,
    changes: u32,
    pub proving: Proving<L>,
    pub hints: Hints<L::Move>,
    best_of_groups: Vec<Arc<BestOfGroup>>,
    split_groups: Vec<Option<SplitGroup<L>>>,
}

impl<L: CouncilGame> FirstPhase<L> {
    pub(super) fn begin(
        setup: FirstPhaseSetup<L>,
        session: &mut SearchSession<L>,
        searchers: &mut [CouncilSearcher<L>],
    ) -> Self {
        let line = Arc::clone(&session.question.line);
        let mut phase = Self {
            ballots: Ballots::new(Arc::clone(&setup.electors), Arc::clone(&line)),
            lines: searchers.iter().map(|_| Arc::clone(&line)).collect(),
            newest: searchers.iter().map(|_| None).collect(),
            advisers: (0..searchers.len()).filter(|number| searchers[*number].role.adviser.is_some()).collect(),
            leader: None,
            home: None,
            standing: (0, 0, 0.0),
            verifications: Vec::new(),
            effort: None,
            changes: 0,
            proving: Proving::begin(searchers),
            hints: Hints::new(setup.anchor.is_some()),
            best_of_groups: setup.electors.iter().map(|_| Arc::default()).collect(),
            split_groups: setup.electors.iter().map(|_| None).collect(),
            setup,
            line,
        };
        phase.turn_ballots(&Arc::clone(&phase.line), session);
        phase.put_all_to_work(0, session, searchers);
        phase
    }

    /// Starts the new searchers, at the end of the list; `electors` are all electors.
    pub(super) fn admit(
        &mut self,
        electors: Arc<[ElectorSpec<L::Kind>]>,
        session: &mut SearchSession<L>,
        searchers: &mut [CouncilSearcher<L>],
    ) {
        let present = self.lines.len();
        self.ballots.admit(Arc::clone(&electors));
        self.best_of_groups.resize_with(electors.len(), Arc::default);
        self.split_groups.resize_with(electors.len(), || None);
        self.setup.electors = electors;
        self.lines.resize_with(searchers.len(), || Arc::clone(&self.line));
        self.newest.resize_with(searchers.len(), || None);
        self.put_all_to_work(present, session, searchers);
    }

    /// Starts the searchers from number `first` on, each with its line.
    fn put_all_to_work(&mut self, first: usize, session: &mut SearchSession<L>, searchers: &mut [CouncilSearcher<L>]) {
        let time = session.time_left(self.setup.share);
        // Electors before advisers: no decision is possible until one of them has proposed.
        let advises = |number: &usize| searchers[*number].role.adviser.is_some();
        let (advisers, electors): (Vec<usize>, Vec<usize>) = (first..searchers.len()).partition(advises);
        for number in electors.into_iter().chain(advisers) {
            let place = searchers[number].role.elector.unwrap_or_default();
            let pondered = session.question.pondering.as_ref().and_then(|pondering| pondering.line_of(place).cloned());
            let line = pondered.unwrap_or_else(|| Arc::clone(&self.line));
            self.put_to_work(number, line, time, session, searchers);
        }
    }

    /// Returns the searchers of an elector with PV-split; empty for other electors.
    fn members_of_split(&self, elector: usize, searchers: &[CouncilSearcher<L>]) -> Vec<usize> {
        if self.setup.groups != GroupMode::PvSplit {
            return Vec::new();
        }
        let members = members(elector, searchers).filter(|number| self.setup.anchor != Some(*number));
        let members: Vec<usize> = members.collect();
        if members.len() > 1 { members } else { Vec::new() }
    }

    fn put_group_to_work(
        &mut self,
        elector: usize,
        members: Vec<usize>,
        line: Arc<L>,
        session: &SearchSession<L>,
        searchers: &mut [CouncilSearcher<L>],
    ) {
        for number in &members {
            self.lines[*number] = Arc::clone(&line);
            // A member is often idle; searchers in turns do not wait for it.
            if let Some(round_robin) = &self.setup.round_robin {
                round_robin.place(*number).leave();
            }
        }
        let question = &*session.question;
        let allowed = question.root_moves();
        let candidates = if allowed.is_empty() { line.legal_moves() } else { allowed };
        let limits = at_speed(&share_of(&question.limits, self.setup.share), self.setup.electors[elector].speed);
        let (game, phase) = (question.game.clone(), Phase::First);
        let task = SecondPhaseTask { game, phase, line, candidates, searchers: members.len(), limits };
        let (group, assignments) = SplitGroup::begin(task, members);
        self.split_groups[elector] = Some(group);
        assign(assignments, session, searchers);
    }

    /// Starts a search of `line`, with `time` left.
    fn put_to_work(
        &mut self,
        number: usize,
        line: Arc<L>,
        time: Option<Duration>,
        session: &SearchSession<L>,
        searchers: &mut [CouncilSearcher<L>],
    ) {
        if let Some(elector) = searchers[number].role.elector {
            let members = self.members_of_split(elector, searchers);
            if members.contains(&number) {
                // The first of them begins for all.
                if members.first() == Some(&number) {
                    self.put_group_to_work(elector, members, line, session, searchers);
                }
                return;
            }
        }
        if searchers[number].role.adviser.is_some() && !self.setup.has_time_for_advice(time, searchers) {
            self.newest[number] = None;
            self.lines[number] = line;
            return searchers[number].stop();
        }
        let question = &*session.question;
        let turn = self.setup.round_robin.as_ref().map(|round_robin| Arc::new(round_robin.place(number)));
        let guidance = Guidance { turn, ..self.guidance(number, searchers) };
        let guidance = self.proving.guide(number, guidance);
        let guidance = Guidance { verification: self.verification_of(&line), ..guidance };
        let task = Task {
            root_moves: question.root_moves(),
            limits: self.setup.limits(number, &question.limits, searchers),
            guidance,
            time,
            ..Task::new(search_id(&question.game, &*line, Phase::First), Arc::clone(&line))
        };
        self.newest[number] = None;
        self.lines[number] = line;
        searchers[number].search(task, &session.reports);
    }

    pub(super) fn advice(&self) -> impl Iterator<Item = &Proposal<L::Move>> {
        self.advising().filter_map(|number| self.newest_of(number)).chain(self.proving.told(&self.line))
    }

    /// Iterates over the advisers without the provers, by number: they search for a part of the move only.
    fn advising(&self) -> impl Iterator<Item = usize> {
        self.advisers.iter().copied().filter(|number| !self.proving.is_prover(*number))
    }

    /// Returns a searcher's guidance beside its task: other electors' proposals for the anchor, the
    /// advisers' for electors, and the group's best score for members of a group.
    fn guidance(&self, number: usize, searchers: &[CouncilSearcher<L>]) -> Guidance<L::Move> {
        if self.setup.anchor == Some(number) {
            return Guidance { hints: Some(self.hints.clone()), ..Guidance::default() };
        }
        if let Some(adviser) = searchers[number].role.adviser {
            return Guidance { advises: Some((self.hints.clone(), adviser)), ..Guidance::default() };
        }
        let Some(elector) = searchers[number].role.elector else { return Guidance::default() };
        let hints = (!self.advisers.is_empty()).then(|| self.hints.clone());
        let shares_score = self.setup.groups == GroupMode::PeerScore && members(elector, searchers).count() > 1;
        let best_of_group = shares_score.then(|| Arc::clone(&self.best_of_groups[elector]));
        Guidance { hints, best_of_group, ..Guidance::default() }
    }

    /// Receives proposals until the time of this phase is over, all electors have finished, or the others cannot change the
    /// outcome. Returns `None` if cancelled. It can be dropped and called again without a loss.
    pub(super) async fn run(
        &mut self,
        session: &mut SearchSession<'_, L>,
        searchers: &mut [CouncilSearcher<L>],
    ) -> Option<()> {
        let share = self.setup.share;
        let mut deadline = session.deadline(&self.progress(), share);
        while !self.is_settled(searchers) {
            // Without a proposal, electors have until the end of the move.
            let end = match self.leader {
                Some(_) => deadline,
                None => session.deadline(&self.progress(), 1.0).max(deadline),
            };
            // Advisers search for their part of the move.
            let advising = self.advising().any(|number| searchers[number].is_searching());
            let until =
                if advising { end.min(session.deadline(&self.progress(), self.setup.advised_share)) } else { end };
            let patient_until = Instant::now() + PATIENCE;
            let signs_before = signs_of_life(searchers);
            let impatient = session.is_endless(until) && self.any_finished(searchers);
            let votes_here =
                |searcher: &CouncilSearcher<L>| searcher.role.elector.is_some() && searcher.is_searching_here();
            let others = if impatient {
                session.patience_with_others(searchers.iter().any(votes_here), self.leader.is_some())
            } else {
                None
            };
            let wait = others.unwrap_or(if impatient { patient_until } else { until });
            match session.next(wait, self.leader.is_some()).await {
                Event::Cancelled => return None,
                Event::Verified => {
                    self.find_leader(searchers);
                    deadline = session.deadline(&self.progress(), share);
                }
                Event::TimeIsUp if others.is_some_and(|until| until <= Instant::now()) => break,
                Event::TimeIsUp if impatient && !session.must_answer() && signs_of_life(searchers) > signs_before => {}
                Event::TimeIsUp if advising && !session.must_answer() && Instant::now() < end => {
                    self.advising().for_each(|number| searchers[number].stop());
                }
                Event::TimeIsUp => break,
                Event::Reconsider => {
                    self.turn(session, searchers);
                    deadline = session.deadline(&self.progress(), share);
                }
                Event::SearchReport(report) => {
                    if self.take_all(Some(report), session, searchers) {
                        deadline = session.deadline(&self.progress(), share);
                    }
                }
            }
        }
        self.take_all(None, session, searchers);
        Some(())
    }

    /// Takes a report and all waiting ones, and finds the leader once for all of them: with hundreds of electors, that costs more
    /// than taking a report. Returns true if a proposal among them counts.
    fn take_all(
        &mut self,
        first: Option<SearchReport<L::Move>>,
        session: &mut SearchSession<L>,
        searchers: &mut [CouncilSearcher<L>],
    ) -> bool {
        let (mut counts, mut taken) = (false, 0);
        let mut next = first.or_else(|| session.pending_report());
        while let Some(report) = next {
            counts |= self.take(report, session, searchers);
            taken += 1;
            next = (taken < LONGEST_BURST).then(|| session.pending_report()).flatten();
        }
        if counts {
            self.find_leader(searchers);
        }
        counts
    }

    /// Takes a report; returns true for a proposal about the current line.
    fn take(
        &mut self,
        report: SearchReport<L::Move>,
        session: &mut SearchSession<L>,
        searchers: &mut [CouncilSearcher<L>],
    ) -> bool {
        let Some(number) = searchers.iter_mut().position(|searcher| searcher.accepts(&report)) else { return false };
        if let Some(elector) = searchers[number].role.elector
            && self.split_groups[elector].is_some()
        {
            return self.take_of_group(elector, number, &report, session, searchers);
        }
        let SearchReport::Proposal(proposal) = report else { return false };
        session.show(&proposal);
        let counts = self.lines[number] == self.line;
        if self.proving.is_prover(number) {
            self.proving.take(&self.lines[number], proposal);
            self.proving.inform(&self.line, &mut self.ballots);
            return counts;
        }
        self.newest[number] = Some(proposal);
        if counts && let Some(elector) = searchers[number].role.elector {
            self.cast(elector, searchers);
        }
        counts
    }

    /// Takes a report of a group's member; returns true if the group has a new proposal about the current line.
    fn take_of_group(
        &mut self,
        elector: usize,
        number: usize,
        report: &SearchReport<L::Move>,
        session: &mut SearchSession<L>,
        searchers: &mut [CouncilSearcher<L>],
    ) -> bool {
        let Some(group) = &mut self.split_groups[elector] else { return false };
        let before = group.found().map(|found| (found.best, found.score, found.depth));
        let assignments = group.on_report(number, report);
        let found = group.found().cloned();
        let counts = *group.line() == self.line;
        assign(assignments, session, searchers);
        let Some(found) = found.filter(|found| before != Some((found.best, found.score, found.depth))) else {
            return false;
        };
        session.show(&found);
        if counts {
            self.cast(elector, searchers);
        }
        counts
    }

    /// Returns the newest proposal of a searcher about the current line.
    pub(super) fn newest_of(&self, number: usize) -> Option<&Proposal<L::Move>> {
        self.newest.get(number)?.as_ref().filter(|_| self.lines[number] == self.line)
    }

    /// Casts an elector's vote: the group's common result with PV-split, otherwise the proposal of the member that searched most.
    fn cast(&mut self, elector: usize, searchers: &[CouncilSearcher<L>]) {
        let speaker = if let Some(group) = &self.split_groups[elector] {
            group.found().filter(|_| *group.line() == self.line).cloned()
        } else {
            let proposals = members(elector, searchers).filter_map(|number| self.newest_of(number));
            // Other machines only claim their depth and nodes.
            proposals.max_by_key(|p| (p.machine.is_none(), p.bound == Bound::Exact, p.depth, p.nodes)).cloned()
        };
        let Some(speaker) = speaker else { return };
        self.ballots.cast(elector, speaker);
        if self.setup.anchor.is_some() {
            self.hints.tell(self.ballots.moves());
        }
    }

    fn find_leader(&mut self, searchers: &[CouncilSearcher<L>]) {
        let seed = self.setup.seed;
        let counted = self.setup.rule.counted(&self.ballots, seed);
        let leader = self.setup.rule.leader_of(&counted, seed).cloned();
        let dissent = leader.as_ref().map_or(0.0, |leader| split(&counted, leader.best));
        let standing = (counted.len(), counted.moves().len(), dissent);
        let has_remote = self.ballots.has_remote();
        let home = if has_remote { counted.home } else { leader.as_ref().map(|leader| leader.best) };
        if has_remote && let Some(verification) = self.ballots.verification() {
            verification.contest(home, counted.challenger);
        }
        drop(counted);
        (self.home, self.standing) = (home, standing);
        let changed = |(before, after): (&Proposal<L::Move>, &Proposal<L::Move>)| before.best != after.best;
        self.changes += u32::from(self.leader.as_ref().zip(leader.as_ref()).is_some_and(changed));
        let speaks = |newest: &Option<Proposal<L::Move>>| {
            newest.as_ref().zip(leader.as_ref()).is_some_and(|(newest, leader)| newest.search == leader.search)
        };
        self.effort = self.newest.iter().position(speaks).and_then(|number| searchers[number].effort());
        self.leader = leader;
    }

    /// Replaces the ballots by empty ones about this line.
    fn turn_ballots(&mut self, line: &Arc<L>, session: &mut SearchSession<L>) {
        let verification = self.verification_of(line);
        session.verification.clone_from(&verification);
        self.ballots = Ballots::new(Arc::clone(&self.setup.electors), Arc::clone(line)).verified_by(verification);
    }

    fn verification_of(&mut self, line: &Arc<L>) -> Option<Arc<Verification<L::Move>>> {
        let verifier = self.setup.verifier.as_ref()?;
        if let Some((_, known)) = self.verifications.iter().find(|(of, _)| of == line) {
            return Some(Arc::clone(known));
        }
        let verification = Verification::new(Arc::clone(verifier));
        self.verifications.push((Arc::clone(line), Arc::clone(&verification)));
        Some(verification)
    }

    pub(super) fn may_be_played(&self, proposal: &Proposal<L::Move>) -> bool {
        proposal.machine.is_none() || trust::may_be_played(proposal.best, self.home, &self.ballots)
    }

    /// Turns all electors to the settled line after pondering several.
    fn turn(&mut self, session: &mut SearchSession<L>, searchers: &mut [CouncilSearcher<L>]) {
        let settled = session.question.pondering.as_ref().and_then(|pondering| pondering.settled().cloned());
        let Some(line) = settled.filter(|line| *line != self.line || self.lines.iter().any(|other| other != line))
        else {
            return;
        };
        self.line = Arc::clone(&line);
        self.turn_ballots(&line, session);
        self.proving.inform(&line, &mut self.ballots);
        self.leader = None;
        // Scores of another line would be wrong windows for this one. Searchers of this line keep their groups.
        self.best_of_groups = self.setup.electors.iter().map(|_| Arc::default()).collect();
        let time = session.time_left(self.setup.share);
        for number in 0..searchers.len() {
            if *self.lines[number] != *line {
                self.put_to_work(number, Arc::clone(&line), time, session, searchers);
            }
        }
        for elector in 0..self.setup.electors.len() {
            self.cast(elector, searchers);
        }
        self.find_leader(searchers);
    }

    /// Returns true if no further proposal can change the outcome. The anchor goes on in the second
    /// phase and is not awaited.
    fn is_settled(&self, searchers: &[CouncilSearcher<L>]) -> bool {
        let searching = searchers
            .iter()
            .enumerate()
            .filter(|(_, searcher)| searcher.is_searching() && searcher.role.adviser.is_none());
        if self.leader.is_none() {
            return searching.count() == 0;
        }
        if self.ballots.proof().is_some() && self.setup.round_robin.is_none() {
            return true;
        }
        // A repeatable run includes all proofs.
        if self.setup.round_robin.is_some() && self.proving.goes_on(searchers) {
            return false;
        }
        let awaited = searching.filter(|(number, _)| Some(*number) != self.setup.anchor);
        let mut electors: Vec<usize> = awaited.filter_map(|(_, searcher)| searcher.role.elector).collect();
        electors.dedup();
        // Before a second phase every candidate counts, independent of its weight. And in a
        // repeatable run no elector is stopped halfway: the next search would depend on its progress.
        let votes_decide = self.setup.share >= 1.0 && self.setup.round_robin.is_none();
        electors.is_empty() || (votes_decide && self.setup.rule.is_decided(&self.ballots, &electors))
    }

    fn any_finished(&self, searchers: &[CouncilSearcher<L>]) -> bool {
        searchers.iter().any(|searcher| !searcher.is_searching())
    }

    pub(super) fn progress(&self) -> Progress<L::Move> {
        let leader = self.leader.as_ref();
        Progress {
            electors: self.setup.electors.len(),
            proposals: self.standing.0,
            distinct_moves: self.standing.1,
            changes: self.changes,
            leader: leader.map(|leader| leader.best),
            score: leader.map(|leader| leader.score),
            depth: leader.map_or(0, |leader| leader.depth),
            split: self.standing.2,
            effort: self.effort,
            to_be_continued: self.setup.share < 1.0,
        }
    }

    pub(super) fn candidates(&self) -> Vec<L::Move> {
        self.setup.rule.counted(&self.ballots, self.setup.seed).moves()
    }

    pub(super) fn elect(&self) -> Option<ElectionOutcome<L>> {
        self.setup.rule.elect(&self.ballots, self.setup.seed)
    }
}

fn members<L: CouncilGame>(elector: usize, searchers: &[CouncilSearcher<L>]) -> impl Iterator<Item = usize> {
    (0..searchers.len()).filter(move |number| searchers[*number].role.elector == Some(elector))
}

fn assign<L: CouncilGame>(
    assignments: Vec<SearchAssignment<L>>,
    session: &SearchSession<L>,
    searchers: &mut [CouncilSearcher<L>],
) {
    for (searcher, task) in assignments {
        searchers[searcher].search(task, &session.reports);
    }
}

fn signs_of_life<L: CouncilGame>(searchers: &[CouncilSearcher<L>]) -> u64 {
    searchers.iter().map(CouncilSearcher::signs_of_life).sum()
}
