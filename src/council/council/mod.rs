//! The council: electors that each know a part of chess propose, and one proposal is elected (docs/method.md).
//!
//! [`Council::new`] opens a slot for every elector of a roster; [`Council::decide`] answers one question; [`elect`] is the election alone, on
//! proposals made elsewhere. The council owns the newest proposal of every elector at all times, so from the first completed
//! iteration on it could decide at any moment; the rest is a matter of when. It knows nothing of servers, games' etiquette or
//! records: a line and a sense of time go in, a [`Decision`] comes out.
//!
//! | what | where |
//! |---|---|
//! | who proposes | `roster`, `distributions` |
//! | what was proposed | `ballots`; one question's way: `session`, `first_phase` |
//! | which proposal is elected | `criterion/`, a file a rule; `guards`, `election` |
//! | the second search | `second/`, a file a mode |
//! | the move when nobody has said anything | `fallback` |
//! | settings | `settings`, `group_mode`, `preset` (the published players), `model` (what was learnt) |
//!
//! Invariants:
//! - the move is legal in the line asked about and was searched, even if every elector fails or is mute;
//! - a proposal for another search is dropped;
//! - an elector that dies or hangs costs its vote, never the move: nobody is waited for after the time is up;
//! - equal proposals and an equal seed elect the same move.

mod ballots;
mod criterion;
mod distributions;
mod election;
mod fallback;
mod first_phase;
mod group_mode;
mod guards;
mod model;
mod pondering;
mod position_class;
mod preset;
mod question;
mod roster;
mod search_session;
mod searcher;
mod second;
mod settings;
mod split_group;

pub use ballots::Ballots;
pub use chess::{CriterionName, SecondPhaseMode};
pub use election::{ElectionOutcome, Rule, elect, elected_move, features};
pub use group_mode::GroupMode;
pub use model::{Calibration, FEATURES, Model, ModelError};
pub use pondering::Pondering;
pub use position_class::{PositionClass, PositionClasses};
pub use question::{Progress, Question, Timing};
pub use roster::{Roster, RosterError};
pub use settings::{CouncilSettings, ElectorSettings, HeuristicWeights};

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use self::{
    fallback::FallbackSearcher,
    first_phase::{FirstPhase, FirstPhaseSetup},
    question::share_of,
    search_session::SearchSession,
    searcher::{CouncilSearcher, Tables, metrics},
    second::{Layout, SecondPhaseRun, SecondPhaseTask},
};
use crate::pool::{ElectorKind, ElectorSpec, Instance, MemoryClaim, Pool, Slot};
use chess::{Decision, Knowledge, Proposal, Source, Variant, Vote};

/// The electors of a roster, asked for one move after another, in one game after another.
pub struct Council {
    pool: Pool,
    settings: CouncilSettings,
    /// The criterion; where the rules of the game are not our engine's, one that needs nothing of it.
    criterion: CriterionName,
    electors: Arc<[ElectorSpec]>,
    advisers: Vec<ElectorSpec>,
    /// First those who search in the first phase: the advisers, and the electors with their groups. Then complete knowledge for the second
    /// phase, whose slots are opened when they are first needed. In the mode `continued` the last of the former is the one that goes on.
    searchers: Vec<CouncilSearcher>,
    voters: usize,
    /// The number of cores for which the second phase has its slots.
    second_phase_cores: usize,
    tables: Tables,
    /// A common table is made for no more electors than the roster has on this machine alone.
    tables_for: usize,
    fallback: FallbackSearcher,
    _memory: MemoryClaim,
}

impl Council {
    /// Opens slots for those electors of the roster that can play `variant`.
    pub fn new(pool: &Pool, roster: &Roster, settings: &CouncilSettings, variant: Variant) -> Self {
        let standard = variant.is_standard_rules();
        let mut electors = roster.electors_for(variant, pool.cores_together());
        let mut advisers = if standard { roster.advisers().to_vec() } else { Vec::new() };
        let mut settings = settings.clone();
        let memory = fit_tables(pool, &mut electors, &mut advisers, &mut settings);
        let mut council = Self {
            pool: pool.clone(),
            criterion: if standard { settings.criterion } else { CriterionName::Depth },
            settings,
            electors: electors.into(),
            advisers,
            tables_for: roster.electors().len(),
            searchers: Vec::new(),
            voters: 0,
            second_phase_cores: 0,
            tables: Tables::default(),
            fallback: FallbackSearcher::default(),
            _memory: memory,
        };
        council.open_first_phase();
        council
    }

