//! One question to the council: the first phase, the election, and the second phase where the criterion has one.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{sync::mpsc, time::timeout_at};
use tokio_util::sync::CancellationToken;

use super::{CouncilSettings, CriterionName, Roster, criterion, election::Election, settings::HeuristicWeights};
use crate::{
    chess::{
        Decision, GameId, Knowledge, Limits, Line, Phase, Proposal, Score, SearchId, SecondPhase, Source, Task,
        UciMove, Variant,
    },
    pool::{ElectorSpec, Pool, Report, Seat},
};

/// When no rule of time applies: long enough for anything, short enough to add to an [`Instant`].
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// Counts the searches of this process.
static SERIAL: AtomicU64 = AtomicU64::new(0);

/// How far a council has come with a question, for whoever owns the clock.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// Electors in the roster.
    pub electors: usize,
    /// Electors that have proposed.
    pub proposals: usize,
    /// Different moves among the proposals.
    pub distinct_moves: usize,
    /// How often the leading move has changed.
    pub changes: u32,
    /// The leading move.
    pub leader: Option<UciMove>,
    /// Its value from the side of the player to move.
    pub score: Option<Score>,
    /// The depth of its proposal, in plies.
    pub depth: u32,
}

/// The council's sense of time: given its progress, the time from the question at which it must have decided.
/// Asked again after every proposal.
pub type Timing = Box<dyn FnMut(&Progress) -> Duration + Send>;

/// What a council is asked.
pub struct Question {
    /// The game it is for.
    pub game: GameId,
    /// The position, as its line. It must have a legal move.
    pub line: Arc<Line>,
    /// When to decide; `None`: when every elector has finished.
    pub timing: Option<Timing>,
    /// Bounds for every elector, such as nodes.
    pub limits: Limits,
    /// Moves not to be considered, unless there are no others.
    pub excluded: Vec<UciMove>,
}

/// A roster seated for one game.
pub struct Council {
    pool: Pool,
    seats: Vec<Seat>,
    electors: Vec<ElectorSpec>,
    /// Complete knowledge, for the second phase. Seated when first needed.
    arbiter: Option<Seat>,
    criterion: CriterionName,
    weights: HeuristicWeights,
    split: f64,
    hash: usize,
    threads: usize,
    seed: u64,
}

impl Council {
    /// Seats those electors of the roster that can play `variant`.
    pub fn convene(pool: &Pool, roster: &Roster, settings: &CouncilSettings, variant: Variant) -> Self {
        let electors = roster.for_variant(variant);
        let seats = electors.iter().map(|elector| pool.seat(elector)).collect();
        Self {
            pool: pool.clone(),
            seats,
            electors,
            arbiter: None,
            criterion: if variant.is_standard_rules() { settings.criterion } else { CriterionName::Depth },
            weights: settings.weights,
            split: settings.split.clamp(0.0, 1.0),
            hash: settings.hash,
            threads: settings.threads,
            seed: settings.seed,
        }
    }

    /// Who sits in it.
    pub fn electors(&self) -> &[ElectorSpec] {
        &self.electors
    }

    /// Decides. `watch` sees every proposal as it comes. `None` if `cancelled` first, or if there is no legal move.
    pub async fn decide(
        &mut self,
        mut question: Question,
        cancelled: &CancellationToken,
        watch: &mut (dyn FnMut(&Proposal) + Send),
    ) -> Option<Decision> {
        let started = Instant::now();
        let in_session = self.pool.session();
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let seed = self.seed ^ (question.line.ply() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let rule = criterion::of_first_phase(self.criterion, self.weights);
        let mut hearing = Hearing {
            election: Election::new(self.seats.len(), rule, seed),
            electors: &self.electors,
            changes: 0,
            leader: None,
            started,
        };

        let share = if self.criterion == CriterionName::ReSearch { self.split } else { 1.0 };
        let task = Task {
            id: SearchId { game: question.game.clone(), ply: question.line.ply(), serial, phase: Phase::First },
            line: Arc::clone(&question.line),
            root_moves: root_moves(&question),
            limits: share_of(&question.limits, share),
        };
        let heard = hearing.first_phase(&mut self.seats, &task, &mut question.timing, share, cancelled, watch).await;
        self.seats.iter().for_each(Seat::stop);
        heard?;

        let votes = hearing.election.votes(&self.electors);
        let first = hearing.leader.clone();
        let candidates = hearing.election.candidates();
        let mut second_phase = None;
        if let (Some(first), CriterionName::ReSearch, 2..) = (&first, self.criterion, candidates.len()) {
            let threads = if self.threads == 0 { self.pool.fair_share() } else { self.threads };
            let arbiter = arbiter(&mut self.arbiter, &self.pool, self.hash, threads);
            let id = SearchId { phase: Phase::Second, ..task.id.clone() };
            let limits = share_of(&question.limits, 1.0 - share);
            let task = Task { id, root_moves: candidates, limits, ..task.clone() };
            let found = hearing.second_phase(arbiter, task, &mut question.timing, cancelled, watch).await;
            arbiter.stop();
            second_phase = found?.map(|proposal| SecondPhase { first_choice: first.best, proposal });
        }
        drop(in_session);

        let elected = second_phase.as_ref().map(|second| &second.proposal).or(first.as_ref());
        let best = match elected {
            Some(proposal) => proposal.best,
            // Every elector failed: any legal move is better than none.
            None => *task.root_moves.first().or(question.line.legal_moves().first())?,
        };
        Some(Decision {
            best,
            ponder: elected.and_then(|proposal| proposal.pv.get(1)).copied(),
            score: elected.map(|proposal| proposal.score),
            source: Source::Council,
            criterion: if second_phase.is_some() { CriterionName::ReSearch } else { self.criterion }.word().to_owned(),
            votes,
            second_phase,
            elapsed: started.elapsed(),
        })
    }
}

/// The legal moves that are not excluded; empty means all.
fn root_moves(question: &Question) -> Vec<UciMove> {
    if question.excluded.is_empty() {
        return Vec::new();
    }
    let mut moves = question.line.legal_moves();
    moves.retain(|uci| !question.excluded.contains(uci));
    moves
}

/// A share of the node budget; other bounds hold as they are.
fn share_of(limits: &Limits, share: f64) -> Limits {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
    let nodes = limits.nodes.map(|nodes| ((nodes as f64 * share) as u64).max(1));
    Limits { nodes, ..*limits }
}

/// The seat of complete knowledge, with so many threads.
fn arbiter<'a>(seat: &'a mut Option<Seat>, pool: &Pool, hash: usize, threads: usize) -> &'a mut Seat {
    if seat.as_ref().is_some_and(|seat| seat.spec().threads != threads) {
        *seat = None;
    }
    seat.get_or_insert_with(|| {
        let spec = ElectorSpec { threads, ..ElectorSpec::own(Knowledge::COMPLETE, hash) };
        pool.seat(&spec)
    })
}

