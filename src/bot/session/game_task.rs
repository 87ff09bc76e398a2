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
    collections::HashMap,
    ops::ControlFlow,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::mpsc, time::sleep_until};

use super::{
    Runtime,
    account_context::{AccountContext, defended},
    adjudicator::Adjudicator,
    chat::Conversation,
    event::GameEvent,
    game_end,
    machine::{DecidedSearch, GameEffect, GameInput, GameMachine, GameOver, Timer},
};
use crate::journal::GameResult;
use council::{electors::EngineChat, player::PlayerEvent};
use domain::{Action, ChatRoom, GameId, GameInfo, GameState, GameStatus};
use sources::LostLines;
use util::caught;

mod commands;
mod running_game;
mod waiting;

use running_game::RunningGame;
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
    use council::player::{RequestId, SharedLag};
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