    /// The electors that play this variant.
    pub fn electors(&self) -> &[ElectorSpec] {
        &self.electors
    }

    /// The next question belongs to another game: all electors forget the last one.
    pub fn new_game(&self) {
        self.searchers.iter().for_each(CouncilSearcher::new_game);
    }

    /// Decides. `watch` sees every proposal as it comes. `None` if `cancelled` first, or if there is no legal move.
    pub async fn decide(
        &mut self,
        mut question: Question,
        cancelled: &CancellationToken,
        watch: &mut (dyn FnMut(&Proposal) + Send),
    ) -> Option<Decision> {
        let deciding = self.pool.deciding();
        self.searchers.iter_mut().for_each(CouncilSearcher::begin_question);
        let mut session = SearchSession::new(&mut question, cancelled, watch);
        let decided = self.run(&mut session).await;
        self.searchers.iter_mut().for_each(CouncilSearcher::stop);
        drop(deciding);
        decided
    }

    /// Runs both phases.
    async fn run(&mut self, session: &mut SearchSession<'_>) -> Option<Decision> {
        let setup = FirstPhaseSetup {
            electors: Arc::clone(&self.electors),
            rule: Rule::new(self.criterion, &self.settings),
            seed: self.seed_of(session.question),
            groups: self.settings.groups,
            share: self.first_share(),
            advised_share: self.settings.split.clamp(0.0, 1.0),
            advice: if self.advisers.is_empty() { 0.0 } else { self.settings.advice },
            anchor: self.anchor(),
        };
        let electing = &mut self.searchers[..self.voters];
        let mut first = FirstPhase::begin(setup, session, electing);
        first.run(session, electing).await?;
        let stopping = self.anchor().unwrap_or(self.voters);
        self.searchers[..stopping].iter_mut().for_each(CouncilSearcher::stop);
        let outcome = first.elect();
        let second = match &outcome {
            Some(outcome) if self.has_second_phase(&first, session) => {
                self.second_phase(&first, outcome, session).await?
            }
            _ => None,
        };
        self.decision(&first, outcome, second, session)
    }

    /// Complete knowledge on the proposed moves. The outer `None` if cancelled, the inner one if nothing was found.
    async fn second_phase(
        &mut self,
        first: &FirstPhase,
        outcome: &ElectionOutcome,
        session: &mut SearchSession<'_>,
    ) -> Option<Option<chess::SecondPhase>> {
        let mode = self.settings.second_phase;
        let cores = self.cores();
        self.open_second_phase(cores);
        let start = self.anchor().unwrap_or(self.voters);
        let searchers = &mut self.searchers[start..];
        let rest = share_of(&session.question.limits, 1.0 - self.settings.split);
        let threads = Layout::of(mode, cores).threads as u64;
        let task = SecondPhaseTask {
            line: Arc::clone(&first.line),
            candidates: first.candidates(),
            searchers: searchers.len(),
            limits: chess::Limits { nodes: rest.nodes.map(|nodes| nodes.saturating_mul(threads)), ..rest },
        };
        let before = first.newest_of(start).cloned();
        let strategy = second::of(mode, before);
        let run = SecondPhaseRun { task, strategy, searchers, progress: first.progress() };
        let found = run.run(session).await?;
        let first_choice = outcome.elected.best;
        Some(found.map(|proposal| chess::SecondPhase { mode, first_choice, proposal }))
    }

