//! The manager of one account: hands the server's events to the lobby and to the games, and carries out the lobby's
//! effects. It never waits for the network, so a slow answer in one place stops nothing elsewhere.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
    time::{Duration, Instant},
};

use jiff::{Timestamp, Zoned};
use tokio::{
    sync::{
        mpsc::{self, error::TrySendError},
        watch,
    },
    task::JoinHandle,
    time::{sleep, sleep_until, timeout},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use super::{
    AccountEvent, AccountMode, AccountPolicy, Connection, GameEvent, Runtime,
    account_context::AccountContext,
    chat::Reception,
    control::{AccountRequest, ControlAnswer},
    counting::AccountMetrics,
    game_end::{self, LookUpOutcome},
    game_task::Exit,
    lobby::{Lobby, LobbyEffect, LobbyInput},
    machine::GameInput,
    stream_losses::StreamLosses,
};
use crate::{journal::JournalError, metrics, policy::NameLists};
use council::player::SharedLag;
use domain::{Account, Action, ChallengeRequest, GameId, KnownGame, ServerEvent, Variant};
use memory::{learned_key, remembered};
use platform::Server;
use util::{Shutdown, Supervisor, values::HoursOfDay};

mod commands;
mod effects;
mod leaving;
mod memory;
mod requests;

pub use memory::decliners;

const LAST_REQUESTS: Duration = Duration::from_secs(3);
const AFTER_PANIC: Duration = Duration::from_millis(500);
/// The longest time between two looks at the lobby, and at the hours.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
const MOST_OVER: usize = 256;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountEnd {
    Closed,
    Rejected(String),
    /// Its connection ended without a reason, by a fault of this program.
    Lost(String),
}

/// Plays on an account until a shutdown, or until the server rejects the account.
pub async fn play(connection: Connection, runtime: Runtime, shutdown: Shutdown) -> AccountEnd {
    let Connection { name, server, events, stop } = connection;
    let memory = remembered(&runtime, &name).await;
    let known = |games: Result<Vec<KnownGame>, JournalError>| {
        games.inspect_err(|error| tracing::warn!(%error, "games of the last run are unknown")).unwrap_or_default()
    };
    let unfinished = known(runtime.journal.unfinished(&name).await);
    let adjourned = known(runtime.journal.adjourned(&name).await);
    server.remember(&[adjourned, unfinished.clone()].concat()).await;
    if let Ok(Some(learned)) = runtime.journal.state(&learned_key(&name)).await {
        server.recall(&learned).await;
    }
    let policy = policy_with(&*server, &runtime.policy);
    let commands = runtime.control.register(&name);
    let (exits_sender, exits) = mpsc::unbounded_channel();
    let (answers_sender, answers) = mpsc::unbounded_channel();
    let (past_games_sender, past_games) = mpsc::unbounded_channel();
    let mut inboxes = Inboxes { events, exits, answers, past_games, commands };
    let context = Arc::new(AccountContext {
        metrics: Arc::new(AccountMetrics::new(&name)),
        name,
        server,
        runtime: Runtime { policy: Arc::clone(&policy), ..runtime },
        lag: SharedLag::default(),
        requests: TaskTracker::new(),
        stopping: CancellationToken::new(),
    });
    let mut manager = Manager {
        reception: Reception::new(policy.chat.clone(), &policy.variants),
        lists: policy.newer_lists.clone(),
        lobby: Lobby::new(policy, memory, Timestamp::now(), rand::random()),
        context,
        games: HashMap::new(),
        over: VecDeque::new(),
        draining: false,
        stream_losses: StreamLosses::default(),
        seeks: true,
        unfinished,
        lost_at: None,
        open_orders: Vec::new(),
        exits_sender,
        answers_sender,
        past_games_sender,
    };
    // A pause outlives a restart.
    if manager.lobby.mode() != AccountMode::default() {
        manager.mode_changed(manager.lobby.mode());
    }
    let mut supervisor = Supervisor::new("account");
    let end = loop {
        match supervisor.attempt(manager.serve(&mut inboxes, &shutdown)).await {
            Some(end) => break end,
            None => manager.recover().await,
        }
    };
    let context = Arc::clone(&manager.context);
    drop(manager);
    close(&context, inboxes, &stop).await;
    if end == AccountEnd::Closed {
        context.tell(AccountEvent::Closed);
    }
    if let Err(error) = context.runtime.journal.flush().await {
        tracing::error!(server = %context.name, %error, "some entries are missing from the journal");
    }
    end
}

/// Waits for the last declines and messages, and then for the end of the connection.
async fn close(context: &AccountContext, inboxes: Inboxes, stop: &CancellationToken) {
    let Inboxes { mut events, mut answers, .. } = inboxes;
    context.stopping.cancel();
    context.requests.close();
    let last_requests = async {
        while let Some(answer) = answers.recv().await {
            // The game of a challenge from before the stop would have no player.
            if let LobbyInput::Challenged(_, Ok(id)) = answer {
                let _ = context.server.perform(Action::Cancel(id)).await;
            }
        }
        context.requests.wait().await;
    };
    if timeout(LAST_REQUESTS, last_requests).await.is_err() {
        tracing::warn!(server = %context.name, "stopped before all answers of the server");
    }
    // Now the connection may end in its own way.
    stop.cancel();
    let _ = timeout(LAST_REQUESTS, async { while events.recv().await.is_some() {} }).await;
}

/// Waits for the next lists of names; for ever, if no task updates them.
async fn newer(lists: &mut Option<watch::Receiver<NameLists>>) -> NameLists {
    if let Some(receiver) = lists
        && receiver.changed().await.is_ok()
    {
        return receiver.borrow_and_update().clone();
    }
    *lists = None;
    std::future::pending().await
}

fn policy_with(server: &dyn Server, policy: &Arc<AccountPolicy>) -> Arc<AccountPolicy> {
    let mut policy = Arc::clone(policy);
    if policy.keep_limits && !server.keeps_lichess_limits() {
        Arc::make_mut(&mut policy).keep_limits = false;
    }
    if policy.tournament.settings.enabled && !server.lists_tournaments() {
        Arc::make_mut(&mut policy).tournament.settings.enabled = false;
    }
    policy
}

struct Manager {
    lobby: Lobby,
    context: Arc<AccountContext>,
    reception: Reception,
    games: HashMap<GameId, GameHandle>,
    /// The last [`MOST_OVER`] finished games: a late event must not open them again.
    over: VecDeque<GameId>,
    draining: bool,
    stream_losses: StreamLosses,
    /// True if the server may seek games for the bot, by the last request.
    seeks: bool,
    /// Unfinished games of earlier processes, to be looked up after the connection.
    unfinished: Vec<KnownGame>,
    /// Start of the time without a connection.
    lost_at: Option<Instant>,
    /// Updates of the lists of names, if there are any.
    lists: Option<watch::Receiver<NameLists>>,
    /// Ordered challenges on their way to the server; the operator waits for the answer.
    open_orders: Vec<(ChallengeRequest, ControlAnswer)>,
    exits_sender: mpsc::UnboundedSender<Exit>,
    answers_sender: mpsc::UnboundedSender<LobbyInput>,
    /// Games of earlier processes with a known end.
    past_games_sender: mpsc::UnboundedSender<(GameId, LookUpOutcome)>,
}

struct Inboxes {
    events: mpsc::Receiver<ServerEvent>,
    exits: mpsc::UnboundedReceiver<Exit>,
    answers: mpsc::UnboundedReceiver<LobbyInput>,
    past_games: mpsc::UnboundedReceiver<(GameId, LookUpOutcome)>,
    commands: mpsc::UnboundedReceiver<AccountRequest>,
}

struct GameHandle {
    inbox: mpsc::Sender<GameInput>,
    /// Requests the whole state when the queue has space; `None` before the first full queue.
    catching_up: Option<JoinHandle<()>>,
}

impl GameHandle {
    fn tell(&mut self, id: &GameId, input: GameInput, server: &Arc<dyn Server>, requests: &TaskTracker) {
        let Err(TrySendError::Full(input)) = self.inbox.try_send(input) else { return };
        // The task is busy, most likely with a hanging disk. Chat is lost. The whole state has all
        // else; it is requested as soon as the queue has space.
        let has_asked = self.catching_up.as_ref().is_some_and(|asking| !asking.is_finished());
        if has_asked || matches!(input, GameInput::Chat(..)) {
            return;
        }
        let (server, inbox, id) = (Arc::clone(server), self.inbox.clone(), id.clone());
        self.catching_up = Some(requests.spawn(async move {
            if inbox.reserve().await.is_ok() {
                server.resync(&id).await;
            }
        }));
    }
}

/// Adds a finished game, unless it is known, and drops the oldest one beyond [`MOST_OVER`].
fn remember_over(over: &mut VecDeque<GameId>, id: GameId) {
    if !over.contains(&id) {
        over.push_back(id);
        if over.len() > MOST_OVER {
            over.pop_front();
        }
    }
}

impl Manager {
    async fn serve(&mut self, inboxes: &mut Inboxes, shutdown: &Shutdown) -> AccountEnd {
        let mut next_look = None;
        loop {
            if self.draining && self.lobby.is_idle() && inboxes.events.is_empty() {
                return AccountEnd::Closed;
            }
            let look_at = *next_look.get_or_insert_with(|| {
                self.follow_hours();
                tokio::time::Instant::now() + self.next_wakeup()
            });
            tokio::select! {
                biased;
                () = shutdown.now.cancelled() => {
                    for effect in self.lobby.leave(&self.now()) {
                        self.carry_out(effect);
                    }
                    self.leave_games().await;
                    return AccountEnd::Closed;
                }
                () = shutdown.drain.cancelled(), if !self.draining => {
                    self.draining = true;
                    self.tell_lobby(LobbyInput::Drain);
                    self.mode_changed(AccountMode::Draining);
                }
                event = inboxes.events.recv() => {
                    let (reason, end): (String, fn(String) -> AccountEnd) = match event {
                        // A move does not concern the lobby, and waits for nothing.
                        Some(ServerEvent::GameState(id, state)) => {
                            self.tell_game(&id, GameInput::State(state));
                            continue;
                        }
                        Some(ServerEvent::Rejected { reason }) => (reason, AccountEnd::Rejected),
                        Some(event) => {
                            self.event(event);
                            next_look = None;
                            continue;
                        }
                        None if self.draining => return AccountEnd::Closed,
                        // The connection ended by itself.
                        None => ("its connection is lost, a defect of this program".to_owned(), AccountEnd::Lost),
                    };
                    self.context.tell(AccountEvent::Rejected { reason: reason.clone() });
                    return end(reason);
                }
                Some(exit) = inboxes.exits.recv() => self.game_exited(exit),
                Some((id, outcome)) = inboxes.past_games.recv() => self.past_game_ended(id, outcome),
                Some(answer) = inboxes.answers.recv() => {
                    self.challenge_answered(&answer);
                    self.tell_lobby(answer);
                }
                Some(request) = inboxes.commands.recv() => self.obey(request),
                newer = newer(&mut self.lists) => self.tell_lobby(LobbyInput::Lists(newer)),
                () = sleep_until(look_at) => self.tell_lobby(LobbyInput::Tick),
            }
            next_look = None;
        }
    }

    /// Goes on after a panic: the current input is lost, so the whole state of every game is requested, also of games with an ended task.
    async fn recover(&mut self) {
        self.lobby.answers_lost();
        let games: Vec<GameId> = self.games.keys().cloned().collect();
        self.games.retain(|_, game| !game.inbox.is_closed());
        for id in games {
            self.context.server.resync(&id).await;
        }
    }

    fn event(&mut self, event: ServerEvent) {
        match event {
            ServerEvent::Game(info, state) => {
                let id = info.id.clone();
                if self.over.contains(&id) {
                    return;
                }
                if !self.games.contains_key(&id) {
                    self.tell_lobby(LobbyInput::GameStarted(id.clone()));
                }
                if !self.context.runtime.policy.variants.contains(&info.terms.variant)
                    && info.terms.variant != Variant::Standard
                {
                    return self.leave_politely(id, info.terms.variant);
                }
                self.tell_lobby(LobbyInput::Known(info.clone()));
                self.tell_game(&id, GameInput::Full(info, state));
            }
            ServerEvent::GameState(id, state) => self.tell_game(&id, GameInput::State(state)),
            ServerEvent::Chat(id, line) => {
                if let Some(said) = self.ordered_in_chat(&line.username, &line.text) {
                    self.context.perform(&id, Action::Chat(id.clone(), line.room, said));
                }
                self.tell_game(&id, GameInput::Chat(line, self.lobby.queue()));
            }
            ServerEvent::OpponentGone { id, gone, claim_after } => {
                self.context.tell_of_game(&id, GameEvent::OpponentGone { gone, claim_after });
                self.tell_game(&id, GameInput::OpponentGone(gone, claim_after));
            }
            ServerEvent::GameStarted(id) => {
                if !self.over.contains(&id) {
                    self.tell_lobby(LobbyInput::GameStarted(id));
                }
            }
            ServerEvent::GameFinished { id, status, winner, rating_change } => {
                if let Some(change) = rating_change {
                    self.context.runtime.journal.rated(&self.context.key(&id), change);
                    // The event of the end names it; the game's own stream may show the end later.
                    match self.games.contains_key(&id) {
                        true => self.tell_game(&id, GameInput::Rated(change)),
                        false => self.context.tell_of_game(&id, GameEvent::Rated { change }),
                    }
                }
                self.finished(&id, GameInput::Finished(status, winner));
            }
            ServerEvent::GameGone(id) => self.finished(&id, GameInput::Gone),
            ServerEvent::GameUnplayable { id, reason } => self.leave_unplayable(id, &reason),
            ServerEvent::Connected(account) => self.connected(account),
            ServerEvent::Disconnected { reason } => self.disconnected(reason),
            ServerEvent::Challenge(challenge) => {
                self.context.runtime.journal.challenge(&self.context.name, &challenge);
                self.tell_lobby(LobbyInput::Challenge(challenge));
            }
            ServerEvent::ChallengeCancelled(id) => self.tell_lobby(LobbyInput::Cancelled(id)),
            ServerEvent::ChallengeDeclined { id, by, reason } => {
                let opponent = by.map(|player| player.to_string()).or_else(|| self.lobby.opponent_of(&id));
                self.context.tell(AccountEvent::Declined { challenge: id.clone(), opponent, reason });
                self.tell_lobby(LobbyInput::Declined(id, reason));
            }
            ServerEvent::Learned(learned) => self.store(learned_key(&self.context.name), learned),
            ServerEvent::Fault { game, what } => self.context.fault(game.as_ref(), what),
            ServerEvent::Tell { from, text } => {
                self.context.tell(AccountEvent::Tell { from: from.clone(), text: text.clone() });
                if let Some(text) = self.ordered_in_chat(&from.name, &text) {
                    self.carry_out(LobbyEffect::Do(Action::Tell { to: from.name.clone(), text }));
                }
                for action in self.reception.answer(&from, text, self.lobby.queue()) {
                    self.carry_out(LobbyEffect::Do(action));
                }
            }
            ServerEvent::Rejected { .. } => (),
        }
    }

    fn connected(&mut self, account: Account) {
        let now = Instant::now();
        self.stream_losses.opened(now);
        let away = self.lost_at.take().map(|since| now.saturating_duration_since(since));
        self.reception.called(&account.player.name);
        self.context.tell(AccountEvent::Connected { account: account.clone(), away });
        self.tell_lobby(LobbyInput::Connected(account));
        game_end::complete_record(&self.context, std::mem::take(&mut self.unfinished), &self.past_games_sender);
    }

    /// Records the end of a game of an earlier process, unless this process plays it again or has seen its end.
    fn past_game_ended(&mut self, id: GameId, outcome: LookUpOutcome) {
        if !self.games.contains_key(&id) && !self.over.contains(&id) {
            self.request(|context, _| async move { game_end::record_past(&context, &id, outcome).await });
        }
    }

    fn disconnected(&mut self, reason: String) {
        let now = Instant::now();
        self.lost_at.get_or_insert(now);
        self.context.tell(AccountEvent::Disconnected { reason });
        if let Some(suspicion) = self.stream_losses.lost(now) {
            self.context.fault(None, suspicion);
        }
    }

    fn tell_game(&mut self, id: &GameId, input: GameInput) {
        if let Some(game) = self.games.get_mut(id) {
            game.tell(id, input, &self.context.server, &self.context.requests);
        }
    }

    fn finished(&mut self, id: &GameId, input: GameInput) {
        if self.games.contains_key(id) {
            self.tell_game(id, input);
        } else {
            self.tell_lobby(LobbyInput::GameEnded(id.clone(), None));
        }
    }

    fn game_exited(&mut self, exit: Exit) {
        match exit {
            Exit::Over(id, result) => {
                self.games.remove(&id);
                metrics::games_running(&self.context.name, self.games.len());
                remember_over(&mut self.over, id.clone());
                self.tell_lobby(LobbyInput::GameEnded(id, result));
            }
            // The game goes on at the server: its whole state, requested after a moment, starts a new task.
            Exit::Panicked(id) => {
                self.context.fault(Some(&id), "the task of the game panicked; restarting it".to_owned());
                self.games.remove(&id);
                let server = Arc::clone(&self.context.server);
                tokio::spawn(async move {
                    sleep(AFTER_PANIC).await;
                    server.resync(&id).await;
                });
            }
        }
    }

    /// Returns the time in the zone of the settings.
    fn now(&self) -> Zoned {
        Timestamp::now().to_zoned(self.context.runtime.policy.time_zone.clone())
    }

    /// Requests seeks at the start of the hours for challenges, and none at their end: answers would be declined.
    fn follow_hours(&mut self) {
        let wanted = HoursOfDay::any_contains(&self.context.runtime.policy.challenge.hours, self.now().time());
        if std::mem::replace(&mut self.seeks, wanted) != wanted {
            self.request(|context, _| async move { context.server.seek_games(wanted).await });
        }
    }

    /// Returns the time until the lobby must run again, if nothing happens before.
    fn next_wakeup(&mut self) -> Duration {
        let now = self.now();
        let until = self.lobby.next_wakeup(&now).map_or(LONGEST_PAUSE, |at| {
            Duration::try_from(at.duration_since(now.timestamp())).unwrap_or(Duration::ZERO)
        });
        until.clamp(Duration::from_millis(10), LONGEST_PAUSE)
    }

    fn tell_lobby(&mut self, input: LobbyInput) {
        for effect in self.lobby.handle(&self.now(), input) {
            self.carry_out(effect);
        }
    }
}

#[cfg(test)]
pub(super) mod tests;
