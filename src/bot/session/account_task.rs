//! The manager of one account: hands the server's events to the lobby and to the games, and carries out what the lobby
//! asks for. It never waits for the network, so a slow answer in one place stops nothing elsewhere.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
    time::Duration,
};

use jiff::{Timestamp, Zoned, tz::TimeZone};
use tokio::{
    sync::{mpsc, watch},
    time::{sleep, timeout},
};
use tokio_util::task::TaskTracker;

use super::{
    BotEvent, Connection, Runtime, ShutdownGames,
    chat::Reception,
    game_task::{self, Exit, Shared},
    lobby::{Effect, Input, Lobby, Memory, Outcome, Rules},
    machine,
};
use crate::{journal::ChallengeOutcome, policy::NameLists};
use chess::{
    Action, ActionError, ChallengeRequest, Color, Done, GameId, GameStatus, ServerEvent, ServerName, Shutdown,
};
use council::player::SharedLag;
use server::Server;

/// How long the last requests and notes may take when we stop.
const LAST_REQUESTS: Duration = Duration::from_secs(3);

/// How long a game whose task panicked rests before it is taken up again.
const AFTER_PANIC: Duration = Duration::from_millis(500);
/// How long a player who is busy when we want to challenge is left alone.
const BUSY: Duration = Duration::from_mins(5);
/// The longest time without a look at the lobby.
const LONGEST_NAP: Duration = Duration::from_secs(60);

/// Why an account is not played any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccountEnd {
    /// We were told to stop.
    Closed,
    /// The server will not have us.
    Rejected(String),
}

/// Plays on an account until told to stop, or until the server will not have us.
pub async fn play(connection: Connection, runtime: Runtime, shutdown: Shutdown) -> AccountEnd {
    let Connection { name, server, mut events } = connection;
    let memory = remembered(&runtime, &name).await;
    let policy = &runtime.policy;
    let rules = Rules {
        challenge: policy.challenge.clone(),
        matchmaking: policy.matchmaking.clone(),
        lists: policy.lists.clone(),
        avoid: policy.avoid.clone(),
        variants: policy.variants.clone(),
        keep_limits: policy.keep_limits,
    };
    let (exits_sender, mut exits) = mpsc::unbounded_channel();
    let (answers_sender, mut answers) = mpsc::unbounded_channel();
    let shared = Shared {
        name: name.clone(),
        server,
        pool: runtime.pool.clone(),
        lag: SharedLag::default(),
        event_bus: runtime.event_bus.clone(),
        journal: runtime.journal.clone(),
        player: Arc::clone(&runtime.player),
        chat: policy.chat.clone(),
        requests: TaskTracker::new(),
    };
    let mut manager = Manager {
        lobby: Lobby::new(rules, memory, Timestamp::now(), rand::random()),
        shared,
        reception: Reception::new(policy.chat.clone(), &policy.variants),
        games_at_shutdown: policy.games_at_shutdown,
        time_zone: policy.time_zone.clone(),
        games: HashMap::new(),
        over: HashSet::new(),
        exits_sender,
        answers_sender,
    };
    let mut lists = policy.newer_lists.clone();
    let mut closing_politely = false;
    loop {
        if closing_politely && manager.lobby.games() == 0 {
            break;
        }
        let nap = manager.nap();
        tokio::select! {
            biased;
            () = shutdown.now.cancelled() => {
                manager.take_leave().await;
                break;
            }
            () = shutdown.drain.cancelled(), if !closing_politely => {
                closing_politely = true;
                manager.tell_lobby(Input::Close);
            }
            event = events.recv() => match event {
                Some(ServerEvent::Rejected { reason }) => return AccountEnd::Rejected(reason),
                Some(event) => manager.event(event),
                None => break,
            },
            Some(exit) = exits.recv() => manager.game_exited(exit),
            Some(answer) = answers.recv() => manager.tell_lobby(answer),
            newer = newer(&mut lists) => manager.tell_lobby(Input::Lists(newer)),
            () = sleep(nap) => manager.tell_lobby(Input::Tick),
        }
    }
    // What was declined or said last is still on its way.
    manager.shared.requests.close();
    if timeout(LAST_REQUESTS, manager.shared.requests.wait()).await.is_err() {
        tracing::warn!(server = %manager.shared.name, "stopped before the server had answered everything");
    }
    let _ = runtime.journal.flush().await;
    AccountEnd::Closed
}

