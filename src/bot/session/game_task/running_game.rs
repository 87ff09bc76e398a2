//! A game from its first whole state on: its player, its searches and its records.

use std::{
    borrow::Cow,
    sync::Arc,
    time::{Duration, Instant},
};

use council::{
    Council,
    electors::{EngineChat, EngineGame},
    player::{GamePlayer, PlayerConfig, PlayerEvent, RequestId, SearchHandle, SearchRequest, Time},
};
use domain::{ChatRoom, Clocks, Decision, Line, Source, UciMove};
use sources::LostLines;
use tokio::sync::{OwnedSemaphorePermit, mpsc};
use tokio_util::task::AbortOnDropHandle;

use super::waiting::in_time;
use crate::{
    journal::{DecidedMove, GameKey},
    session::{
        account_context::AccountContext,
        chat::Conversation,
        event::GameEvent,
        machine::{DecidedSearch, GameEffect, GameInput, GameMachine},
        prepared_player::PreparedPlayer,
    },
};

/// A game from its first whole state on.
pub(super) struct RunningGame {
    pub(super) context: Arc<AccountContext>,
    pub(super) own: mpsc::UnboundedSender<GameInput>,
    pub(super) machine: GameMachine,
    /// `None` between two searches of a correspondence game: its engines do not wait for days.
    pub(super) player: Option<GamePlayer>,
    pub(super) prepared: Arc<PreparedPlayer>,
    pub(super) lost_lines: LostLines,
    /// The running search, of the bot's move or in the opponent's time.
    pub(super) search: Option<SearchHandle>,
    /// A waiting search of a correspondence game, the receipt of the server's state, and the wait for the turn.
    pub(super) awaited_turn: Option<(SearchRequest, Instant, AbortOnDropHandle<()>)>,
    /// The turn of the running search of a correspondence game.
    pub(super) turn: Option<OwnedSemaphorePermit>,
    pub(super) conversation: Conversation,
    pub(super) chat: EngineChat,
    /// True if the journal was searched for a move decided before a restart.
    pub(super) journal_was_asked: bool,
    pub(super) in_book: bool,
}

impl RunningGame {
    pub(super) async fn carry_out(&mut self, effect: GameEffect) {
        match effect {
            GameEffect::Search { request, line, clocks, received, excluded } => {
                if excluded.is_empty()
                    && let Some(best) = self.decided_before(&line).await
                {
                    let decision = Arc::new(Decision::without_vote(best, Source::Journal));
                    let decided = Box::new(DecidedSearch { line, decision, budget: None });
                    let _ = self.own.send(GameInput::Decided(request, decided));
                    return;
                }
                let request = self.request(request, line, Vec::new(), self.time(clocks, received), excluded);
                if self.is_correspondence() { self.wait_for_turn(request, received) } else { self.search(request) }
            }
            GameEffect::Ponder { request, mut lines } => {
                let line = lines.remove(0);
                let request = self.request(request, line, lines, Time::Unbounded, Vec::new());
                self.search(request);
            }
            GameEffect::PonderHit { clocks, received } => {
                if let Some(search) = &self.search {
                    search.comes_about(self.machine.line(), self.time(clocks, received));
                }
            }
            GameEffect::StopSearch => (self.search, self.awaited_turn, self.turn) = (None, None, None),
            GameEffect::RecordMoves => {
                let (line, clocks) = (self.machine.line(), self.machine.state().clocks);
                self.context.runtime.journal.line_seen(&self.key(), line, clocks);
                self.show_position();
            }
            GameEffect::RecordTakeback => self.context.runtime.journal.takeback_granted(&self.key()),
            // The task carries out all others.
            GameEffect::Do(_)
            | GameEffect::Fault(_)
            | GameEffect::Forget(_)
            | GameEffect::Over(_)
            | GameEffect::RecordDecision(_)
            | GameEffect::Resync
            | GameEffect::Send { .. }
            | GameEffect::Wake(..) => (),
        }
    }

    fn our_clock(&self) -> Option<Duration> {
        let (info, state) = (self.machine.info(), self.machine.state());
        state.clocks.map(|clocks| clocks.of(info.our_color).remaining)
    }

    fn key(&self) -> GameKey {
        self.context.key(&self.machine.info().id)
    }

    /// Returns the time for a move by the bot's clock, from the receipt of the server's state on.
    fn time(&self, clocks: Option<Clocks>, received: Instant) -> Time {
        let control = self.machine.info().terms.time_control;
        Time::Clock { control, clocks, moves_to_go: None, spent: received.elapsed() }
    }

    /// Returns a move decided for this position before a restart. The journal is searched once.
    async fn decided_before(&mut self, line: &Arc<Line>) -> Option<UciMove> {
        if std::mem::replace(&mut self.journal_was_asked, true) {
            return None;
        }
        let key = self.key();
        let decided = self.context.runtime.journal.decided_move(&key, line);
        in_time(self.our_clock(), decided).await.ok().flatten()
    }

    fn request(
        &self,
        id: RequestId,
        line: Arc<Line>,
        others: Vec<Arc<Line>>,
        time: Time,
        excluded: Vec<UciMove>,
    ) -> SearchRequest {
        let limits = (&self.prepared.settings.limits).into();
        SearchRequest { id, line, others, time, limits, excluded, always_search: false }
    }

