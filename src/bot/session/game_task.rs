//! The task of one game: it carries out the effects of the pure [`machine`] (searches, requests,
//! records, timers) and brings it the results.
//!
//! Invariants:
//! - effects are carried out in the machine's order: a decision is in the journal before its move is sent, unless the disk
//!   takes longer than the bot's clock allows;
//! - between a decision and its move stands nothing but the journal: log, metrics, chat and page
//!   get it afterwards;
//! - nothing here waits for the network: requests run in tasks of their own and report to the inbox;
//! - decisions, timers and the answers to own requests precede any number of the server's events:
//!   the server's inbox is bounded, and after an overflow the whole state is requested again;
//! - a panic of the player ends the task of its game, and a new one begins.

use std::{
    borrow::Cow,
    collections::HashMap,
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::{OwnedSemaphorePermit, mpsc},
    time::sleep_until,
};
use tokio_util::task::AbortOnDropHandle;

use super::{
    Runtime,
    account_context::{AccountContext, defended},
    adjudicator::Adjudicator,
    chat::Conversation,
    event::GameEvent,
    game_end,
    machine::{DecidedSearch, GameEffect, GameInput, GameMachine, GameOver, Timer},
    prepared_player::PreparedPlayer,
};
use crate::journal::{DecidedMove, GameKey, GameResult};
use council::{
    Council,
    electors::{EngineChat, EngineGame},
    player::{GamePlayer, PlayerConfig, PlayerEvent, RequestId, SearchHandle, SearchRequest, Time},
};
use domain::{Action, ChatRoom, Clocks, Decision, GameId, GameInfo, GameState, GameStatus, Line, Source, UciMove};
use sources::LostLines;
use util::caught;

mod commands;
mod waiting;

use waiting::{in_time, move_patience, taken_in_time};

const LONGEST_TIMER: Duration = Duration::from_hours(24);

/// Capacity of the queue of server events; the task is fast unless the disk hangs.
const INBOX: usize = 64;

#[derive(Debug)]
pub(super) enum Exit {
    /// The game is over, with its result for the bot if there is one.
    Over(GameId, Option<GameResult>),
    /// The task or its player panicked. This defect must not cost the game.
    Panicked(GameId),
}

/// Starts the task of a game. It ends with the game, or when the sender is dropped; only the former is sent to `exits`.
pub(super) fn start(
    id: GameId,
    context: Arc<AccountContext>,
    exits: mpsc::UnboundedSender<Exit>,
) -> mpsc::Sender<GameInput> {
    let (inbox_sender, inbox) = mpsc::channel(INBOX);
    let (own, own_inbox) = mpsc::unbounded_channel();
    let task = GameTask {
        id: id.clone(),
        context,
        own,
        player_events: None,
        timers: HashMap::new(),
        rating_change: None,
        game: None,
    };
    tokio::spawn(async move {
        // Whatever state a panic left behind is dropped with the task; the next one begins from the server's whole state.
        let exit = caught("game", task.run(inbox, own_inbox)).await.unwrap_or(Some(Exit::Panicked(id)));
        if let Some(exit) = exit {
            let _ = exits.send(exit);
        }
    });
    inbox_sender
}

struct GameTask {
    id: GameId,
    context: Arc<AccountContext>,
    /// Results of own requests; there are few at a time.
    own: mpsc::UnboundedSender<GameInput>,
    /// Events of the player, while there is one: when it is gone, they end.
    player_events: Option<mpsc::UnboundedReceiver<PlayerEvent>>,
    timers: HashMap<Timer, Instant>,
    /// Change of the bot's rating, if the server announces it before the end.
    rating_change: Option<i32>,
    /// `None` until the server has sent the state of the game.
    game: Option<Box<RunningGame>>,
}

/// A game from its first whole state on.
struct RunningGame {
    context: Arc<AccountContext>,
    own: mpsc::UnboundedSender<GameInput>,
    machine: GameMachine,
    /// `None` between two searches of a correspondence game: its engines do not wait for days.
    player: Option<GamePlayer>,
    prepared: Arc<PreparedPlayer>,
    lost_lines: LostLines,
    /// The running search, of the bot's move or in the opponent's time.
    search: Option<SearchHandle>,
    /// A waiting search of a correspondence game, the receipt of the server's state, and the wait for the turn.
    awaited_turn: Option<(SearchRequest, Instant, AbortOnDropHandle<()>)>,
    /// The turn of the running search of a correspondence game.
    turn: Option<OwnedSemaphorePermit>,
    conversation: Conversation,
    chat: EngineChat,
    /// True if the journal was searched for a move decided before a restart.
    journal_was_asked: bool,
    in_book: bool,
}

