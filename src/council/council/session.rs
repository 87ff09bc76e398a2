//! The council in session: a roster seated for one game after another, and how it answers a question.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::{
    CouncilSettings, CriterionName, GroupMode, Roster, SecondPhaseMode,
    election::{Outcome, Rule},
    first_phase::{FirstPhase, Setup},
    hearing::Hearing,
    process::{Process, Tables, metrics},
    question::{Question, share_of},
    second::{self, Layout, SecondPhase, Stage},
};
use crate::pool::{ElectorKind, ElectorSpec, Instance, Pool, Seat};
use chess::{Decision, Knowledge, Proposal, Source, Variant};

/// A roster seated for one game after another.
pub struct Council {
    pool: Pool,
    settings: CouncilSettings,
    /// The criterion; where the rules of the game are not our engine's, one that needs nothing of it.
    criterion: CriterionName,
    electors: Arc<[ElectorSpec]>,
    /// First those who search in the first phase: the electors with their groups. Then complete knowledge for the second
    /// phase, seated when first needed. In the mode `continued` the last of the former is the one that goes on.
    processes: Vec<Process>,
    voters: usize,
    /// For so many cores the second phase is seated.
    seated_for: usize,
    tables: Tables,
    /// A common table is made for no more electors than the roster has on this machine alone.
    tables_for: usize,
}

impl Council {
    /// Seats those electors of the roster that can play `variant`.
    pub fn new(pool: &Pool, roster: &Roster, settings: &CouncilSettings, variant: Variant) -> Self {
        let standard = variant.is_standard_rules();
        let mut council = Self {
            pool: pool.clone(),
            settings: settings.clone(),
            criterion: if standard { settings.criterion } else { CriterionName::Depth },
            electors: roster.seated(variant, pool.cores_together()).into(),
            tables_for: roster.electors().len(),
            processes: Vec::new(),
            voters: 0,
            seated_for: 0,
            tables: Tables::default(),
        };
        council.seat_voters();
        council
    }

    /// Who sits in it.
    pub fn electors(&self) -> &[ElectorSpec] {
        &self.electors
    }

    /// The next question belongs to another game: everybody forgets the last one.
    pub fn new_game(&self) {
        self.processes.iter().for_each(Process::new_game);
    }

    /// Decides. `watch` sees every proposal as it comes. `None` if `cancelled` first, or if there is no legal move.
    pub async fn decide(
        &mut self,
        mut question: Question,
        cancelled: &CancellationToken,
        watch: &mut (dyn FnMut(&Proposal) + Send),
    ) -> Option<Decision> {
        let in_session = self.pool.session();
        self.processes.iter_mut().for_each(Process::begin_question);
        let mut hearing = Hearing::new(&mut question, cancelled, watch);
        let decided = self.hear(&mut hearing).await;
        self.processes.iter_mut().for_each(Process::stop);
        drop(in_session);
        decided
    }

    /// Hears both phases.
    async fn hear(&mut self, hearing: &mut Hearing<'_>) -> Option<Decision> {
        let setup = Setup {
            electors: Arc::clone(&self.electors),
            rule: Rule::new(self.criterion, &self.settings, self.seed_of(hearing.question)),
            groups: self.settings.groups,
            share: self.first_share(),
            anchor: self.anchor(),
        };
        let electing = &mut self.processes[..self.voters];
        let mut first = FirstPhase::begin(setup, hearing, electing);
        first.hear(hearing, electing).await?;
        let stopping = self.anchor().unwrap_or(self.voters);
        self.processes[..stopping].iter_mut().for_each(Process::stop);
        let outcome = first.rule().elect(&first.ballots);
        let second = match &outcome {
            Some(outcome) if self.has_second_phase(&first, hearing) => {
                self.second_phase(&first, outcome, hearing).await?
            }
            _ => None,
        };
        self.decision(&first, outcome, second, hearing)
    }

    /// Complete knowledge on the proposed moves. The outer `None` if cancelled, the inner one if nothing was found.
    async fn second_phase(
        &mut self,
        first: &FirstPhase,
        outcome: &Outcome,
        hearing: &mut Hearing<'_>,
    ) -> Option<Option<chess::SecondPhase>> {
        let mode = self.settings.second_phase;
        let cores = self.cores();
        self.seat_second_phase(cores);
        let start = self.anchor().unwrap_or(self.voters);
        let processes = &mut self.processes[start..];
        let rest = share_of(&hearing.question.limits, 1.0 - self.settings.split);
        let threads = Layout::of(mode, cores).threads as u64;
        let stage = Stage {
            line: Arc::clone(&first.line),
            candidates: first.candidates(),
            processes: processes.len(),
            limits: chess::Limits { nodes: rest.nodes.map(|nodes| nodes.saturating_mul(threads)), ..rest },
        };
        let before = first.newest_of(start).cloned();
        let second = SecondPhase { stage, mode: second::of(mode, before), processes, progress: first.progress() };
        let found = second.hear(hearing).await?;
        let first_choice = outcome.elected.best;
        Some(found.map(|proposal| chess::SecondPhase { mode: mode.word().to_owned(), first_choice, proposal }))
    }