/// The next lists of names; never, where nobody follows them (any more).
async fn newer(lists: &mut Option<watch::Receiver<NameLists>>) -> NameLists {
    if let Some(receiver) = lists
        && receiver.changed().await.is_ok()
    {
        return receiver.borrow_and_update().clone();
    }
    *lists = None;
    std::future::pending().await
}

/// What the journal kept of earlier processes.
async fn remembered(runtime: &Runtime, name: &ServerName) -> Memory {
    match runtime.journal.state(&memory_key(name)).await {
        Ok(Some(text)) => serde_json::from_str(&text).unwrap_or_else(|error| {
            tracing::warn!(%error, "the memory of limits is unreadable and begins anew");
            Memory::default()
        }),
        Ok(None) => Memory::default(),
        Err(error) => {
            tracing::warn!(%error, "the memory of limits cannot be read");
            Memory::default()
        }
    }
}

fn memory_key(name: &ServerName) -> String {
    format!("lobby/{name}")
}

struct Manager {
    lobby: Lobby,
    shared: Shared,
    /// Answers those who speak to us outside a game.
    reception: Reception,
    games_at_shutdown: ShutdownGames,
    time_zone: TimeZone,
    games: HashMap<GameId, mpsc::UnboundedSender<machine::Input>>,
    /// Games that are over, so that a late event does not open them again.
    over: HashSet<GameId>,
    exits_sender: mpsc::UnboundedSender<Exit>,
    /// Answers to the lobby's requests.
    answers_sender: mpsc::UnboundedSender<Input>,
}

impl Manager {
    fn event(&mut self, event: ServerEvent) {
        let name = self.shared.name.clone();
        let event_bus = self.shared.event_bus.clone();
        match event {
            ServerEvent::Game(info, state) => {
                let id = info.id.clone();
                if self.over.contains(&id) {
                    return;
                }
                if !self.games.contains_key(&id) {
                    self.tell_lobby(Input::GameStarted(id.clone()));
                }
                self.tell_lobby(Input::Opponent(id.clone(), info.opponent().clone()));
                self.tell_game(&id, machine::Input::Full(info, state));
            }
            ServerEvent::GameState(id, state) => self.tell_game(&id, machine::Input::State(state)),
            ServerEvent::Chat(id, line) => {
                if let Some(game) = self.games.get(&id) {
                    let _ = game.send(machine::Input::Chat(line));
                }
            }
            ServerEvent::OpponentGone { id, gone, claim_after } => {
                self.tell_game(&id, machine::Input::OpponentGone(gone, claim_after));
            }
            ServerEvent::GameStarted(id) => {
                if !self.over.contains(&id) {
                    self.tell_lobby(Input::GameStarted(id));
                }
            }
            ServerEvent::GameFinished { id, status, winner } => self.finished(&id, status, winner),
            ServerEvent::GameGone(id) => self.finished(&id, None, None),
            ServerEvent::Connected(account) => {
                self.shared.journal.account(&name, &account);
                event_bus.tell(|| BotEvent::Connected(name, account.clone()));
                self.reception.called(&account.player.name);
                self.tell_lobby(Input::Connected(account));
            }
            ServerEvent::Disconnected { reason } => {
                self.shared.journal.fault(&name, None, &reason);
                event_bus.tell(|| BotEvent::Disconnected(name, reason));
            }
            ServerEvent::Challenge(challenge) => {
                self.shared.journal.challenge(&name, &challenge);
                self.tell_lobby(Input::Challenge(challenge));
            }
            ServerEvent::ChallengeCancelled(id) => self.tell_lobby(Input::Cancelled(id)),
            ServerEvent::ChallengeDeclined { id, reason, .. } => self.tell_lobby(Input::Declined(id, reason)),
            ServerEvent::Fault { game, what } => {
                tracing::info!(server = %name, ?game, what, "a fault");
                self.shared.journal.fault(&name, game.as_ref(), &what);
                event_bus.tell(|| BotEvent::Fault(game, what));
            }
            ServerEvent::Tell { from, text } => {
                for action in self.reception.answer(&from, text, self.lobby.queue()) {
                    self.carry_out(Effect::Do(action));
                }
            }
            ServerEvent::Rejected { .. } => (),
        }
    }