/// Returns the player's next event; waits for ever while there is no player.
async fn next_event(events: &mut Option<mpsc::UnboundedReceiver<PlayerEvent>>) -> Option<PlayerEvent> {
    match events {
        Some(events) => events.recv().await,
        None => std::future::pending().await,
    }
}

impl GameTask {
    /// Runs the game. Returns `None` if the manager has let go of it.
    async fn run(
        mut self,
        mut inbox: mpsc::Receiver<GameInput>,
        mut own_inbox: mpsc::UnboundedReceiver<GameInput>,
    ) -> Option<Exit> {
        loop {
            let alarm = self.timers.values().min().copied();
            let input = tokio::select! {
                biased;
                Some(input) = own_inbox.recv() => Some(input),
                event = next_event(&mut self.player_events) => match event {
                    Some(event) => self.player_event(event),
                    None => return Some(Exit::Panicked(self.id)),
                },
                () = sleep_until(alarm.unwrap_or_else(Instant::now).into()), if alarm.is_some() => self.due(),
                input = inbox.recv() => Some(input?),
            };
            let Some(input) = input else { continue };
            let effects = self.take(input).await;
            if let ControlFlow::Break(result) = self.carry_out(effects).await {
                return Some(Exit::Over(self.id, result));
            }
        }
    }

    fn player_event(&mut self, event: PlayerEvent) -> Option<GameInput> {
        match event {
            PlayerEvent::Proposal(_, proposal) => {
                self.context.show(&self.id, || GameEvent::Proposal(proposal));
                None
            }
            PlayerEvent::Leader(..) => None,
            PlayerEvent::Decided { id, line, decision, budget } => {
                let decided = DecidedSearch { line, decision: Arc::new(*decision), budget: Some(budget) };
                Some(GameInput::Decided(id, Box::new(decided)))
            }
        }
    }

    fn due(&mut self) -> Option<GameInput> {
        let now = Instant::now();
        let timer = self.timers.iter().find(|(_, at)| **at <= now).map(|(timer, _)| *timer)?;
        self.timers.remove(&timer);
        Some(GameInput::Timer(timer))
    }

    /// Gives the machine an input; the first whole state makes the machine.
    async fn take(&mut self, input: GameInput) -> Vec<GameEffect> {
        let now = Instant::now();
        match (&mut self.game, input) {
            (_, GameInput::Command(command, answer)) => self.obey(command, answer),
            (_, GameInput::Rated(change)) => {
                self.rating_change = Some(change);
                Vec::new()
            }
            (Some(game), GameInput::Chat(line, queue)) => {
                let ours = line.username.eq_ignore_ascii_case(&game.machine.info().us().name);
                self.context.tell_of_game(&self.id, GameEvent::Chat { line: line.clone(), ours });
                if !ours && line.room == ChatRoom::Player {
                    game.chat.hear(&line.username, &line.text);
                }
                let mut effects = Vec::new();
                if game.conversation.chat.asks_to_wait(&line) {
                    let patience;
                    (patience, effects) = game.machine.wait_longer(now);
                    game.conversation.waits(patience);
                }
                let answers = game.conversation.answer(game.machine.info(), &line, queue);
                effects.extend(answers.into_iter().map(GameEffect::Do));
                effects
            }
            (Some(game), GameInput::Turn(id, turn)) => {
                if let Some(events) = game.take_turn(id, turn) {
                    self.player_events = Some(events);
                }
                Vec::new()
            }
            (Some(game), input) => game.machine.handle(now, input),
            (None, GameInput::Full(info, state)) => self.begin(now, info, state).await,
            (None, GameInput::Finished(status, winner)) => vec![GameEffect::Over(GameOver::told(status, winner))],
            (None, GameInput::Gone) => vec![GameEffect::Over(GameOver::Unknown)],
            // Other inputs make no sense before the whole state, and the whole state will contain them.
            (None, _) => Vec::new(),
        }
    }