    fn decision(
        &self,
        first: &FirstPhase,
        outcome: Option<Outcome>,
        second_phase: Option<chess::SecondPhase>,
        hearing: &Hearing,
    ) -> Option<Decision> {
        let elected = second_phase.as_ref().map(|second| &second.proposal);
        let elected = elected.or(outcome.as_ref().map(|outcome| &outcome.elected));
        // Should all others have failed, the one that never stops has the word.
        let elected = elected.or(self.anchor().and_then(|anchor| first.newest_of(anchor)));
        let best = match elected {
            Some(proposal) => proposal.best,
            // Every elector failed: any legal move is better than none.
            None => *hearing.question.root_moves().first().or(first.line.legal_moves().first())?,
        };
        let rule = match second_phase {
            Some(_) => CriterionName::ReSearch,
            None => self.criterion,
        };
        Some(Decision {
            best,
            ponder: elected.and_then(|proposal| proposal.pv.get(1)).copied(),
            score: elected.map(|proposal| proposal.score),
            source: Source::Council,
            criterion: rule.word().to_owned(),
            split: outcome.as_ref().map_or(0.0, |outcome| outcome.split),
            votes: outcome.map(|outcome| outcome.votes).unwrap_or_default(),
            metrics: metrics(&[&self.processes[..self.voters], &self.processes[self.voters..]], hearing.elapsed()),
            elapsed: hearing.elapsed(),
            second_phase,
        })
    }

    /// The first phase's part of the time.
    fn first_share(&self) -> f64 {
        if self.criterion == CriterionName::ReSearch { self.settings.split.clamp(0.0, 1.0) } else { 1.0 }
    }

    /// A second phase chooses between several moves. The anchor's goes on even if all agree: it may still find another one.
    fn has_second_phase(&self, first: &FirstPhase, hearing: &Hearing) -> bool {
        let open = first.candidates().len() > 1 || self.anchor().is_some();
        self.criterion == CriterionName::ReSearch && open && !hearing.must_answer()
    }

    /// What decides ties: the same in the same position of a game.
    fn seed_of(&self, question: &Question) -> u64 {
        self.settings.seed ^ (question.line.ply() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    /// Cores for the second phase.
    fn cores(&self) -> usize {
        let at_hand = match self.settings.second_phase {
            _ if self.settings.cores != 0 => return self.settings.cores,
            SecondPhaseMode::Shared => self.pool.cores_of_widest(),
            SecondPhaseMode::Static => self.pool.cores_together(),
            // Their processes share a table or a score, or have no time for a network: they stay on this machine.
            _ => self.pool.cores(),
        };
        self.pool.fair_share_of(at_hand)
    }

    /// The process of the first phase whose search the second one goes on with, in the mode `continued`.
    fn anchor(&self) -> Option<usize> {
        let continues =
            self.criterion == CriterionName::ReSearch && self.settings.second_phase == SecondPhaseMode::Continued;
        if continues { self.voters.checked_sub(1) } else { None }
    }

    /// Seats the electors. Where there are more cores than electors, process `i` searches for elector `i` modulo their number
    /// (docs/method.md §7).
    fn seat_voters(&mut self) {
        let electors = Arc::clone(&self.electors);
        let cores = match self.settings.groups {
            _ if self.settings.cores != 0 => self.settings.cores,
            GroupMode::Shared | GroupMode::Peer => self.pool.cores_together(),
            GroupMode::PeerScore | GroupMode::None => self.pool.cores(),
        };
        // The threads of one search are on one machine.
        let widest = if self.settings.cores == 0 { self.pool.cores_of_widest() } else { cores };
        self.voters = 1; // so that `anchor` says whether there will be one
        let continues = self.anchor().is_some();
        let anchor = electors.iter().position(|elector| continues && is_complete(elector));
        for (place, elector) in electors.iter().enumerate().filter(|(place, _)| Some(*place) != anchor) {
            let grouped = elector.instance().is_some() && self.settings.groups != GroupMode::None;
            let members = if grouped { members(place, electors.len(), cores) } else { 1 };
            let seats = if self.settings.groups == GroupMode::Shared { 1 } else { members };
            let threads = (members / seats).min(widest);
            let spec = ElectorSpec { threads: elector.threads * threads, ..elector.clone() };
            for _ in 0..seats {
                self.open(&spec, Some(place), true);
            }
        }
        if continues {
            let spec = anchor.map_or_else(|| self.arbiter(), |place| electors[place].clone());
            self.open(&ElectorSpec { shares_table: true, ..spec }, anchor, false);
        }
        self.voters = self.processes.len();
    }

    /// Seats complete knowledge for the second phase on so many cores.
    fn seat_second_phase(&mut self, cores: usize) {
        if self.seated_for == cores {
            return;
        }
        self.seated_for = cores;
        self.processes.truncate(self.voters);
        let layout = Layout::of(self.settings.second_phase, cores);
        let spec = ElectorSpec { threads: layout.threads, shares_table: layout.one_table, ..self.arbiter() };
        for _ in 0..layout.seats {
            self.open(&spec, None, !layout.one_table);
        }
    }

    fn arbiter(&self) -> ElectorSpec {
        ElectorSpec::own(Knowledge::COMPLETE, self.settings.hash)
    }

    /// Opens a seat, on this machine unless it may roam.
    fn open(&mut self, spec: &ElectorSpec, elector: Option<usize>, roams: bool) {
        let sharers = self.electors.iter().filter(|other| other.shares_table && other.kind == spec.kind).count();
        let table = if spec.shares_table {
            self.tables.of(spec, spec.hash * sharers.clamp(1, self.tables_for.max(1)))
        } else {
            None
        };
        let table = table.as_ref();
        let seat = if roams { self.pool.seat(spec, table) } else { Seat::here(spec.clone(), table) };
        self.processes.push(Process::on(seat, elector));
    }
}

/// Whether an elector is complete knowledge as the second phase has it.
fn is_complete(spec: &ElectorSpec) -> bool {
    spec.kind == ElectorKind::Own(Instance::new(Knowledge::COMPLETE))
}

/// How many of so many cores search for the elector at this place.
fn members(place: usize, electors: usize, cores: usize) -> usize {
    (cores / electors.max(1) + usize::from(place < cores % electors.max(1))).max(1)
}
