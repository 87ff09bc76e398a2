//! Finds the moves of one game: a forced move at once, else from the book, the tablebases, or the
//! council, within the time that the clock allows; online services are queried while the council
//! searches. The same player serves servers and chess programs.
//!
//! An actor behind a handle, [`GamePlayer`]: it owns the game's council and thinks about one
//! position at a time. It answers requests with [`PlayerEvent`]s; the caller keeps a
//! [`SearchHandle`], to request the answer at once, to start the clock, or to drop the search.
//!
//! Thinking in the opponent's time is an ordinary request with [`Time::Unbounded`]: about the
//! expected position. When that position occurs, [`SearchHandle::comes_about`] starts the clock in
//! mid-search; when not, the search is dropped.

mod known_moves;
mod timing;
pub mod vote_report;

use std::{
    ops::ControlFlow,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
};

use shakmaty::ByColor;
use tokio::{
    sync::{Notify, mpsc, oneshot, watch},
    task::spawn_blocking,
    time::timeout,
};
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::{
    clock::{Budget, ClockSettings, Lag},
    vote::{Council, Pondering, Question},
};
use domain::{Decision, GameId, Limits, Line, Proposal, Score, Source, UciMove};

use known_moves::known_elsewhere;
pub use known_moves::{Known, KnownMoves, MoveAnswer, MoveService, TABLEBASE_WIN};
use timing::{Agreement, Timekeeper};
pub use timing::{Time, timing};

pub type SharedLag = Arc<Mutex<Lag>>;

/// Number of a search, chosen by the caller; events with another number are stale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub u64);

#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub id: RequestId,
    /// The position, as its line. It must have a legal move.
    pub line: Arc<Line>,
    /// Other positions that may occur instead: thinking in the opponent's time, spread over the
    /// electors.
    pub others: Vec<Arc<Line>>,
    pub time: Time,
    pub limits: Limits,
    /// Moves not to be considered, unless there are no others.
    pub excluded: Vec<UciMove>,
    /// True to search even if the move is forced or a book knows it: analysis.
    pub always_search: bool,
}

#[derive(Debug)]
pub enum PlayerEvent {
    /// An elector has completed an iteration.
    Proposal(RequestId, Proposal),
    /// This move would be elected now.
    Leader(RequestId, UciMove),
    Decided {
        id: RequestId,
        /// The position that it is about: one of the request's.
        line: Arc<Line>,
        decision: Box<Decision>,
        budget: Budget,
    },
}

pub struct PlayerConfig {
    pub game: GameId,
    pub clock: ClockSettings,
    pub lag: SharedLag,
    pub known: Option<Arc<dyn KnownMoves>>,
    pub online: Option<Box<dyn MoveService>>,
}

/// The handle of a player; it leaves when the handle is dropped.
#[derive(Debug)]
pub struct GamePlayer(mpsc::UnboundedSender<PlayerCommand>);

/// A hold on a running search. Dropping it drops the search: nothing more is said about it.
#[derive(Debug)]
pub struct SearchHandle {
    time: watch::Sender<Agreement>,
    reconsider: Arc<Notify>,
    pondering: Option<Pondering>,
    answer_now: CancellationToken,
    _dropped: DropGuard,
}

impl SearchHandle {
    pub fn answer_now(&self) {
        self.answer_now.cancel();
    }

    /// An expected position has come about, and the clock runs for it.
    pub fn comes_about(&self, line: &Line, time: Time) {
        self.time.send_replace(Agreement::now(Arc::new(line.clone()), time));
        match &self.pondering {
            // Only the handle settles it, and only on a position of the request.
            Some(pondering) => _ = pondering.settle(line),
            None => self.reconsider.notify_one(),
        }
    }
}

#[derive(Debug)]
enum PlayerCommand {
    Think(Box<QueuedRequest>),
    NewGame,
    TellWhenStarted(oneshot::Sender<()>),
}

#[derive(Debug)]
struct QueuedRequest {
    request: SearchRequest,
    time: watch::Receiver<Agreement>,
    reconsider: Arc<Notify>,
    pondering: Option<Pondering>,
    answer_now: CancellationToken,
    dropped: CancellationToken,
}

