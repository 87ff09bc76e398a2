//! The task of one game: it carries out what the pure [`machine`] asks for — thinking, sending, recording, waiting — and
//! brings it what comes of it.
//!
//! Invariants:
//! - effects are carried out in the order in which the machine asked for them: a decision is in the journal before its move
//!   is sent;
//! - nothing here waits for the network: requests run in tasks of their own and report to the inbox.

use std::{
    collections::HashMap,
    ops::ControlFlow,
    panic::AssertUnwindSafe,
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use futures_util::FutureExt as _;
use tokio::{sync::mpsc, time::sleep_until};
use tokio_util::task::TaskTracker;

use super::{
    PreparedPlayer,
    adjudicator::Adjudicator,
    chat::Conversation,
    event::{BotEvent, EventBus},
    machine::{self, Effect, Input, Timer},
};
use crate::{
    journal::{DecidedMove, GameKey, Journal},
    policy::ChatSettings,
};
use chess::{
    Action, ActionError, Clocks, Color, Decision, GameId, GameInfo, GameState, GameStatus, Limits, ServerName, Source,
    TimeControl,
};
use council::{
    clock::Budget,
    council::Council,
    player::{GamePlayer, PlayerConfig, PlayerEvent, SearchHandle, SearchRequest, SharedLag, Time},
    pool::Pool,
};
use server::Server;

/// What all games of one server account share.
#[derive(Clone)]
pub(super) struct Shared {
    pub name: ServerName,
    pub server: Arc<dyn Server>,
    pub pool: Pool,
    pub lag: SharedLag,
    pub event_bus: EventBus,
    pub journal: Journal,
    pub player: Arc<dyn Fn(&GameInfo) -> Arc<PreparedPlayer> + Send + Sync>,
    pub chat: ChatSettings,
    /// Requests on their way, to be waited for when we stop.
    pub requests: TaskTracker,
}

/// How a decision that the journal remembers from before a restart is marked.
const REMEMBERED: &str = "journal";

/// How the task of a game came to its end.
#[derive(Debug)]
pub(super) enum Exit {
    /// The game is over.
    Over(GameId),
    /// The task panicked: a defect of ours that must not cost the game.
    Panicked(GameId),
}

/// Starts the task of a game. It ends when the game does, or when the sender is dropped; `exits` is told unless the latter.
pub(super) fn start(id: GameId, shared: Shared, exits: mpsc::UnboundedSender<Exit>) -> mpsc::UnboundedSender<Input> {
    let (inbox_sender, inbox) = mpsc::unbounded_channel();
    let (ideas_sender, events) = mpsc::unbounded_channel();
    let task = GameTask {
        id: id.clone(),
        shared,
        // Weak, so that the task ends when the manager lets go of the game.
        own_inbox: inbox_sender.downgrade(),
        ideas_sender,
        machine: None,
        player: None,
        limits: Limits::default(),
        thinking: None,
        timers: HashMap::new(),
        budget: None,
        conversation: None,
        remembered: false,
    };
    tokio::spawn(async move {
        // Whatever state the panic left behind is dropped with the task; the next one begins from the server's whole state.
        let exit = match AssertUnwindSafe(task.run(inbox, events)).catch_unwind().await {
            Ok(ControlFlow::Break(())) => Exit::Over(id),
            Ok(ControlFlow::Continue(())) => return,
            Err(_) => Exit::Panicked(id),
        };
        let _ = exits.send(exit);
    });
    inbox_sender
}

struct GameTask {
    id: GameId,
    shared: Shared,
    own_inbox: mpsc::WeakUnboundedSender<Input>,
    ideas_sender: mpsc::UnboundedSender<PlayerEvent>,
    /// From the first whole state on.
    machine: Option<machine::Game>,
    player: Option<GamePlayer>,
    /// Bounds on every search.
    limits: Limits,
    thinking: Option<SearchHandle>,
    timers: HashMap<Timer, Instant>,
    /// The budget of the decision that is about to be recorded.
    budget: Option<Budget>,
    conversation: Option<Conversation>,
    /// Whether the journal was asked for a move decided before a restart.
    remembered: bool,
}

impl GameTask {
    /// Plays until the game is over (`Break`) or the manager has let go of it.
    async fn run(
        mut self,
        mut inbox: mpsc::UnboundedReceiver<Input>,
        mut events: mpsc::UnboundedReceiver<PlayerEvent>,
    ) -> ControlFlow<()> {
        loop {
            let alarm = self.timers.values().min().copied();
            let input = tokio::select! {
                biased;
                input = inbox.recv() => match input {
                    Some(input) => input,
                    None => return ControlFlow::Continue(()),
                },
                Some(idea) = events.recv() => match self.idea(idea) {
                    Some(input) => input,
                    None => continue,
                },
                () = sleep_until(alarm.unwrap_or_else(Instant::now).into()), if alarm.is_some() => match self.due() {
                    Some(timer) => Input::Timer(timer),
                    None => continue,
                },
            };
            let effects = self.take(input);
            if self.carry_out(effects).await.is_break() {
                return ControlFlow::Break(());
            }
        }
    }

    fn idea(&mut self, idea: PlayerEvent) -> Option<Input> {
        match idea {
            PlayerEvent::Proposal(_, proposal) => {
                self.shared.event_bus.tell(|| BotEvent::Proposal(self.id.clone(), proposal));
                None
            }
            PlayerEvent::Leader(..) => None,
            PlayerEvent::Decided(thought, decision, budget) => {
                self.budget = Some(budget);
                Some(Input::Decided(thought, decision))
            }
        }
    }

    /// The timer that has run out, if one has.
    fn due(&mut self) -> Option<Timer> {
        let now = Instant::now();
        let timer = self.timers.iter().find(|(_, at)| **at <= now).map(|(timer, _)| *timer)?;
        self.timers.remove(&timer);
        Some(timer)
    }

    /// Brings the machine what happened; the first whole state makes the machine.
    fn take(&mut self, input: Input) -> Vec<Effect> {
        let now = Instant::now();
        match (&mut self.machine, input) {
            (Some(machine), Input::Chat(line)) => {
                self.shared.journal.chat(&GameKey::new(&self.shared.name, &self.id), &line);
                let answers = self.conversation.as_mut().map(|talk| talk.answer(machine.info(), &line));
                for answer in answers.into_iter().flatten() {
                    self.perform(answer);
                }
                Vec::new()
            }
            (Some(machine), input) => machine.handle(now, input),
            (None, Input::Full(info, state)) => self.begin(now, info, state),
            (None, Input::Finished(status, winner)) => vec![Effect::Over { status, winner }],
            // Before the whole state nothing else makes sense, and the whole state will contain it.
            (None, _) => Vec::new(),
        }
    }

    fn begin(&mut self, now: Instant, info: Box<GameInfo>, state: GameState) -> Vec<Effect> {
        let prepared = (self.shared.player)(&info);
        let settings = &prepared.settings;
        let council = Council::new(&self.shared.pool, &prepared.roster, &settings.council, info.terms.variant);
        let config = PlayerConfig {
            game: self.id.clone(),
            clock: settings.clock.clone(),
            lag: Arc::clone(&self.shared.lag),
            library: Arc::clone(&prepared.library),
        };
        self.player = Some(GamePlayer::start(config, council, self.ideas_sender.clone()));
        self.limits = (&settings.limits).into();
        self.shared.journal.game_started(&self.shared.name, &info);
        self.shared.event_bus.tell(|| BotEvent::GameStarted(self.shared.name.clone(), info.clone()));
        let mut conversation = Conversation::new(self.shared.chat.clone(), &info, &settings.council.roster);
        let manners = Adjudicator::new(
            settings.draw.clone(),
            settings.resign.clone(),
            settings.abort.clone(),
            settings.claim.clone(),
            settings.takebacks,
        );
        // Days are too long to think through.
        let real_time = matches!(info.terms.time_control, TimeControl::RealTime { .. });
        let (mut machine, effects) = machine::Game::new(now, info, state, manners);
        if real_time {
            machine.use_opponents_time(settings.ponder);
        }
        for greeting in conversation.greet(machine.info(), machine.line().ply()) {
            self.perform(greeting);
        }
        self.conversation = Some(conversation);
        self.machine = Some(machine);
        self.show_position();
        effects
    }

    async fn carry_out(&mut self, effects: Vec<Effect>) -> ControlFlow<()> {
        for effect in effects {
            match effect {
                Effect::Think { thought, line, clocks, received, excluded } => {
                    let time = self.time(clocks, received);
                    let limits = self.limits;
                    let topic = SearchRequest {
                        thought,
                        line,
                        others: Vec::new(),
                        time,
                        limits,
                        excluded,
                        always_search: false,
                    };
                    self.think(topic).await;
                }
                Effect::ThinkAhead { thought, mut lines } => {
                    let (line, others) = (lines.remove(0), lines);
                    let (time, limits) = (Time::Unbounded, self.limits);
                    let topic = SearchRequest {
                        thought,
                        line,
                        others,
                        time,
                        limits,
                        excluded: Vec::new(),
                        always_search: false,
                    };
                    self.ask(topic);
                }
                Effect::Hit { clocks, received } => {
                    if let (Some(thinking), Some(machine)) = (&self.thinking, &self.machine) {
                        thinking.comes_about(machine.line(), self.time(clocks, received));
                    }
                }
                Effect::StopThinking => self.thinking = None,
                Effect::RecordMoves => {
                    if let Some(machine) = &self.machine {
                        self.shared.journal.line_seen(&self.key(), machine.line(), machine.state().clocks);
                    }
                    self.show_position();
                }
                Effect::RecordDecision(decision) => self.record(decision).await,
                Effect::Send { answer, uci, offer_draw } => {
                    let action = Action::Move { game: self.id.clone(), uci, offer_draw };
                    let (shared, inbox) = (self.shared.clone(), self.own_inbox.clone());
                    self.shared.requests.spawn(async move {
                        let outcome = send_move(&shared, action).await;
                        if let Some(inbox) = inbox.upgrade() {
                            let _ = inbox.send(Input::Sent(answer, outcome));
                        }
                    });
                }
                Effect::Do(action) => self.perform(action),
                Effect::Resync => {
                    let (server, id) = (Arc::clone(&self.shared.server), self.id.clone());
                    self.shared.requests.spawn(async move { server.resync(&id).await });
                }
                Effect::Wake(timer, after) => {
                    self.timers.insert(timer, Instant::now() + after.min(Duration::from_secs(86_400)));
                }
                Effect::Forget(timer) => {
                    self.timers.remove(&timer);
                }
                Effect::Fault(what) => {
                    tracing::warn!(game = %self.id, what, "a fault in a game");
                    self.shared.journal.fault(&self.shared.name, Some(&self.id), &what);
                    self.shared.event_bus.tell(|| BotEvent::Fault(Some(self.id.clone()), what));
                }
                Effect::Over { status, winner } => {
                    self.over(status, winner).await;
                    return ControlFlow::Break(());
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// What our clock gives a move, since the server's word was received.
    fn time(&self, clocks: Option<Clocks>, received: Instant) -> Time {
        let control = self.machine.as_ref().map_or(TimeControl::Unlimited, |machine| machine.info().terms.time_control);
        Time::Clock { control, clocks, moves_to_go: None, spent: received.elapsed() }
    }

    /// Hands a position to the player; after a restart the journal may know the answer already.
    async fn think(&mut self, topic: SearchRequest) {
        if !std::mem::replace(&mut self.remembered, true)
            && topic.excluded.is_empty()
            && let Ok(Some(best)) = self.shared.journal.decided_move(&self.key(), &topic.line).await
        {
            let mut decision = Decision::without_vote(best, Source::Council);
            decision.criterion = REMEMBERED.to_owned();
            if let Some(inbox) = self.own_inbox.upgrade() {
                let _ = inbox.send(Input::Decided(topic.thought, Box::new(decision)));
            }
            return;
        }
        self.ask(topic);
    }

    /// Hands a position to the player. What was thought before is dropped first, so that the player is free.
    fn ask(&mut self, topic: SearchRequest) {
        self.thinking = None;
        self.thinking = self.player.as_ref().map(|player| player.think(topic));
    }

    async fn record(&mut self, decision: Box<Decision>) {
        let Some(machine) = &self.machine else { return };
        if decision.criterion == REMEMBERED {
            // It stands there already, with the votes that made it.
            self.shared.event_bus.tell(|| BotEvent::Decided(self.id.clone(), Arc::from(decision)));
            return;
        }
        let budget = self.budget.take();
        let allotted = budget.unwrap_or_else(|| Budget::fixed(Duration::ZERO, Duration::ZERO));
        let decision = Arc::new(*decision);
        let clocks = machine.state().clocks;
        let decided = DecidedMove {
            game: self.key(),
            line: Arc::clone(machine.line()),
            decision: Arc::clone(&decision),
            clock: clocks.map(|clocks| clocks.of(machine.info().our_color).remaining),
            spent: allotted.spent,
            response: allotted.response,
            extra: allotted.extra,
            lag: self.shared.lag.lock().unwrap_or_else(PoisonError::into_inner).typical(),
        };
        // The game goes before its record: a full disk must not lose it.
        if let Err(error) = self.shared.journal.move_decided(decided).await {
            tracing::error!(game = %self.id, %error, "a move is not in the journal");
        }
        self.shared.event_bus.tell(|| BotEvent::Decided(self.id.clone(), Arc::clone(&decision)));
        if let Some(conversation) = &mut self.conversation {
            conversation.decided(machine.line(), &decision, budget);
        }
    }

    /// Asks the server for something whose effect its events will tell.
    fn perform(&self, action: Action) {
        let (shared, id) = (self.shared.clone(), self.id.clone());
        self.shared.requests.spawn(async move {
            if let Err(error) = shared.server.perform(action.clone()).await {
                tracing::info!(game = %id, ?action, %error, "not taken");
                shared.journal.fault(&shared.name, Some(&id), &format!("{action:?}: {error}"));
            }
        });
    }

    async fn over(&mut self, status: Option<GameStatus>, winner: Option<Color>) {
        let ended = status.clone().unwrap_or(GameStatus::UnknownFinish);
        let pgn = match self.shared.journal.game_over(&self.key(), &ended, winner).await {
            Ok(pgn) => pgn,
            Err(error) => {
                tracing::error!(game = %self.id, %error, "the end of a game is not in the journal");
                None
            }
        };
        if let (Some(talk), Some(machine)) = (&mut self.conversation, &self.machine) {
            for goodbye in talk.take_leave(machine.info()) {
                self.perform(goodbye);
            }
        }
        let game = self.id.clone();
        self.shared.event_bus.tell(|| BotEvent::GameOver { game, status: status.clone(), winner, pgn });
    }

    fn key(&self) -> GameKey {
        GameKey::new(&self.shared.name, &self.id)
    }

    fn show_position(&self) {
        let Some(machine) = &self.machine else { return };
        self.shared.event_bus.tell(|| BotEvent::Position {
            game: self.id.clone(),
            line: Arc::clone(machine.line()),
            clocks: machine.state().clocks,
        });
    }
}

/// Sends a move and measures how long the server takes to acknowledge one.
async fn send_move(shared: &Shared, action: Action) -> Result<(), ActionError> {
    let sent = Instant::now();
    shared.server.perform(action).await?;
    shared.lag.lock().unwrap_or_else(PoisonError::into_inner).record(sent.elapsed());
    Ok(())
}
