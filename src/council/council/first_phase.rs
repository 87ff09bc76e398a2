//! The first phase: every elector proposes. The newest proposal of each is always at hand, so that it can be decided at any
//! moment.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    GroupMode,
    ballots::Ballots,
    election::{Rule, split},
    hearing::{Event, Hearing},
    process::{Process, next_serial},
    question::{Progress, share_of},
};
use crate::pool::{ElectorSpec, Guidance, Hints, Job, Report};
use chess::{Bound, Line, Phase, Proposal, SearchId, Task, UciMove};
use engine::{BestOfGroup, Turnstile};

/// Where nothing but the electors' own limits ends a question, those that have neither said nor done anything for so long
/// after others have finished are not waited for any more.
const PATIENCE: Duration = Duration::from_secs(30);

/// So many reports are taken at once before the clock is looked at again.
const LONGEST_BURST: usize = 1000;

/// How the first phase is set up.
pub(super) struct Setup {
    pub electors: Arc<[ElectorSpec]>,
    pub rule: Rule,
    pub groups: GroupMode,
    /// Its part of the time and of the nodes, 0 to 1.
    pub share: f64,
    /// The process that goes on afterwards and so gets all of its nodes.
    pub anchor: Option<usize>,
}

/// What was heard so far.
pub(super) struct FirstPhase {
    setup: Setup,
    pub ballots: Ballots,
    pub line: Arc<Line>,
    /// By process: what it searches, and its newest proposal about that.
    lines: Vec<Arc<Line>>,
    newest: Vec<Option<Proposal>>,
    pub leader: Option<Proposal>,
    changes: u32,
    /// The moves proposed, for the process that never stops.
    pub hints: Hints,
    best_of_groups: Vec<Arc<BestOfGroup>>,
    /// Where the processes take turns, in virtual time.
    turnstile: Option<Arc<Turnstile>>,
}

impl FirstPhase {
    /// Puts every process to work.
    pub fn begin(setup: Setup, hearing: &mut Hearing, processes: &mut [Process]) -> Self {
        let line = Arc::clone(&hearing.question.line);
        let mut phase = Self {
            ballots: Ballots::new(Arc::clone(&setup.electors), Arc::clone(&line)),
            lines: processes.iter().map(|_| Arc::clone(&line)).collect(),
            newest: processes.iter().map(|_| None).collect(),
            leader: None,
            changes: 0,
            hints: Hints::default(),
            best_of_groups: setup.electors.iter().map(|_| Arc::default()).collect(),
            turnstile: hearing.question.in_step.then(|| Turnstile::new(processes.len())),
            setup,
            line,
        };
        for number in 0..processes.len() {
            let place = processes[number].elector.unwrap_or_default();
            let pondered = hearing.question.pondering.as_ref().and_then(|pondering| pondering.line_of(place).cloned());
            let line = pondered.unwrap_or_else(|| Arc::clone(&phase.line));
            phase.put_to_work(number, line, hearing, processes);
        }
        phase
    }

    fn put_to_work(&mut self, number: usize, line: Arc<Line>, hearing: &Hearing, processes: &mut [Process]) {
        let question = &*hearing.question;
        let whole = self.setup.anchor == Some(number);
        let task = Task {
            id: SearchId { game: question.game.clone(), ply: line.ply(), serial: next_serial(), phase: Phase::First },
            line: Arc::clone(&line),
            root_moves: question.root_moves(),
            limits: share_of(&question.limits, if whole { 1.0 } else { self.setup.share }),
        };
        let place = self.turnstile.as_ref().map(|turnstile| Arc::new(turnstile.place(number)));
        let guidance = Guidance { place, ..self.guidance(number, &line, processes) };
        self.newest[number] = None;
        self.lines[number] = line;
        processes[number].search(Job::guided(task, guidance), &hearing.reports);
    }

    /// What a process is told besides its task: the anchor what others propose, the members of a group their share of the
    /// root moves and the group's best score.
    fn guidance(&self, number: usize, line: &Line, processes: &[Process]) -> Guidance {
        if self.setup.anchor == Some(number) {
            return Guidance { hints: Some(self.hints.clone()), ..Guidance::default() };
        }
        let Some(elector) = processes[number].elector else { return Guidance::default() };
        let members = processes.iter().filter(|process| process.elector == Some(elector)).count();
        if members < 2 {
            return Guidance::default();
        }
        let member = processes[..number].iter().filter(|process| process.elector == Some(elector)).count();
        // Members that looked at the same moves in the same order would do the same work twice.
        let hints = Hints::default();
        hints.tell(line.legal_moves().into_iter().skip(member).step_by(members).collect());
        let shares_score = self.setup.groups == GroupMode::PeerScore;
        let best_of_group = shares_score.then(|| Arc::clone(&self.best_of_groups[elector]));
        Guidance { hints: Some(hints), best_of_group, ..Guidance::default() }
    }

    /// Hears the electors until the time of this phase is over, all have finished, or those that have not cannot change the
    /// outcome. `None` if cancelled.
    pub async fn hear(&mut self, hearing: &mut Hearing<'_>, processes: &mut [Process]) -> Option<()> {
        let share = self.setup.share;
        let mut deadline = hearing.deadline(&self.progress(), share);
        while !self.is_settled(processes) {
            // Whoever is late still has until the end of the move to make the council able to answer at all.
            let until = match self.leader {
                Some(_) => deadline,
                None => hearing.deadline(&self.progress(), 1.0).max(deadline),
            };
            let patient_until = Instant::now() + PATIENCE;
            let work_before = nodes(processes);
            let impatient = self.any_finished(processes) && patient_until < until;
            match hearing.next(if impatient { patient_until } else { until }, self.leader.is_some()).await {
                Event::Cancelled => return None,
                Event::TimeIsUp if impatient && !hearing.must_answer() && nodes(processes) > work_before => {}
                Event::TimeIsUp => break,
                Event::Reconsider => {
                    self.turn(hearing, processes);
                    deadline = hearing.deadline(&self.progress(), share);
                }
                Event::Report(report) => {
                    if self.take_all(Some(report), hearing, processes) {
                        deadline = hearing.deadline(&self.progress(), share);
                    }
                }
            }
        }
        self.take_all(None, hearing, processes);
        Some(())
    }