    /// Hands a position to the player. The earlier search is dropped first: the player must be free.
    fn search(&mut self, request: SearchRequest) {
        self.search = None;
        self.search = self.player.as_ref().map(|player| player.think(request));
    }

    fn is_correspondence(&self) -> bool {
        !self.machine.info().terms.time_control.is_real_time()
    }

    /// Starts the game's player, and returns its events.
    pub(super) fn seat_player(&mut self) -> mpsc::UnboundedReceiver<PlayerEvent> {
        let (events, receiver) = mpsc::unbounded_channel();
        let (prepared, info) = (&self.prepared, self.machine.info());
        let settings = &prepared.settings;
        let mut roster = Cow::Borrowed(&*prepared.roster);
        if roster.has_engines() {
            let (opponent, our_rating) = (info.opponent().clone(), info.us().rating);
            roster = Cow::Owned(roster.for_game(&EngineGame { opponent, our_rating, chat: self.chat.clone() }));
        }
        if self.is_correspondence() {
            roster = Cow::Owned(roster.in_background());
        }
        let council = Council::new(&self.context.runtime.pool, &roster, &settings.council, info.terms.variant);
        let config = PlayerConfig {
            game: info.id.clone(),
            clock: settings.clock.clone(),
            lag: Arc::clone(&self.context.lag),
            known: prepared.library.for_a_game(self.lost_lines.clone()),
            online: prepared.online.as_ref().map(|services| Box::new(services.for_a_game()) as _),
        };
        self.player = Some(GamePlayer::start(config, council, events));
        receiver
    }

    /// Keeps a search of a correspondence game until [`GameInput::Turn`].
    fn wait_for_turn(&mut self, request: SearchRequest, received: Instant) {
        let (id, own, runtime) = (request.id, self.own.clone(), &self.context.runtime);
        let length = self.prepared.settings.clock.correspondence_move_time;
        let turn = runtime.background.clone().turn(runtime.pool.clone(), length, self.our_clock());
        let waiting = tokio::spawn(async move { _ = own.send(GameInput::Turn(id, turn.await)) });
        self.search = None;
        self.awaited_turn = Some((request, received, AbortOnDropHandle::new(waiting)));
    }

    /// Begins the waiting search `id`. The time of the wait counts as spent.
    pub(super) fn take_turn(
        &mut self,
        id: RequestId,
        turn: Option<OwnedSemaphorePermit>,
    ) -> Option<mpsc::UnboundedReceiver<PlayerEvent>> {
        let (mut request, received, _) = self.awaited_turn.take_if(|(request, ..)| request.id == id)?;
        if let Time::Clock { spent, .. } = &mut request.time {
            *spent = received.elapsed();
        }
        let events = self.seat_player();
        self.turn = turn;
        self.search(request);
        Some(events)
    }

    /// Ends the player of a correspondence game after its decision. Returns true if there was one.
    pub(super) fn leaves_the_cores(&mut self) -> bool {
        let leaves = self.is_correspondence() && self.player.is_some();
        if leaves {
            (self.search, self.player, self.turn) = (None, None, None);
        }
        leaves
    }

    /// Writes a decision into the journal, unless it comes from there.
    pub(super) async fn record(&self, decided: &DecidedSearch) {
        let Some(budget) = decided.budget else { return };
        let decided_move = DecidedMove {
            game: self.key(),
            line: Arc::clone(&decided.line),
            decision: Arc::clone(&decided.decision),
            clock: self.our_clock(),
            spent: budget.spent,
            response: budget.response,
            extra: budget.extra,
            lag: self.context.typical_lag(),
        };
        // A full disk must not lose the game. The journal itself reports it.
        if let Err(error) = in_time(self.our_clock(), self.context.runtime.journal.move_decided(decided_move)).await {
            tracing::debug!(game = %self.machine.info().id, %error, "a move is not yet in the journal");
        }
    }

    pub(super) fn announce(&mut self, DecidedSearch { line, decision, budget }: DecidedSearch) {
        let (context, info) = (&self.context, self.machine.info());
        for text in self.chat.take_said() {
            // A flood is not sent, because the server would drop it.
            let said = self.conversation.say(info, ChatRoom::Player, &text).unwrap_or_default();
            said.into_iter().for_each(|action| context.perform(&info.id, action));
        }
        if let Some(budget) = budget {
            for told in self.conversation.decided(info, &line, &decision, budget) {
                context.perform(&info.id, told);
            }
        }
        if decision.source == Source::Council {
            let electors = self.prepared.roster.electors().len();
            context.metrics.electors_silent(electors.saturating_sub(decision.votes_cast().count()));
        }
        let in_book = decision.source.is_of_openings();
        let left_book = std::mem::replace(&mut self.in_book, in_book) && !in_book;
        let lag = context.typical_lag();
        context.tell_of_game(&info.id, GameEvent::Decided { line, decision, budget, lag, left_book });
    }

    pub(super) fn show_position(&self) {
        self.context.show(&self.machine.info().id, || GameEvent::Position {
            line: Arc::clone(self.machine.line()),
            clocks: self.machine.state().clocks,
        });
    }
}
