//! Who finds our moves in one game: a forced move is made at once, then the book is asked, then the tablebases, then the
//! council, with the time that the clock allows.
//!
//! An actor: it owns the game's council, and thinks about one position at a time. A position that has left the board is
//! cancelled, and the next one is taken up at once.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::{Library, machine::Thought};
use crate::{
    chess::{Clocks, Color, Decision, GameId, Limits, Line, Proposal, Score, Source, TimeControl, UciMove},
    clock::{self, Allotment, Budget, ClockSettings, Lag, Moment},
    council::{Council, Progress, Question, Timing},
};

/// From this depth on a change of the leading move means something (plies).
const SETTLED_DEPTH: u32 = 6;

/// How long electors that have not said anything yet are waited for before the clock runs.
const LOADING: Duration = Duration::from_secs(10);

/// What is to be thought about.
pub(super) struct Request {
    pub thought: Thought,
    pub line: Arc<Line>,
    pub clocks: Option<Clocks>,
    /// When the server's word about the position came.
    pub received: Instant,
    pub excluded: Vec<UciMove>,
    pub cancelled: CancellationToken,
}

/// What the thinker tells.
#[derive(Debug)]
pub(super) enum Idea {
    /// An elector has completed an iteration.
    Proposal(Proposal),
    /// The move is found.
    Decided(Thought, Box<Decision>, Budget),
}

/// What a thinker needs to know of its game.
pub(super) struct Game {
    pub id: GameId,
    pub color: Color,
    pub control: TimeControl,
    pub clock: ClockSettings,
    pub library: Arc<Library>,
    /// The first phase's share of the time.
    pub limits: Limits,
}

/// Lag as it is measured for a whole server.
pub(super) type SharedLag = Arc<Mutex<Lag>>;

/// Starts a thinker; it ends when the requests' sender is dropped.
pub(super) fn start(
    game: Game,
    council: Council,
    lag: SharedLag,
    ideas: mpsc::UnboundedSender<Idea>,
) -> mpsc::UnboundedSender<Request> {
    let (requests, inbox) = mpsc::unbounded_channel();
    let thinker = Thinker { game, council, lag, ideas, last_score: None };
    tokio::spawn(thinker.run(inbox));
    requests
}

struct Thinker {
    game: Game,
    council: Council,
    lag: SharedLag,
    ideas: mpsc::UnboundedSender<Idea>,
    /// Of our last move, from our side.
    last_score: Option<Score>,
}

impl Thinker {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<Request>) {
        while let Some(request) = inbox.recv().await {
            let thought = request.thought;
            if request.cancelled.is_cancelled() {
                continue;
            }
            if let Some((decision, budget)) = self.think(request).await {
                self.last_score = decision.score.or(self.last_score);
                let _ = self.ideas.send(Idea::Decided(thought, Box::new(decision), budget));
            }
        }
    }

    async fn think(&mut self, request: Request) -> Option<(Decision, Budget)> {
        let spent = request.received.elapsed();
        let moment = Moment {
            control: self.game.control,
            clocks: request.clocks,
            color: self.game.color,
            ply: request.line.ply(),
            moves_to_go: None,
            spent,
        };
        let lag = *self.lag.lock().unwrap_or_else(PoisonError::into_inner);
        let budget = self.game.clock.budget(&moment, &lag);
        let legal = request.line.legal_moves();
        if let [only] = legal.as_slice() {
            return Some((Decision::without_vote(*only, Source::Forced), budget));
        }
        if let Some(decision) = self.look_up(&request).await {
            return Some((decision, budget));
        }
        let timing = timing(budget, &request.line, self.last_score);
        let question = Question {
            timing: Some(timing),
            limits: self.game.limits,
            excluded: request.excluded,
            ..Question::new(self.game.id.clone(), request.line)
        };
        let ideas = self.ideas.clone();
        let decision = self
            .council
            .decide(question, &request.cancelled, &mut |proposal| {
                let _ = ideas.send(Idea::Proposal(proposal.clone()));
            })
            .await?;
        Some((decision, budget))
    }
}

impl Thinker {
    /// Asks the books and tablebases, where reading files is allowed to block.
    async fn look_up(&self, request: &Request) -> Option<Decision> {
        if self.game.library.is_empty() || !request.excluded.is_empty() {
            return None;
        }
        let (library, line) = (Arc::clone(&self.game.library), Arc::clone(&request.line));
        tokio::task::spawn_blocking(move || library.look_up(&line)).await.ok().flatten()
    }
}

/// Translates the clock's allotment into the council's sense of time.
fn timing(budget: Budget, line: &Line, last_score: Option<Score>) -> Timing {
    let recapture = line.last_capture();
    let allotment = Allotment::new(budget);
    // No clock runs before the second move, and an engine that has just been started may still be loading.
    let first_word = if line.ply() < 2 { LOADING.max(budget.hard) } else { budget.hard };
    // Changes of mind among the first few plies mean nothing.
    let mut unsettled_changes = 0;
    Box::new(move |progress: &Progress| {
        if progress.proposals == 0 {
            return first_word.saturating_sub(budget.spent);
        }
        if progress.depth < SETTLED_DEPTH {
            unsettled_changes = progress.changes;
        }
        let others = progress.electors.saturating_sub(1);
        #[allow(clippy::cast_precision_loss, reason = "a handful of electors")]
        let dissent = (others > 0).then(|| progress.distinct_moves.saturating_sub(1) as f64 / others as f64);
        let facts = clock::Progress {
            only_move: false,
            easy_recapture: progress.distinct_moves == 1
                && progress.depth >= SETTLED_DEPTH
                && recapture.is_some()
                && progress.leader.and_then(UciMove::to) == recapture,
            dissent,
            changes: progress.changes - unsettled_changes.min(progress.changes),
            score_fall: match (last_score, progress.score) {
                (Some(last), Some(now)) => last.as_centipawns() - now.as_centipawns(),
                _ => 0,
            },
        };
        allotment.stop_at(&facts).saturating_sub(budget.spent)
    })
}