    /// Takes a report and those that have come meanwhile, and finds the leader once for all of them: with hundreds of electors
    /// it costs more than to take a report. `true` if a proposal among them counts.
    fn take_all(&mut self, first: Option<Report>, hearing: &mut Hearing, processes: &mut [Process]) -> bool {
        let (mut counts, mut taken) = (false, 0);
        let mut next = first.or_else(|| hearing.unheard());
        while let Some(report) = next {
            counts |= self.take(report, hearing, processes);
            taken += 1;
            next = (taken < LONGEST_BURST).then(|| hearing.unheard()).flatten();
        }
        if counts {
            self.find_leader();
        }
        counts
    }

    /// Takes a report; `true` if it was a proposal that counts.
    fn take(&mut self, report: Report, hearing: &mut Hearing, processes: &mut [Process]) -> bool {
        let Some(number) = processes.iter_mut().position(|process| process.hears(&report)) else { return false };
        let Report::Proposal(proposal) = report else { return false };
        hearing.show(&proposal);
        self.newest[number] = Some(proposal);
        let counts = *self.lines[number] == *self.line;
        if counts && let Some(elector) = processes[number].elector {
            self.cast(elector, processes);
        }
        counts
    }

    /// The newest proposal of a process about the position in question.
    pub fn newest_of(&self, number: usize) -> Option<&Proposal> {
        self.newest.get(number)?.as_ref().filter(|_| *self.lines[number] == *self.line)
    }

    /// Casts an elector's vote: of a group, the one who searched most speaks for it.
    fn cast(&mut self, elector: usize, processes: &[Process]) {
        let members = (0..processes.len()).filter(|number| processes[*number].elector == Some(elector));
        let proposals = members.filter_map(|number| self.newest_of(number));
        let speaker = proposals.max_by_key(|p| (p.bound == Bound::Exact, p.depth, p.nodes)).cloned();
        let Some(speaker) = speaker else { return };
        self.ballots.cast(elector, speaker);
        if self.setup.anchor.is_some() {
            self.hints.tell(self.ballots.moves());
        }
    }

    fn find_leader(&mut self) {
        let leader = self.setup.rule.leader(&self.ballots);
        let changed = |(before, after): (&Proposal, &Proposal)| before.best != after.best;
        self.changes += u32::from(self.leader.as_ref().zip(leader.as_ref()).is_some_and(changed));
        self.leader = leader;
    }

    /// Turns all electors to the position that has come, where several were pondered.
    fn turn(&mut self, hearing: &Hearing, processes: &mut [Process]) {
        let settled = hearing.question.pondering.as_ref().and_then(|pondering| pondering.settled().cloned());
        let Some(line) =
            settled.filter(|line| **line != *self.line || self.lines.iter().any(|other| **other != **line))
        else {
            return;
        };
        self.line = Arc::clone(&line);
        self.ballots = Ballots::new(Arc::clone(&self.setup.electors), Arc::clone(&line));
        self.leader = None;
        for number in 0..processes.len() {
            if *self.lines[number] != *line {
                self.put_to_work(number, Arc::clone(&line), hearing, processes);
            }
        }
        for elector in 0..self.setup.electors.len() {
            self.cast(elector, processes);
        }
        self.find_leader();
    }

    /// Whether nothing that may still be said can change the outcome. The anchor goes on in the second phase and is not
    /// waited for.
    fn is_settled(&self, processes: &[Process]) -> bool {
        let searching = processes.iter().enumerate().filter(|(_, process)| process.is_searching());
        if self.leader.is_none() {
            return searching.count() == 0;
        }
        let awaited = searching.filter(|(number, _)| Some(*number) != self.setup.anchor);
        let mut electors: Vec<usize> = awaited.filter_map(|(_, process)| process.elector).collect();
        electors.dedup();
        // With a second phase to come, every candidate counts, whatever it weighs. And where a run is to be repeated, nobody is
        // stopped halfway: how far a search had come would show in the next one.
        let votes_decide = self.setup.share >= 1.0 && self.turnstile.is_none();
        electors.is_empty() || (votes_decide && self.setup.rule.is_decided(&self.ballots, &electors))
    }

    fn any_finished(&self, processes: &[Process]) -> bool {
        processes.iter().any(|process| !process.is_searching())
    }

    /// How far it has come.
    pub fn progress(&self) -> Progress {
        let leader = self.leader.as_ref();
        Progress {
            electors: self.setup.electors.len(),
            proposals: self.ballots.len(),
            distinct_moves: self.ballots.moves().len(),
            changes: self.changes,
            leader: leader.map(|leader| leader.best),
            score: leader.map(|leader| leader.score),
            depth: leader.map_or(0, |leader| leader.depth),
            split: leader.map_or(0.0, |leader| split(&self.ballots, leader.best)),
        }
    }

    /// The moves that the second phase is to choose from.
    pub fn candidates(&self) -> Vec<UciMove> {
        self.ballots.moves()
    }

    /// The rule by which it elects.
    pub fn rule(&self) -> &Rule {
        &self.setup.rule
    }
}

/// Nodes of all processes together.
fn nodes(processes: &[Process]) -> u64 {
    processes.iter().map(Process::nodes).sum()
}
