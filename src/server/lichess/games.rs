//! The streams of our games: one task a game.

use std::{collections::HashMap, sync::Arc};

use tokio::{sync::mpsc, task::JoinSet};

use super::{
    game_stream::{GameSignals, GameStream},
    http::Http,
};
use chess::{GameId, ServerEvent};

/// The streams of all games. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct GameStreams {
    commands: mpsc::UnboundedSender<Watching>,
}

/// What the streams' actor is told of a game.
#[derive(Debug)]
enum Watching {
    Watch(GameId),
    Reopen(GameId),
    Finished(GameId),
}

impl GameStreams {
    /// The handle, and what serves it.
    pub(super) fn new(http: Arc<Http>, events: mpsc::Sender<ServerEvent>) -> (Self, GameStreamsActor) {
        let (commands, inbox) = mpsc::unbounded_channel();
        (Self { commands }, GameStreamsActor { inbox, http, events, games: HashMap::new(), tasks: JoinSet::new() })
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

    /// The server says elsewhere that a game is over.
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
}

impl GameStreamsActor {
    /// Serves the handles until there are none.
    pub(super) async fn run(mut self) {
        loop {
            tokio::select! {
                biased;
                Some(done) = self.tasks.join_next() => match done {
                    Ok(id) => { self.games.remove(&id); }
                    Err(error) => tracing::error!(%error, "the task of a game failed"),
                },
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
        let game = GameStream::new(id.clone(), Arc::clone(&self.http), self.events.clone(), signals);
        self.tasks.spawn(async move {
            game.follow().await;
            id
        });
    }
}
