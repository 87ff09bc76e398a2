//! The streams of our games: one task a game, each always open or being reopened while its game runs.
//!
//! Invariant: a stream is heard from its whole state on, which is its first line. One that begins otherwise is in disorder:
//! its whole state may be an old one by the time it comes, so the stream is opened anew instead of believed.

use std::{
    collections::HashMap,
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use tokio::{
    sync::{Notify, mpsc},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{
    MOST_RUNNING_GAMES,
    http::Http,
    running_games,
    stream::{Line, Stream},
    wire::{self, WireError},
};
use chess::{ActionError, Backoff, GameId, ServerEvent};

/// How long a stream is read on after the end of its game: the server may have more to say of it, and closes it itself.
const LINGER: Duration = Duration::from_secs(3);

/// How long a game that we were told of may be unknown to its stream and to the list of our games, before we believe it.
const BIRTH: Duration = Duration::from_secs(10);

/// The streams of all games. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Games {
    commands: mpsc::UnboundedSender<Command>,
}

#[derive(Debug)]
enum Command {
    Watch(GameId),
    Reopen(GameId),
    Finished(GameId),
}

impl Games {
    /// The handle, and what serves it.
    pub fn new(http: Arc<Http>, events: mpsc::Sender<ServerEvent>) -> (Self, GamesActor) {
        let (commands, inbox) = mpsc::unbounded_channel();
        (Self { commands }, GamesActor { inbox, http, events, games: HashMap::new(), tasks: JoinSet::new() })
    }

    /// Follows a game, unless it is followed already.
    pub fn watch(&self, id: GameId) {
        // After the shutdown nothing is followed any more.
        let _ = self.commands.send(Command::Watch(id));
    }

    /// Opens the stream of a game anew, because its first line is the whole state.
    pub fn reopen(&self, id: GameId) {
        let _ = self.commands.send(Command::Reopen(id));
    }

    /// The server says elsewhere that a game is over.
    pub fn finished(&self, id: GameId) {
        let _ = self.commands.send(Command::Finished(id));
    }
}

/// What a game's task can be told.
#[derive(Clone, Debug, Default)]
struct Signals {
    /// The event stream says that the game is over.
    finished: CancellationToken,
    /// The whole state is wanted.
    reopen: Arc<Notify>,
}

/// Starts and forgets the games' tasks. Dropping it ends them all.
pub struct GamesActor {
    inbox: mpsc::UnboundedReceiver<Command>,
    http: Arc<Http>,
    events: mpsc::Sender<ServerEvent>,
    games: HashMap<GameId, Signals>,
    tasks: JoinSet<GameId>,
}

impl GamesActor {
    /// Serves the handles until there are none.
    pub async fn run(mut self) {
        loop {
            tokio::select! {
                biased;
                Some(done) = self.tasks.join_next() => match done {
                    Ok(id) => { self.games.remove(&id); }
                    Err(error) => tracing::error!(%error, "the task of a game failed"),
                },
                command = self.inbox.recv() => match command {
                    Some(Command::Watch(id)) => self.watch(id),
                    Some(Command::Reopen(id)) => match self.games.get(&id) {
                        Some(game) => game.reopen.notify_one(),
                        None => self.watch(id),
                    },
                    Some(Command::Finished(id)) => {
                        if let Some(game) = self.games.get(&id) {
                            game.finished.cancel();
                        }
                    }
                    None => return,
                },
            }
        }
    }

    fn watch(&mut self, id: GameId) {
        if self.games.contains_key(&id) {
            return;
        }
        let signals = Signals::default();
        self.games.insert(id.clone(), signals.clone());
        let game = GameStream {
            id: id.clone(),
            http: Arc::clone(&self.http),
            events: self.events.clone(),
            signals,
            is_over: false,
            was_open: false,
            backoff: Backoff::new(Duration::from_millis(100), Duration::from_secs(2)).first_at_once(),
            since: Instant::now(),
        };
        self.tasks.spawn(async move {
            game.follow().await;
            id
        });
    }
}

/// How an open stream ended.
enum End {
    /// We want it opened anew.
    Reopen,
    /// For this reason.
    Lost(String),
}

/// Why a stream that tells of moves before it has told of the game is given up.
const DISORDER: &str = "the stream did not begin with the whole state";

/// Follows one game.
struct GameStream {
    id: GameId,
    http: Arc<Http>,
    events: mpsc::Sender<ServerEvent>,
    signals: Signals,
    /// The game's own stream said so.
    is_over: bool,
    /// Whether the stream was ever open.
    was_open: bool,
    backoff: Backoff,
    /// When we were told of the game.
    since: Instant,
}

impl GameStream {
    async fn follow(mut self) {
        loop {
            // Once the game is finished elsewhere, one more look at it gives the last moves; then it is enough.
            let last_look = self.signals.finished.is_cancelled();
            let reason = match self.open_and_read().await {
                Ok(End::Reopen) => continue,
                Ok(End::Lost(reason)) => reason,
                Err(ActionError::NotFound(_)) if self.is_gone().await => {
                    return self.tell(ServerEvent::GameGone(self.id.clone())).await;
                }
                // Nothing will change such a refusal, as of a game that is closed to bots.
                Err(error @ (ActionError::Refused(_) | ActionError::Unsupported(_))) if !self.was_open => {
                    self.fault(&format!("the game cannot be followed: {error}")).await;
                    return self.tell(ServerEvent::GameGone(self.id.clone())).await;
                }
                Err(error) => error.to_string(),
            };
            if self.is_over || last_look {
                return;
            }
            self.fault(&reason).await;
            tokio::select! {
                () = tokio::time::sleep(self.backoff.next_delay()) => {}
                () = self.signals.finished.cancelled() => {}
            }
        }
    }

    /// Tells of everything the stream brings until it ends.
    async fn open_and_read(&mut self) -> Result<End, ActionError> {
        let account = self.http.account().await?;
        // Whoever asked for the whole state until now is served by this opening.
        let _ = self.signals.reopen.notified().now_or_never();
        let mut stream = Stream::open(&self.http, &["api", "bot", "game", "stream", self.id.as_str()]).await?;
        self.was_open = true;
        let linger = tokio::time::sleep(LINGER);
        let whole_state_is_due = tokio::time::sleep(self.http.idle_timeout());
        tokio::pin!(linger, whole_state_is_due);
        let mut has_begun = false;
        let mut ends = false;
        loop {
            let line = tokio::select! {
                line = stream.next() => line,
                () = self.signals.finished.cancelled(), if !ends => {
                    ends = true;
                    linger.as_mut().reset(tokio::time::Instant::now() + LINGER);
                    continue;
                }
                () = &mut linger, if ends => {
                    self.is_over = true;
                    return Ok(End::Lost("the game is over".to_owned()));
                }
                () = self.signals.reopen.notified() => return Ok(End::Reopen),
                () = &mut whole_state_is_due, if !has_begun => return Ok(End::Lost("the whole state did not come".to_owned())),
            };
            match line {
                Ok(line) => {
                    match self.read(line, &account.player.id).await {
                        Some(ServerEvent::GameState(..)) if !has_begun => return Ok(End::Lost(DISORDER.to_owned())),
                        Some(event) => {
                            has_begun |= matches!(event, ServerEvent::Game(..));
                            self.hear(event).await;
                        }
                        None => {}
                    }
                    if self.is_over && !ends {
                        ends = true;
                        linger.as_mut().reset(tokio::time::Instant::now() + LINGER);
                    }
                }
                Err(end) => {
                    if stream.was_good() {
                        self.backoff.reset();
                    }
                    return Ok(End::Lost(end.to_string()));
                }
            }
        }
    }

    /// What a line says; of one that says nothing that we understand, the fault is told.
    async fn read(&self, Line { text, received }: Line, us: &str) -> Option<ServerEvent> {
        let event = text
            .map_err(WireError::from)
            .and_then(|text| wire::game_event(&text, &self.id, us, self.http.url(), received));
        match event {
            Ok(event) => return Some(event),
            Err(unknown @ WireError::Unknown(_)) => tracing::debug!("{}", self.http.printable(&unknown.to_string())),
            Err(error) => self.fault(&error.to_string()).await,
        }
        None
    }

    /// Passes on what a stream in good order says.
    async fn hear(&mut self, event: ServerEvent) {
        if let ServerEvent::Game(_, state) | ServerEvent::GameState(_, state) = &event {
            self.is_over = !state.status.is_running();
        }
        self.tell(event).await;
    }

    /// Whether the game, unknown to its stream, is also missing among our running ones.
    async fn is_gone(&self) -> bool {
        if !self.was_open && self.since.elapsed() < BIRTH {
            return false;
        }
        match running_games(&self.http).await {
            Ok(running) => running.len() < MOST_RUNNING_GAMES && !running.contains(&self.id),
            Err(_) => false,
        }
    }

    async fn fault(&self, what: &str) {
        self.tell(ServerEvent::Fault { game: Some(self.id.clone()), what: self.http.printable(what) }).await;
    }

    async fn tell(&self, event: ServerEvent) {
        // Nobody listens any more: this task is about to be stopped.
        let _ = self.events.send(event).await;
    }
}