impl GamePlayer {
    /// Starts a player with its council; events go to `events`. Must be called within a runtime.
    pub fn start(config: PlayerConfig, council: Council, events: mpsc::UnboundedSender<PlayerEvent>) -> Self {
        let (requests, inbox) = mpsc::unbounded_channel();
        tokio::spawn(PlayerTask { config, council, events, last_scores: ByColor::default() }.run(inbox));
        Self(requests)
    }

    /// Begins another game: the council stays and forgets the last one. A running search should be
    /// dropped first.
    pub fn new_game(&self) {
        let _ = self.0.send(PlayerCommand::NewGame);
    }

    /// Waits until the council can search: an engine may need seconds to start. Waits for a running
    /// search, too. The player goes on if the caller gives up.
    pub async fn started(&self) {
        let (told, hears) = oneshot::channel();
        let _ = self.0.send(PlayerCommand::TellWhenStarted(told));
        // It is dropped unanswered only after the player's end.
        let _ = hears.await;
    }

    /// Begins a search. One that still runs should be dropped first: they are taken one after the other.
    #[must_use]
    pub fn think(&self, request: SearchRequest) -> SearchHandle {
        let (time, now) = watch::channel(Agreement::now(Arc::clone(&request.line), request.time));
        let (reconsider, answer_now, dropped) = <(Arc<Notify>, CancellationToken, CancellationToken)>::default();
        let pondering = (!request.others.is_empty()).then(|| {
            let lines = std::iter::once(&request.line).chain(&request.others).cloned().collect();
            Pondering::new(lines, Arc::clone(&reconsider))
        });
        let queued = QueuedRequest {
            request,
            time: now,
            reconsider: Arc::clone(&reconsider),
            pondering: pondering.clone(),
            answer_now: answer_now.clone(),
            dropped: dropped.clone(),
        };
        // The other end lives as long as this handle.
        let _ = self.0.send(PlayerCommand::Think(Box::new(queued)));
        SearchHandle { time, reconsider, pondering, answer_now, _dropped: dropped.drop_guard() }
    }
}

struct PlayerTask {
    config: PlayerConfig,
    council: Council,
    events: mpsc::UnboundedSender<PlayerEvent>,
    /// Score of the last move of each side, from that side: a program may use one player for both.
    last_scores: ByColor<Option<Score>>,
}

impl PlayerTask {
    async fn run(mut self, mut inbox: mpsc::UnboundedReceiver<PlayerCommand>) {
        while let Some(order) = inbox.recv().await {
            tracing::trace!(target: "concilio::task", task = "player", "ordered");
            let queued = match order {
                PlayerCommand::Think(queued) if queued.dropped.is_cancelled() => continue,
                PlayerCommand::Think(queued) => *queued,
                PlayerCommand::NewGame => {
                    self.council.new_game();
                    self.last_scores = ByColor::default();
                    continue;
                }
                PlayerCommand::TellWhenStarted(mut told) => {
                    tokio::select! {
                        () = self.council.started() => (),
                        () = told.closed() => (),
                    }
                    let _ = told.send(());
                    continue;
                }
            };
            let timekeeper = self.timekeeper(&queued);
            let (id, answer_now, dropped) = (queued.request.id, queued.answer_now.clone(), queued.dropped.clone());
            if let Some((line, mut decision)) = self.think(queued).await {
                let last_score = self.last_scores.get_mut(line.turn());
                *last_score = decision.score.or(*last_score);
                let (budget, running) = timekeeper.account();
                // What was thought in the opponent's time did not cost ours.
                decision.elapsed = decision.elapsed.min(running);
                // A timer of no length still costs a millisecond: the runtime's timers round up.
                if let Some(pause) = timekeeper.hesitation() {
                    tokio::select! {
                        () = tokio::time::sleep(pause) => (),
                        () = answer_now.cancelled() => (),
                        () = dropped.cancelled() => continue,
                    }
                }
                let _ = self.events.send(PlayerEvent::Decided { id, line, decision: Box::new(decision), budget });
            }
        }
    }

    fn timekeeper(&self, queued: &QueuedRequest) -> Timekeeper {
        let lag = *self.config.lag.lock().unwrap_or_else(PoisonError::into_inner);
        let (line, expected) = (&queued.request.line, queued.request.others.is_empty());
        let last_score = *self.last_scores.get(line.turn());
        Timekeeper::new(&self.config.clock, lag, line, expected, last_score, queued.time.clone())
    }

