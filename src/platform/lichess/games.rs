//! The streams of our games: one task a game, but none for a game whose opponent has days to move. Of those the list of our
//! games is asked, where a single request tells in which of them we are to move.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use futures_util::FutureExt as _;
use tokio::{
    sync::mpsc,
    task::JoinSet,
    time::{Instant, sleep_until},
};

use super::{
    MOST_RUNNING_GAMES,
    game_stream::{GameSignals, GameStream},
    games_playing,
    http::Http,
};
use domain::{ActionError, GameId, ServerEvent};
use util::supervised;

#[derive(Clone, Debug)]
pub(super) struct GameStreams {
    /// Bounded by the games and by what their tasks ask: the actor never waits.
    commands: mpsc::UnboundedSender<Watching>,
    followed: Arc<AtomicUsize>,
}

#[derive(Debug)]
enum Watching {
    Watch(GameId),
    Reopen(GameId),
    Finished(GameId),
}

impl GameStreams {
    pub(super) fn new(http: Arc<Http>, events: mpsc::Sender<ServerEvent>) -> (Self, GameStreamsActor) {
        let (commands, inbox) = mpsc::unbounded_channel();
        let streams = Self { commands, followed: Arc::default() };
        let followed = Arc::clone(&streams.followed);
        let actor = GameStreamsActor {
            inbox,
            http,
            events,
            games: HashMap::new(),
            tasks: JoinSet::new(),
            parked: HashSet::new(),
            check_in: Instant::now(),
            checks: JoinSet::new(),
            followed,
        };
        (streams, actor)
    }

    /// Returns the number of games that are followed now, with a stream or without.
    pub(super) fn followed(&self) -> usize {
        self.followed.load(Ordering::Relaxed)
    }

    pub(super) fn watch(&self, id: GameId) {
        // After the shutdown nothing is followed any more.
        let _ = self.commands.send(Watching::Watch(id));
    }

    /// Opens the stream of a game anew, because its first line is the whole state.
    pub(super) fn reopen(&self, id: GameId) {
        let _ = self.commands.send(Watching::Reopen(id));
    }

    pub(super) fn finished(&self, id: GameId) {
        let _ = self.commands.send(Watching::Finished(id));
    }
}

/// Starts and forgets the games' tasks. Dropping it ends them all.
pub(super) struct GameStreamsActor {
    inbox: mpsc::UnboundedReceiver<Watching>,
    http: Arc<Http>,
    events: mpsc::Sender<ServerEvent>,
    games: HashMap<GameId, GameSignals>,
    /// The games' tasks; each gives whether its game is to be parked.
    tasks: JoinSet<(GameId, bool)>,
    /// Games without a stream, because their opponents have days to move.
    parked: HashSet<GameId>,
    /// When the list of our games is asked next, if any are parked.
    check_in: Instant,
    /// The question that is on its way, if one is.
    checks: JoinSet<Result<Vec<(GameId, bool)>, ActionError>>,
    followed: Arc<AtomicUsize>,
}

impl GameStreamsActor {
    pub(super) async fn run(&mut self) {
        loop {
            self.followed.store(self.games.len() + self.parked.len(), Ordering::Relaxed);
            tokio::select! {
                biased;
                // A task that panics is started again by its supervisor, with the same signals; only those that are over end.
                Some(Ok((id, parks))) = self.tasks.join_next() => self.ended(id, parks),
                Some(checked) = self.checks.join_next() => {
                    if let Ok(Ok(games)) = checked {
                        self.checked(&games);
                    }
                }
                () = sleep_until(self.check_in), if !self.parked.is_empty() && self.checks.is_empty() => {
                    self.check_in = Instant::now() + self.http.settings.check_in;
                    let http = Arc::clone(&self.http);
                    self.checks.spawn(async move { games_playing(&http).await });
                }
                command = self.inbox.recv() => match command {
                    // Who tells of a running game anew is back after an outage, in which the opponent may have moved.
                    Some(Watching::Watch(id)) if self.parked.contains(&id) => self.check_in = Instant::now(),
                    Some(Watching::Watch(id)) => self.watch(id),
                    Some(Watching::Reopen(id)) => match self.games.get(&id) {
                        Some(game) => game.reopen.notify_one(),
                        None => self.watch(id),
                    },
                    Some(Watching::Finished(id)) => {
                        if let Some(game) = self.games.get(&id) {
                            game.finished.cancel();
                        }
                        // The task that plays it fetches its last moves.
                        self.parked.remove(&id);
                    }
                    None => return,
                },
            }
        }
    }

    fn ended(&mut self, id: GameId, parks: bool) {
        let signals = self.games.remove(&id);
        if !parks {
            return;
        }
        // A wish that came while the stream was being closed.
        let wanted = signals.is_some_and(|signals| {
            signals.finished.is_cancelled() || signals.reopen.notified().now_or_never().is_some()
        });
        if wanted {
            return self.watch(id);
        }
        if self.parked.is_empty() {
            self.check_in = Instant::now() + self.http.settings.check_in;
        }
        self.parked.insert(id);
    }

    /// Opens the streams of parked games in which we are to move, or which are not among our running games any more.
    fn checked(&mut self, games: &[(GameId, bool)]) {
        let is_whole = games.len() < MOST_RUNNING_GAMES;
        let due: Vec<GameId> = self
            .parked
            .iter()
            .filter(|id| {
                let listed = games.iter().find(|(listed, _)| listed == *id);
                listed.map_or(is_whole, |(_, is_our_turn)| *is_our_turn)
            })
            .cloned()
            .collect();
        due.into_iter().for_each(|id| self.watch(id));
    }

    fn watch(&mut self, id: GameId) {
        self.parked.remove(&id);
        if let Some(game) = self.games.get(&id) {
            // Who tells of a running game anew is back after an outage.
            game.told_again.notify_one();
            return;
        }
        let signals = GameSignals::default();
        self.games.insert(id.clone(), signals.clone());
        let (http, events) = (Arc::clone(&self.http), self.events.clone());
        self.tasks.spawn(async move {
            let stream = || GameStream::new(id.clone(), Arc::clone(&http), events.clone(), signals.clone());
            let parks = supervised!("game stream", stream().follow()).await;
            (id, parks)
        });
    }
}