    async fn begin(&mut self, now: Instant, info: Box<GameInfo>, state: GameState) -> Vec<GameEffect> {
        let clock = state.clocks.map(|clocks| clocks.of(info.our_color).remaining);
        let Runtime { journal, policy, player, .. } = &self.context.runtime;
        let prepared = player(&info);
        let settings = &prepared.settings;
        let lost_lines = match settings.book.repeat_lost {
            true => LostLines::default(),
            false => LostLines::new(in_time(clock, journal.lost_book_lines(&info)).await.unwrap_or_default()),
        };
        let mut conversation = Conversation::new(policy.chat.clone(), &info, settings, &policy.variants);
        let key = self.context.key(&self.id);
        let granted = in_time(clock, journal.takebacks_granted(&key)).await.unwrap_or_default();
        // Days are too long to search through.
        let real_time = info.terms.time_control.is_real_time();
        let (mut machine, effects) = GameMachine::new(now, info, state, Adjudicator::new(settings, granted));
        if real_time {
            machine.ponder_replies(settings.ponder);
        }
        let (info, ply) = (Box::new(machine.info().clone()), machine.line().ply());
        let electors = Arc::from(prepared.roster.electors());
        self.context.tell_of_game(&self.id, GameEvent::Started { info, electors, ply });
        let greetings = conversation.greet(machine.info(), machine.line().ply());
        let mut game = RunningGame {
            context: Arc::clone(&self.context),
            own: self.own.clone(),
            machine,
            player: None,
            prepared,
            lost_lines,
            search: None,
            awaited_turn: None,
            turn: None,
            conversation,
            chat: EngineChat::default(),
            journal_was_asked: false,
            in_book: false,
        };
        if real_time {
            self.player_events = Some(game.seat_player());
        }
        game.show_position();
        self.game = Some(Box::new(game));
        greetings.into_iter().map(GameEffect::Do).chain(effects).collect()
    }

    async fn carry_out(&mut self, effects: Vec<GameEffect>) -> ControlFlow<Option<GameResult>> {
        let mut written = None;
        for effect in effects {
            match (effect, &mut self.game) {
                (GameEffect::Over(end), _) => return ControlFlow::Break(self.over(end).await),
                (GameEffect::Do(action), _) => self.context.perform(&self.id, action),
                (GameEffect::Resync, _) => {
                    let (server, id) = (Arc::clone(&self.context.server), self.id.clone());
                    self.context.requests.spawn(async move { server.resync(&id).await });
                }
                (GameEffect::Wake(timer, after), _) => {
                    self.timers.insert(timer, Instant::now() + after.min(LONGEST_TIMER));
                }
                (GameEffect::Forget(timer), _) => {
                    self.timers.remove(&timer);
                }
                (GameEffect::Fault(what), _) => self.context.fault(Some(&self.id), what),
                (GameEffect::Send { answer, uci, offer_draw }, _) => {
                    let action = Action::Move { game: self.id.clone(), uci, offer_draw };
                    let (context, own, game) = (Arc::clone(&self.context), self.own.clone(), self.id.clone());
                    let left = self.game.as_ref().and_then(|game| game.machine.time_left(Instant::now()));
                    let left = left.filter(|_| !context.server.repeats_moves());
                    let patience = left.map(|left| move_patience(left, context.typical_lag()));
                    self.context.requests.spawn(async move {
                        let tell = |outcome| _ = own.send(GameInput::Sent(answer, outcome));
                        taken_in_time(patience, defended(context.send_move(&game, action)), tell).await;
                    });
                    // The request leaves before anything else is done.
                    tokio::task::yield_now().await;
                }
                (GameEffect::RecordDecision(decided), Some(game)) => {
                    if game.leaves_the_cores() {
                        self.player_events = None;
                    }
                    game.record(&decided).await;
                    written = Some(*decided);
                }
                (effect, Some(game)) => game.carry_out(effect).await,
                // Only the machine of a running game asks for searches and records.
                (_, None) => (),
            }
        }
        if let (Some(decided), Some(game)) = (written, &mut self.game) {
            game.announce(decided);
        }
        ControlFlow::Continue(())
    }

    /// Says goodbye, and records the end. Returns the result for the bot.
    async fn over(&mut self, end: GameOver) -> Option<GameResult> {
        let (mut seen, mut result) = (None, None);
        if let Some(game) = &mut self.game {
            let is_over =
                !matches!(&end, GameOver::Shown(GameStatus::Adjourned, _) | GameOver::Told(GameStatus::Adjourned, _));
            for goodbye in game.conversation.goodbye(game.machine.info(), is_over) {
                self.context.perform(&self.id, goodbye);
            }
            let (info, plies) = (Box::new(game.machine.info().clone()), game.machine.line().ply());
            if let GameOver::Shown(status, winner) | GameOver::Told(status, winner) = &end {
                result = GameResult::of(info.our_color, status, *winner);
            }
            seen = Some((info, plies));
        }
        // It is announced now, and not with the end: the look-up of the end may take a while.
        if let (Some(change), GameOver::Told(..) | GameOver::Unknown) = (self.rating_change, &end) {
            self.context.tell_of_game(&self.id, GameEvent::Rated { change });
        }
        match end {
            GameOver::Shown(status, winner) => {
                game_end::record(&self.context, &self.id, seen, status, winner, self.rating_change).await;
            }
            GameOver::Told(status, winner) => game_end::look_up(&self.context, &self.id, seen, Some((status, winner))),
            GameOver::Unknown => game_end::look_up(&self.context, &self.id, seen, None),
        }
        result
    }
}