    /// The answer. Should no elector have said anything, the move is searched here and now; `None` only if there is no move.
    fn decision(
        &mut self,
        first: &FirstPhase,
        outcome: Option<ElectionOutcome>,
        second_phase: Option<chess::SecondPhase>,
        session: &mut SearchSession,
    ) -> Option<Decision> {
        let elected = second_phase.as_ref().map(|second| &second.proposal);
        let elected = elected.or(outcome.as_ref().map(|outcome| &outcome.elected));
        // Should all others have failed, the one that never stops has the word.
        let elected = elected.or(self.anchor().and_then(|anchor| first.newest_of(anchor)));
        let elected = elected.or(first.advice().next()).cloned();
        let (elected, source) = match elected {
            Some(proposal) => (proposal, Source::Council),
            None => (self.fall_back(first, session)?, Source::Fallback),
        };
        let rule = match second_phase {
            Some(_) => CriterionName::ReSearch,
            None => self.criterion,
        };
        Some(Decision {
            best: elected.best,
            ponder: elected.pv.get(1).copied(),
            score: Some(elected.score),
            source,
            criterion: (source == Source::Council).then_some(rule),
            split: outcome.as_ref().map_or(0.0, |outcome| outcome.split),
            votes: outcome.into_iter().flat_map(|outcome| outcome.votes).chain(self.advice(first)).collect(),
            metrics: metrics(&[&self.searchers[..self.voters], &self.searchers[self.voters..]], session.elapsed()),
            elapsed: session.elapsed(),
            second_phase,
        })
    }

    /// What was advised, as votes without weight.
    fn advice(&self, first: &FirstPhase) -> Vec<Vote> {
        let knowledge = |proposal: &Proposal| {
            self.advisers.iter().find(|adviser| adviser.name == proposal.elector).and_then(ElectorSpec::knowledge)
        };
        let votes = first.advice().map(|proposal| Vote {
            proposal: proposal.clone(),
            knowledge: knowledge(proposal),
            weight: 0.0,
        });
        votes.collect()
    }

    /// Searches a move itself, because no elector has said anything, and tells of it as of an elector's.
    fn fall_back(&mut self, first: &FirstPhase, session: &mut SearchSession) -> Option<Proposal> {
        let proposal = self.fallback.search(session.question, &first.line)?;
        tracing::warn!(best = %proposal.best, "no elector has said anything in time; the move is from a short search");
        session.show(&proposal);
        let progress = Progress {
            proposals: 1,
            distinct_moves: 1,
            leader: Some(proposal.best),
            score: Some(proposal.score),
            depth: proposal.depth,
            ..first.progress()
        };
        // Whoever keeps the time hears which move leads.
        session.deadline(&progress, 1.0);
        Some(proposal)
    }

    /// The first phase's part of the time.
    fn first_share(&self) -> f64 {
        if self.criterion == CriterionName::ReSearch { self.settings.split.clamp(0.0, 1.0) } else { 1.0 }
    }