    fn tell_game(&mut self, id: &GameId, input: machine::Input) {
        if let Some(game) = self.games.get(id) {
            let _ = game.send(input);
        }
    }

    fn finished(&mut self, id: &GameId, status: Option<GameStatus>, winner: Option<Color>) {
        if self.games.contains_key(id) {
            self.tell_game(id, machine::Input::Finished(status, winner));
        } else {
            self.tell_lobby(Input::GameEnded(id.clone()));
        }
    }

    fn game_exited(&mut self, exit: Exit) {
        match exit {
            Exit::Over(id) => self.game_ended(id),
            // The game goes on at the server: its whole state, asked for after a breath, makes a new task.
            Exit::Panicked(id) => {
                tracing::error!(game = %id, "the task of a game panicked; it begins anew");
                self.shared.journal.fault(&self.shared.name, Some(&id), "the task of the game panicked");
                self.games.remove(&id);
                let server = Arc::clone(&self.shared.server);
                tokio::spawn(async move {
                    sleep(AFTER_PANIC).await;
                    server.resync(&id).await;
                });
            }
        }
    }

    fn game_ended(&mut self, id: GameId) {
        self.games.remove(&id);
        self.over.insert(id.clone());
        self.tell_lobby(Input::GameEnded(id));
    }

    /// The time, in the zone in which hours of the day are meant.
    fn now(&self) -> Zoned {
        Timestamp::now().to_zoned(self.time_zone.clone())
    }

    fn nap(&mut self) -> Duration {
        let now = self.now();
        let until = self
            .lobby
            .wake_at(&now)
            .map_or(LONGEST_NAP, |at| Duration::try_from(at.duration_since(now.timestamp())).unwrap_or(Duration::ZERO));
        until.clamp(Duration::from_millis(10), LONGEST_NAP)
    }

    fn tell_lobby(&mut self, input: Input) {
        for effect in self.lobby.handle(&self.now(), input) {
            self.carry_out(effect);
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Play(id) => {
                let (shared, exits) = (self.shared.clone(), self.exits_sender.clone());
                self.games.entry(id.clone()).or_insert_with(|| game_task::start(id, shared, exits));
            }
            Effect::Do(action) => {
                let (server, answers) = (Arc::clone(&self.shared.server), self.answers_sender.clone());
                self.shared.requests.spawn(async move { ask(&*server, action, &answers).await });
            }
            Effect::Watch(id) => {
                let server = Arc::clone(&self.shared.server);
                self.shared.requests.spawn(async move { server.resync(&id).await });
            }
            Effect::Look => {
                let (server, answers) = (Arc::clone(&self.shared.server), self.answers_sender.clone());
                self.shared.requests.spawn(async move {
                    let bots = server.online_bots().await.unwrap_or_else(|error| {
                        tracing::warn!(%error, "the bots online are not known");
                        Vec::new()
                    });
                    let _ = answers.send(Input::Bots(bots));
                });
            }
            Effect::Record(challenge, outcome, why) => {
                let word = match outcome {
                    Outcome::Accepted => ChallengeOutcome::Accepted,
                    Outcome::Queued => ChallengeOutcome::Queued,
                    Outcome::Declined => ChallengeOutcome::Declined,
                    Outcome::Cancelled => ChallengeOutcome::Cancelled,
                };
                self.shared.journal.challenge_decided(&self.shared.name, &challenge, word, &why);
                tracing::info!(challenge = %challenge.id, outcome = word.word(), why, "a challenge");
                let name = self.shared.name.clone();
                self.shared.event_bus.tell(|| BotEvent::Challenge(name, challenge, format!("{}, {why}", word.word())));
            }
            Effect::Save => {
                let (journal, key) = (self.shared.journal.clone(), memory_key(&self.shared.name));
                match serde_json::to_string(self.lobby.memory()) {
                    Ok(text) => {
                        self.shared.requests.spawn(async move {
                            if let Err(error) = journal.set_state(&key, text).await {
                                tracing::warn!(%error, "the memory of limits is not kept");
                            }
                        });
                    }
                    Err(error) => tracing::error!(%error, "the memory of limits cannot be written"),
                }
            }
        }
    }