/// What was heard so far in answer to one question.
struct Hearing<'a> {
    election: Election,
    electors: &'a [ElectorSpec],
    changes: u32,
    leader: Option<Proposal>,
    started: Instant,
}

impl Hearing<'_> {
    /// Hears the electors until the time of the first phase is over or all have finished. `None` if cancelled.
    async fn first_phase(
        &mut self,
        seats: &mut [Seat],
        task: &Task,
        timing: &mut Option<Timing>,
        share: f64,
        cancelled: &CancellationToken,
        watch: &mut (dyn FnMut(&Proposal) + Send),
    ) -> Option<()> {
        let (reports, mut inbox) = mpsc::unbounded_channel();
        for seat in &mut *seats {
            seat.search(task.clone(), &reports);
        }
        drop(reports);
        let mut searching = seats.len();
        let mut deadline = self.deadline(timing, share);
        while searching > 0 {
            // Whoever is late still has until the end of the move to make the council able to answer at all.
            let until = if self.leader.is_some() { deadline } else { self.deadline(timing, 1.0).max(deadline) };
            let report = tokio::select! {
                () = cancelled.cancelled() => return None,
                report = timeout_at(until.into(), inbox.recv()) => report,
            };
            match report {
                Err(_) | Ok(None) => break,
                Ok(Some(Report::Proposal(proposal))) if proposal.search == task.id => {
                    watch(&proposal);
                    self.hear(proposal);
                    deadline = self.deadline(timing, share);
                }
                Ok(Some(Report::Finished(id, _))) if id == task.id => searching -= 1,
                Ok(Some(Report::Failed(id, elector, why))) if id == task.id => {
                    tracing::warn!(%elector, why, "an elector failed; the others decide");
                    searching -= 1;
                }
                Ok(Some(_)) => (),
            }
            if self.leader.is_some() && Instant::now() >= deadline {
                break;
            }
        }
        Some(())
    }

    /// Hears complete knowledge on the proposed moves. The outer `None` if cancelled, the inner one if nothing was found.
    async fn second_phase(
        &mut self,
        arbiter: &mut Seat,
        task: Task,
        timing: &mut Option<Timing>,
        cancelled: &CancellationToken,
        watch: &mut (dyn FnMut(&Proposal) + Send),
    ) -> Option<Option<Proposal>> {
        let (reports, mut inbox) = mpsc::unbounded_channel();
        let id = task.id.clone();
        arbiter.search(task, &reports);
        drop(reports);
        let mut found: Option<Proposal> = None;
        let mut deadline = self.deadline(timing, 1.0);
        loop {
            let report = tokio::select! {
                () = cancelled.cancelled() => return None,
                report = timeout_at(deadline.into(), inbox.recv()) => report,
            };
            match report {
                Err(_) | Ok(None) => break,
                Ok(Some(Report::Proposal(proposal))) if proposal.search == id => {
                    watch(&proposal);
                    if self.leader.as_ref().is_some_and(|leader| leader.best != proposal.best) {
                        self.changes += 1;
                    }
                    self.leader = Some(proposal.clone());
                    found = Some(proposal);
                    deadline = self.deadline(timing, 1.0);
                }
                Ok(Some(Report::Finished(finished, _))) if finished == id => break,
                Ok(Some(Report::Failed(failed, elector, why))) if failed == id => {
                    tracing::warn!(%elector, why, "the second phase failed; the first one decides");
                    break;
                }
                Ok(Some(_)) => (),
            }
        }
        Some(found)
    }

    fn hear(&mut self, proposal: Proposal) {
        let Some(index) = self.electors.iter().position(|elector| elector.name == proposal.elector) else { return };
        self.election.propose(index, proposal);
        let leader = self.election.leader(self.electors);
        if let (Some(before), Some(after)) = (&self.leader, &leader)
            && before.best != after.best
        {
            self.changes += 1;
        }
        self.leader = leader;
    }

    /// The end of a share of the time that the clock gives for what was heard so far.
    fn deadline(&self, timing: &mut Option<Timing>, share: f64) -> Instant {
        let progress = Progress {
            electors: self.electors.len(),
            proposals: self.election.proposals(),
            distinct_moves: self.election.candidates().len(),
            changes: self.changes,
            leader: self.leader.as_ref().map(|leader| leader.best),
            score: self.leader.as_ref().map(|leader| leader.score),
            depth: self.leader.as_ref().map_or(0, |leader| leader.depth),
        };
        let whole = timing.as_mut().map_or(FOREVER, |timing| timing(&progress).min(FOREVER));
        self.started + whole.mul_f64(share)
    }
}