    /// A second phase chooses between several moves. The anchor's goes on even if all agree: it may still find another one.
    fn has_second_phase(&self, first: &FirstPhase, session: &SearchSession) -> bool {
        let open = first.candidates().len() > 1 || self.anchor().is_some();
        self.criterion == CriterionName::ReSearch && open && !session.must_answer()
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
            // Their searchers share a table or a score, or have no time for a network: they stay on this machine.
            _ => self.pool.cores(),
        };
        self.pool.fair_share_of(at_hand)
    }

    /// The searcher of the first phase whose search the second one goes on with, in the mode `continued`.
    fn anchor(&self) -> Option<usize> {
        let continues =
            self.criterion == CriterionName::ReSearch && self.settings.second_phase == SecondPhaseMode::Continued;
        if continues { self.voters.checked_sub(1) } else { None }
    }

    /// Opens the slots of the electors. Where there are more cores than electors, searcher `i` searches for elector `i` modulo their number
    /// (docs/method.md §7).
    fn open_first_phase(&mut self) {
        for number in 0..self.advisers.len() {
            let slot = Slot::local(self.advisers[number].clone(), None);
            self.searchers.push(CouncilSearcher::advising(slot, number));
        }
        let electors = Arc::clone(&self.electors);
        let cores = match self.settings.groups {
            _ if self.settings.cores != 0 => self.settings.cores,
            GroupMode::Shared | GroupMode::Peer | GroupMode::PeerHinted => self.pool.cores_together(),
            // Their members share a score or a table.
            GroupMode::PeerScore | GroupMode::PvSplit | GroupMode::None => self.pool.cores(),
        };
        // The threads of one search are on one machine.
        let widest = if self.settings.cores == 0 { self.pool.cores_of_widest() } else { cores };
        self.voters = 1; // so that `anchor` says whether there will be one
        let continues = self.anchor().is_some();
        let anchor = electors.iter().position(|elector| continues && is_complete(elector));
        for (place, elector) in electors.iter().enumerate().filter(|(place, _)| Some(*place) != anchor) {
            let grouped = elector.instance().is_some() && self.settings.groups != GroupMode::None;
            let members = if grouped { members(place, electors.len(), cores) } else { 1 };
            let slots = if self.settings.groups == GroupMode::Shared { 1 } else { members };
            let threads = (members / slots).min(widest);
            let one_table = slots > 1 && self.settings.groups == GroupMode::PvSplit;
            let spec = ElectorSpec {
                threads: elector.threads * threads,
                shares_table: elector.shares_table || one_table,
                ..elector.clone()
            };
            for _ in 0..slots {
                self.open(&spec, Some(place), !one_table);
            }
        }
        if continues {
            let spec = anchor.map_or_else(|| self.arbiter(), |place| electors[place].clone());
            self.open(&ElectorSpec { shares_table: true, ..spec }, anchor, false);
        }
        self.voters = self.searchers.len();
    }

    /// Opens the slots of complete knowledge for the second phase on so many cores.
    fn open_second_phase(&mut self, cores: usize) {
        if self.second_phase_cores == cores {
            return;
        }
        self.second_phase_cores = cores;
        self.searchers.truncate(self.voters);
        let layout = Layout::of(self.settings.second_phase, cores);
        let spec = ElectorSpec { threads: layout.threads, shares_table: layout.one_table, ..self.arbiter() };
        for _ in 0..layout.slots {
            self.open(&spec, None, !layout.one_table);
        }
    }

    fn arbiter(&self) -> ElectorSpec {
        ElectorSpec::own(Knowledge::COMPLETE, self.settings.hash)
    }

    /// Opens a slot, on this machine unless it is elastic.
    fn open(&mut self, spec: &ElectorSpec, elector: Option<usize>, elastic: bool) {
        let sharers = self.electors.iter().filter(|other| other.shares_table && other.kind == spec.kind).count();
        let table = if spec.shares_table {
            self.tables.of(spec, spec.hash * sharers.clamp(1, self.tables_for.max(1)))
        } else {
            None
        };
        let table = table.as_ref();
        let slot = if elastic { self.pool.slot(spec, table) } else { Slot::local(spec.clone(), table) };
        self.searchers.push(CouncilSearcher::on(slot, elector));
    }
}

/// Claims the memory for the tables of a council. Where this process may not have so much, every table shrinks.
fn fit_tables(
    pool: &Pool,
    electors: &mut [ElectorSpec],
    advisers: &mut [ElectorSpec],
    settings: &mut CouncilSettings,
) -> MemoryClaim {
    let second_phase = if settings.criterion == CriterionName::ReSearch { settings.hash } else { 0 };
    let wanted = electors.iter().chain(advisers.iter()).map(|elector| elector.hash).sum::<usize>() + second_phase;
    let memory = pool.claim_memory(wanted);
    let granted = memory.granted;
    if granted < wanted {
        tracing::warn!(
            "the tables of a council want {wanted} MiB and shrink to {granted} MiB: this process may not have more"
        );
        let shrunk = |hash: usize| (hash * granted / wanted).max(1);
        electors.iter_mut().chain(advisers).for_each(|elector| elector.hash = shrunk(elector.hash));
        settings.hash = shrunk(settings.hash);
    }
    memory
}

/// Whether an elector is complete knowledge as the second phase has it.
fn is_complete(spec: &ElectorSpec) -> bool {
    spec.kind == ElectorKind::Own(Instance::new(Knowledge::COMPLETE))
}

/// How many of so many cores search for the elector at this place.
fn members(place: usize, electors: usize, cores: usize) -> usize {
    (cores / electors.max(1) + usize::from(place < cores % electors.max(1))).max(1)
}

#[cfg(test)]
mod tests;
