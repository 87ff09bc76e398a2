//! The council: electors propose moves, and one proposal is elected (docs/method.md).
//!
//! [`Council::new`] opens a slot for every elector of a roster; [`Council::decide`] answers one
//! question; [`Rule`] is the election alone, on proposals made elsewhere. The council keeps the
//! newest proposal of every elector, so from the first completed iteration on it can decide at any
//! moment; the timing decides when. It knows nothing of servers, offers or records: a line and a
//! timing go in, a [`Decision`] comes out.
//!
//! | term | meaning |
//! |---|---|
//! | line | a start position and the moves since; a question asks for the next move |
//! | elector | searcher with a vote: an instance of the built-in engine, or an external engine |
//! | knowledge | the parts of the evaluation in use, a letter each; complete knowledge has all eight |
//! | adviser | searcher without a vote; the electors search its moves next after their own best one |
//! | prover | adviser that proves mates: a proved win is played without a vote |
//! | roster | list of electors and advisers |
//! | searcher | a slot (thread, process or other machine) and its current search |
//! | proposal | a move with score, depth and variation; a *ballot* is an elector's newest proposal |
//! | criterion | rule that weighs ballots; the move of the greatest weight is elected |
//! | first phase | search of all electors |
//! | second phase | re-search of the proposed moves by complete knowledge, with the criterion `re-search` |
//! | anchor | searcher of the first phase that goes on in the second, in the mode `continued` |
//! | group | several searchers of one elector |
//! | home | this machine, in contrast to machines that take searches over the network |
//! | verification | short searches at home of moves that other machines propose |
//! | virtual time | measurement mode: searchers take turns of a few nodes, as if each had a core |
//!
//! | subject | module |
//! |---|---|
//! | electors | `roster`, `distributions`; their cores: `composition`, `searcher` |
//! | proposals | `ballots`; course of one question: `question`, `search_session`, `first_phase` |
//! | advisers and provers | `advice`, `proving` |
//! | election | `criterion`, `election` |
//! | votes of other machines | `trust` |
//! | second search | `second/` |
//! | move without any proposal | `fallback` |
//! | settings, the published players | `settings` |
//!
//! Invariants:
//! - the move is legal in the line asked about and was searched, even if every elector fails or is
//!   mute;
//! - the home electors alone would have elected the move, or verification finds it nearly as good
//!   (`trust`);
//! - a proposal for another search is dropped;
//! - a dead or hanging elector costs its vote, never the move: no elector is awaited after the time
//!   is up;
//! - equal proposals and an equal seed elect the same move.

mod advice;
mod ballots;
mod composition;
mod criterion;
mod distributions;
mod election;
mod fallback;
mod first_phase;
mod pondering;
mod proving;
mod question;
mod roster;
mod search_session;
mod searcher;
mod second;
mod settings;
mod trust;

pub use ballots::Ballots;
pub use criterion::Rule;
pub use domain::{CriterionName, SecondPhaseMode};
pub use election::ElectionOutcome;
pub use pondering::Pondering;
pub use question::{Progress, Question, Timing};
pub use roster::{Roster, RosterError};
pub use settings::{CouncilSettings, ElectorSettings, GroupMode, HeuristicWeights, OptionText};
pub(crate) use {distributions::auto_roster, fallback::best_by_material};

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use self::{
    advice::turns,
    composition::Composition,
    first_phase::{FirstPhase, FirstPhaseSetup},
    question::share_of,
    search_session::SearchSession,
    searcher::{CouncilSearcher, processes},
    second::{Layout, SecondPhaseRun, SecondPhaseTask},
};
use crate::{
    CouncilGame,
    electors::{Elector, ElectorSpec, Pool, next_arrival},
};
use domain::{Decision, Line, Phase, Proposal, Source, Vote};

/// The electors of a roster, asked for one move after another, in one game after another.
pub struct Council<L: CouncilGame = Line> {
    pool: Pool,
    composition: Composition<L>,
    /// The fallback's searcher. An elector belongs to one thread at a time; the lock lets a council pass from one thread to another,
    /// and is never contended.
    fallback: Mutex<Option<Box<dyn Elector<L>>>>,
}

impl<L: CouncilGame> Council<L> {
    /// Opens slots for the electors of the roster, except those that cannot play `variant`. With
    /// other machines, the composition is updated before every question.
    pub fn new(pool: &Pool, roster: &Roster<L>, settings: &CouncilSettings, variant: L::Variant) -> Self {
        let composition = Composition::new(pool, roster, settings, variant);
        Self { pool: pool.clone(), composition, fallback: Mutex::new(None) }
    }

    /// Returns the current electors: the roster without those that cannot play this variant.
    pub fn electors(&self) -> &[ElectorSpec<L::Kind>] {
        &self.composition.electors
    }

    pub fn new_game(&self) {
        self.composition.new_game();
    }

