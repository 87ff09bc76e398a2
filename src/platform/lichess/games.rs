//! The streams of our games: one task a game.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use tokio::{sync::mpsc, task::JoinSet};

use super::{
    game_stream::{GameSignals, GameStream},
    http::Http,
};
use domain::{GameId, ServerEvent};
use util::supervised;

#[derive(Clone, Debug)]
pub(super) struct GameStreams {
    /// Bounded by the games and by what their tasks ask: the actor never waits.
    commands: mpsc::UnboundedSender<Watching>,
    followed: Arc<AtomicUsize>,
}

/// News for the streams' actor about a game.
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
        let (games, tasks) = (HashMap::new(), JoinSet::new());
        (streams, GameStreamsActor { inbox, http, events, games, tasks, followed })
    }

    pub(super) fn followed(&self) -> usize {
        self.followed.load(Ordering::Relaxed)
    }

    /// Follows a game, unless it is followed already.
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
    tasks: JoinSet<GameId>,
    followed: Arc<AtomicUsize>,
}

impl GameStreamsActor {
    pub(super) async fn run(&mut self) {
        loop {
            self.followed.store(self.games.len(), Ordering::Relaxed);
            tokio::select! {
                biased;
                // A task that panics is started again by its supervisor, with the same signals; only those that are over end.
                Some(Ok(id)) = self.tasks.join_next() => { self.games.remove(&id); }
                command = self.inbox.recv() => match command {
                    Some(Watching::Watch(id)) => self.watch(id),
                    Some(Watching::Reopen(id)) => match self.games.get(&id) {
                        Some(game) => game.reopen.notify_one(),
                        None => self.watch(id),
                    },
                    Some(Watching::Finished(id)) => {
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
            supervised!("game stream", stream().follow()).await;
            id
        });
    }
}