    /// Stops at once; what becomes of the games is as configured.
    async fn take_leave(&mut self) {
        let games: Vec<GameId> = self.games.drain().map(|(id, _)| id).collect();
        if self.games_at_shutdown == ShutdownGames::Resign {
            for id in games {
                if self.shared.server.perform(Action::Abort(id.clone())).await.is_err() {
                    let _ = self.shared.server.perform(Action::Resign(id)).await;
                }
            }
        }
    }
}

/// Does what the lobby wants done and brings it the answer where it waits for one.
async fn ask(server: &dyn Server, action: Action, answers: &mpsc::UnboundedSender<Input>) {
    let outcome = match &action {
        Action::Challenge(request) if is_busy(server, &request.opponent).await => Err(busy()),
        action => server.perform(action.clone()).await,
    };
    if let Err(error) = &outcome {
        tracing::info!(?action, %error, "not taken");
    }
    let answer = match action {
        Action::Accept(id) => Input::Accepted(id, outcome.map(drop)),
        Action::Challenge(request) => challenged(request, outcome),
        _ => return,
    };
    let _ = answers.send(answer);
}

/// Whether a challenge would only wait, because whom we are about to challenge is playing or has left. A server that does not
/// say is asked by the challenge itself.
async fn is_busy(server: &dyn Server, opponent: &str) -> bool {
    matches!(server.players_available(&[opponent.to_owned()]).await.as_deref(), Ok([false]))
}

/// What we make of a busy opponent, as if the server had said it.
fn busy() -> ActionError {
    let detail = "is playing or has left".to_owned();
    ActionError::Limited { retry_after: Some(BUSY), key: None, opponent: true, detail }
}

fn challenged(request: ChallengeRequest, outcome: Result<Done, ActionError>) -> Input {
    let outcome = match outcome {
        Ok(Done::Challenged(id)) => Ok(id),
        Ok(Done::Taken) => Err(ActionError::Refused("the server did not name the challenge".to_owned())),
        Err(error) => Err(error),
    };
    Input::Challenged(request, outcome)
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess::{Account, GameTerms, TimeControl, Variant};

    /// A server on which everybody plays already.
    struct Busy;

    #[async_trait::async_trait]
    impl Server for Busy {
        async fn perform(&self, action: Action) -> Result<Done, ActionError> {
            panic!("{action:?} is of no use here");
        }

        async fn resync(&self, _: &GameId) {}

        async fn online_bots(&self) -> Result<Vec<Account>, ActionError> {
            Ok(Vec::new())
        }

        async fn players_available(&self, ids: &[String]) -> Result<Vec<bool>, ActionError> {
            Ok(vec![false; ids.len()])
        }

        async fn running_games(&self) -> Result<Vec<GameId>, ActionError> {
            Ok(Vec::new())
        }
    }

    #[tokio::test]
    async fn whoever_is_playing_is_not_challenged() {
        let time_control = TimeControl::real_time(Duration::from_secs(180), Duration::from_secs(2));
        let terms = GameTerms { variant: Variant::Standard, time_control, rated: true };
        let request = ChallengeRequest { opponent: "ann".to_owned(), terms, our_color: None, initial_fen: None };
        let (answers, mut inbox) = mpsc::unbounded_channel();
        ask(&Busy, Action::Challenge(request.clone()), &answers).await;
        match inbox.recv().await {
            Some(Input::Challenged(asked, Err(ActionError::Limited { opponent: true, retry_after: Some(_), .. }))) => {
                assert_eq!(asked, request);
            }
            other => panic!("{other:?}"),
        }
    }
}