    /// Waits until every elector on this machine has started or failed to, and until the tables have forgotten the last game. An
    /// engine or a large table may need seconds.
    pub async fn started(&self) {
        for searcher in &self.composition.searchers {
            searcher.started().cancelled().await;
        }
        self.composition.forgotten().await;
    }

    /// Answers a question. `watch` receives every proposal on arrival. Returns `None` if cancelled, or without a legal move.
    pub async fn decide(
        &mut self,
        mut question: Question<L>,
        cancelled: &CancellationToken,
        watch: &mut (dyn FnMut(&Proposal<L::Move>) + Send),
    ) -> Option<Decision<L::Move, L::Knowledge>> {
        let deciding = self.pool.deciding();
        let mut arrivals = self.pool.arrivals();
        let mut session = SearchSession::new(&mut question, cancelled, watch);
        self.composition.compose_first_phase(self.pool.cores_for(session.time_left(self.first_share())));
        self.composition.searchers.iter_mut().for_each(CouncilSearcher::begin_question);
        let decided = self.run(&mut session, arrivals.as_mut()).await;
        self.composition.searchers.iter_mut().for_each(CouncilSearcher::stop);
        drop(deciding);
        decided
    }

    async fn run(
        &mut self,
        session: &mut SearchSession<'_, L>,
        mut arrivals: Option<&mut watch::Receiver<u64>>,
    ) -> Option<Decision<L::Move, L::Knowledge>> {
        let settings = &self.composition.settings;
        let advice = if self.composition.advisers.is_empty() { 0.0 } else { settings.advice };
        let searching = &self.composition.searchers[..self.composition.in_first_phase];
        let round_robin =
            session.question.in_step.then(|| self.composition.turnstile(turns(advice, settings.split, searching)));
        let setup = FirstPhaseSetup {
            electors: Arc::clone(&self.composition.electors),
            rule: Rule::of(settings),
            seed: settings.seed_at(session.question.line.ply()),
            groups: settings.groups,
            share: self.first_share(),
            advised_share: settings.split.clamp(0.0, 1.0),
            advice,
            anchor: self.composition.anchor(),
            round_robin,
            verifier: self.pool.verifier(),
        };
        let mut first =
            FirstPhase::begin(setup, session, &mut self.composition.searchers[..self.composition.in_first_phase]);
        loop {
            tokio::select! {
                biased;
                heard = first.run(session, &mut self.composition.searchers[..self.composition.in_first_phase]) => break heard?,
                () = next_arrival(arrivals.as_deref_mut()) => self.admit(&mut first, session),
            }
        }
        if let Some(pondering) = &session.question.pondering {
            pondering.decide(&first.line);
        }
        let stopping = self.composition.second_phase_start();
        self.composition.searchers[..stopping].iter_mut().for_each(CouncilSearcher::stop);
        let outcome = first.elect();
        let second = match &outcome {
            Some(outcome) if self.has_second_phase(&first, session) => {
                self.second_phase(&first, outcome, session).await?
            }
            _ => None,
        };
        self.decision(&first, outcome, second, session)
    }

    /// Adds electors for newly connected machines, if enough of the time is left for them.
    fn admit(&mut self, first: &mut FirstPhase<L>, session: &mut SearchSession<'_, L>) {
        let left = session.time_left(self.first_share());
        if !session.must_answer() && self.composition.add_to_first_phase(self.pool.cores_for(left)) {
            let electors = Arc::clone(&self.composition.electors);
            first.admit(electors, session, &mut self.composition.searchers[..self.composition.in_first_phase]);
        }
    }

    /// Searches the proposed moves by complete knowledge. Returns the outer `None` if cancelled, the inner one without a result.
    async fn second_phase(
        &mut self,
        first: &FirstPhase<L>,
        outcome: &ElectionOutcome<L>,
        session: &mut SearchSession<'_, L>,
    ) -> Option<Option<domain::SecondPhase<L::Move>>> {
        let CouncilSettings { second_phase: mode, split, .. } = self.composition.settings;
        let cores = self.second_phase_cores(session.time_left(1.0));
        self.composition.compose_second_phase(cores);
        let start = self.composition.second_phase_start();
        let searchers = &mut self.composition.searchers[start..];
        let rest = share_of(&session.question.limits, 1.0 - split);
        let threads = Layout::of(mode, cores).threads as u64;
        let task = SecondPhaseTask {
            game: session.question.game.clone(),
            phase: Phase::Second,
            line: Arc::clone(&first.line),
            candidates: first.candidates(),
            searchers: searchers.len(),
            limits: domain::Limits { nodes: rest.nodes.map(|nodes| nodes.saturating_mul(threads)), ..rest },
        };
        let before = first.newest_of(start).cloned();
        let strategy = second::of(mode, task, before);
        let verification = first.ballots.verification().cloned();
        let (home, progress) = (first.home, first.progress());
        let run = SecondPhaseRun { strategy, searchers, progress, home, verification };
        let found = run.run(session).await?;
        let first_choice = outcome.elected.best;
        Some(found.map(|proposal| domain::SecondPhase { mode, first_choice, proposal }))
    }