impl RunningGame {
    async fn carry_out(&mut self, effect: GameEffect) {
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
    fn seat_player(&mut self) -> mpsc::UnboundedReceiver<PlayerEvent> {
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
    fn take_turn(
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
    fn leaves_the_cores(&mut self) -> bool {
        let leaves = self.is_correspondence() && self.player.is_some();
        if leaves {
            (self.search, self.player, self.turn) = (None, None, None);
        }
        leaves
    }

    /// Writes a decision into the journal, unless it comes from there.
    async fn record(&self, decided: &DecidedSearch) {
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

    fn announce(&mut self, DecidedSearch { line, decision, budget }: DecidedSearch) {
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

    fn show_position(&self) {
        self.context.show(&self.machine.info().id, || GameEvent::Position {
            line: Arc::clone(self.machine.line()),
            clocks: self.machine.state().clocks,
        });
    }
}

#[cfg(test)]
mod tests {
    use tokio_util::{sync::CancellationToken, task::TaskTracker};

    use super::*;
    use crate::{
        journal::{Journal, JournalSettings},
        session::{
            BotEvent,
            account_task::tests::{ScriptedServer, runtime},
            counting::AccountMetrics,
        },
    };
    use council::player::SharedLag;
    use util::Shutdown;

    fn context(folder: &tempfile::TempDir) -> Arc<AccountContext> {
        let journal = Journal::open(&JournalSettings::in_folder(folder.path())).expect("a journal");
        Arc::new(AccountContext {
            metrics: Arc::new(AccountMetrics::new(&"made-up".into())),
            name: "made-up".into(),
            server: Arc::new(ScriptedServer::default()),
            runtime: Runtime {
                player: Arc::new(|_| panic!("no game begins here")),
                ..runtime(journal, &Shutdown::default())
            },
            lag: SharedLag::default(),
            requests: TaskTracker::new(),
            stopping: CancellationToken::new(),
        })
    }

    /// The task of a game without a state, and its inbox of own results.
    fn task(
        context: Arc<AccountContext>,
        player_events: mpsc::UnboundedReceiver<PlayerEvent>,
    ) -> (GameTask, mpsc::UnboundedReceiver<GameInput>) {
        let (own, own_inbox) = mpsc::unbounded_channel();
        let (id, player_events, timers) = (GameId::new("abcdefgh"), Some(player_events), HashMap::new());
        (GameTask { id, context, own, player_events, timers, rating_change: None, game: None }, own_inbox)
    }

    /// Decisions and timers precede any number of the server's events.
    #[tokio::test]
    async fn own_results_precede_server_events() {
        let folder = tempfile::tempdir().expect("a folder");
        let context = context(&folder);
        let mut seen = context.runtime.event_bus.listen();
        let (server_says, inbox) = mpsc::channel(INBOX);
        let (player, player_events) = mpsc::unbounded_channel();
        let (mut task, own_inbox) = task(context, player_events);
        task.timers.insert(Timer::Abort, Instant::now());
        let leader = PlayerEvent::Leader(RequestId(1), "e2e4".parse().expect("a move"));
        player.send(leader).expect("heard");
        task.own.send(GameInput::Rated(4)).expect("heard");
        server_says.try_send(GameInput::Gone).expect("there is room");
        assert!(matches!(task.run(inbox, own_inbox).await, Some(Exit::Over(_, None))));
        let rated = |event: &BotEvent| matches!(event, BotEvent::Game(_, GameEvent::Rated { change: 4 }));
        let mut told = std::iter::from_fn(|| seen.try_recv().ok());
        assert!(told.any(|event| rated(&event)), "the change of the rating was taken in before the end");
    }

    /// The task of a game ends without its player, to begin anew.
    #[tokio::test]
    async fn a_game_ends_with_its_player() {
        let folder = tempfile::tempdir().expect("a folder");
        let (_server_says, inbox) = mpsc::channel(INBOX);
        let (player, player_events) = mpsc::unbounded_channel();
        drop(player);
        let (task, own_inbox) = task(context(&folder), player_events);
        assert!(matches!(task.run(inbox, own_inbox).await, Some(Exit::Panicked(_))));
    }
}