    async fn think(&mut self, mut queued: QueuedRequest) -> Option<(Arc<Line>, Decision)> {
        loop {
            match self.ask(queued).await {
                ControlFlow::Break(decided) => return decided,
                ControlFlow::Continue(known) => queued = known,
            }
        }
    }

    /// Decides by book, tablebases, council and services. With several expected positions, books
    /// and tablebases are used once one of them occurs: if it needs no search, the request goes on
    /// with it alone.
    async fn ask(&mut self, queued: QueuedRequest) -> ControlFlow<Option<(Arc<Line>, Decision)>, QueuedRequest> {
        let timekeeper = self.timekeeper(&queued);
        let QueuedRequest { mut request, time, reconsider, pondering, answer_now, dropped } = queued;
        let (line, settled, agreed) = (Arc::clone(&request.line), pondering.clone(), time.clone());
        if !request.always_search && request.others.is_empty() {
            if let Some(only) = request.line.only_move() {
                return ControlFlow::Break(Some((line, Decision::without_vote(only, Source::Forced))));
            }
            let patience = time.borrow().for_files();
            match timeout(patience, self.look_up(&request)).await.ok().flatten() {
                Some(Known::Decided(decision)) => return ControlFlow::Break(Some((line, *decision))),
                Some(Known::Among(moves)) => {
                    let legal = request.line.legal_moves();
                    request.excluded = legal.into_iter().filter(|mv| !moves.contains(mv)).collect();
                }
                None => (),
            }
        }
        // Analysis is about the council's own opinion, and services do not know excluded moves.
        let own_opinion = request.always_search || !request.excluded.is_empty();
        let SearchRequest { id, limits, .. } = request;
        let leaders = self.events.clone();
        let question = Question {
            timing: Some(timekeeper.timing(move |leader| {
                let _ = leaders.send(PlayerEvent::Leader(id, leader));
            })),
            limits,
            excluded: request.excluded,
            answer_now: answer_now.clone(),
            reconsider: Arc::clone(&reconsider),
            pondering,
            ..Question::new(self.config.game.clone(), request.line)
        };
        let events = self.events.clone();
        let mut watch = |proposal: &Proposal| {
            let _ = events.send(PlayerEvent::Proposal(id, proposal.clone()));
        };
        let stop = dropped.child_token();
        let elsewhere = self.config.online.as_deref_mut().filter(|_| !own_opinion);
        let known_moves = self.config.known.clone();
        let known = {
            let mut decided = pin!(self.council.decide(question, &stop, &mut watch));
            tokio::select! {
                biased;
                decision = &mut decided => {
                    let line = settled.as_ref().and_then(Pondering::decided).cloned().unwrap_or(line);
                    return ControlFlow::Break(decision.map(|decision| (line, decision)));
                }
                Some(line) = needs_no_search(known_moves, agreed.clone()), if settled.is_some() && !own_opinion => {
                    stop.cancel();
                    decided.await;
                    line
                }
                Some(known) = known_elsewhere(elsewhere, time) => {
                    stop.cancel();
                    decided.await;
                    let line = Arc::clone(&agreed.borrow().line);
                    return ControlFlow::Break(Some((line, known)));
                }
            }
        };
        let request = SearchRequest { line: known, others: Vec::new(), excluded: Vec::new(), ..request };
        ControlFlow::Continue(QueuedRequest { request, time: agreed, reconsider, pondering: None, answer_now, dropped })
    }

    /// Asks the books and tablebases, on a thread for blocking reads.
    async fn look_up(&self, request: &SearchRequest) -> Option<Known> {
        let known = self.config.known.clone().filter(|_| request.excluded.is_empty())?;
        let line = Arc::clone(&request.line);
        spawn_blocking(move || known.look_up(&line)).await.ok().flatten()
    }
}

/// The position that has come about of several that were expected, if it has but one move, or a book or a tablebase knows it. It is
/// asked about once the clock runs for it.
async fn needs_no_search(
    known: Option<Arc<dyn KnownMoves>>,
    mut agreed: watch::Receiver<Agreement>,
) -> Option<Arc<Line>> {
    let line = Arc::clone(&agreed.wait_for(Agreement::is_for_a_game).await.ok()?.line);
    if line.only_move().is_some() {
        return Some(line);
    }
    let (known, asked) = (known?, Arc::clone(&line));
    let is_known = spawn_blocking(move || known.look_up(&asked).is_some()).await;
    is_known.unwrap_or(false).then_some(line)
}

#[cfg(test)]
mod tests;