    /// Returns the answer. Without any proposal, the fallback searches a move; `None` only if there is no legal move.
    fn decision(
        &mut self,
        first: &FirstPhase<L>,
        outcome: Option<ElectionOutcome<L>>,
        second_phase: Option<domain::SecondPhase<L::Move>>,
        session: &mut SearchSession<L>,
    ) -> Option<Decision<L::Move, L::Knowledge>> {
        let second_phase = second_phase.filter(|second| first.may_be_played(&second.proposal));
        let elected = second_phase.as_ref().map(|second| &second.proposal);
        let elected = elected.or(outcome.as_ref().map(|outcome| &outcome.elected));
        // The anchor has no vote of its own; its move counts if all electors have failed.
        let elected = elected.or(self.composition.anchor().and_then(|anchor| first.newest_of(anchor)));
        let elected = elected.or(first.advice().next()).cloned();
        let is_proved =
            |elected: &Proposal<L::Move>| first.ballots.proof().is_some_and(|proof| proof.best == elected.best);
        let (elected, source) = match elected {
            Some(proposal) if is_proved(&proposal) => (proposal, Source::Proof),
            Some(proposal) => (proposal, Source::Council),
            None => (self.fall_back(first, session)?, Source::Fallback),
        };
        let rule = match second_phase {
            Some(_) => CriterionName::ReSearch,
            None => self.composition.settings.criterion,
        };
        let (proposing, deciding) = self.composition.searchers.split_at(self.composition.in_first_phase);
        Some(Decision {
            best: elected.best,
            ponder: elected.pv.get(1).copied(),
            score: Some(elected.score),
            source,
            criterion: (source == Source::Council).then_some(rule),
            split: outcome.as_ref().map_or(0.0, |outcome| outcome.split),
            votes: outcome.into_iter().flat_map(|outcome| outcome.votes).chain(self.advice(first)).collect(),
            processes: processes(&[proposing, deciding]),
            elapsed: session.elapsed(),
            second_phase,
        })
    }

    fn advice(&self, first: &FirstPhase<L>) -> Vec<Vote<L::Move, L::Knowledge>> {
        let knowledge = |proposal: &Proposal<L::Move>| {
            self.composition.advisers.iter().find(|adviser| adviser.name == proposal.elector).and_then(L::knowledge)
        };
        let votes = first.advice().map(|proposal| Vote {
            proposal: proposal.clone(),
            knowledge: knowledge(proposal),
            weight: None,
        });
        votes.collect()
    }

    fn fall_back(&mut self, first: &FirstPhase<L>, session: &mut SearchSession<L>) -> Option<Proposal<L::Move>> {
        let kept = self.fallback.get_mut().unwrap_or_else(PoisonError::into_inner);
        let proposal = fallback::search(kept, session.question, &first.line)?;
        tracing::warn!(best = %proposal.best, "no elector proposed a move in time; playing a move of a short search");
        session.show(&proposal);
        let progress = Progress {
            proposals: 1,
            distinct_moves: 1,
            leader: Some(proposal.best),
            score: Some(proposal.score),
            depth: proposal.depth,
            ..first.progress()
        };
        // The timing learns the leading move.
        session.deadline(&progress, 1.0);
        Some(proposal)
    }

    fn first_share(&self) -> f64 {
        let CouncilSettings { criterion, split, .. } = self.composition.settings;
        if criterion == CriterionName::ReSearch { split.clamp(0.0, 1.0) } else { 1.0 }
    }

    /// Returns true if a second phase is due: there are several moves to choose from, or an anchor, which may still find another
    /// one.
    fn has_second_phase(&self, first: &FirstPhase<L>, session: &SearchSession<L>) -> bool {
        let open = first.candidates().len() > 1 || self.composition.anchor().is_some();
        let proved = first.ballots.proof().is_some();
        self.composition.settings.criterion == CriterionName::ReSearch && open && !proved && !session.must_answer()
    }

    fn second_phase_cores(&self, time: Option<Duration>) -> usize {
        let CouncilSettings { second_phase, cores, .. } = self.composition.settings;
        let there_are = self.pool.cores_for(time);
        let at_hand = match second_phase {
            _ if cores != 0 => return cores,
            SecondPhaseMode::Shared => there_are.widest,
            SecondPhaseMode::Static => there_are.together,
            // The searchers of the other modes share a table or a score, or have no time for a network.
            _ => there_are.here,
        };
        self.pool.fair_share_of(at_hand)
    }
}

#[cfg(test)]
pub(crate) mod tests;
