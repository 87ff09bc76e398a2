//! What whoever watches may see: the terminal view, a dashboard. Watching never slows play: a watcher that falls behind
//! misses events, nothing more.

use std::{path::PathBuf, sync::Arc};

use tokio::sync::broadcast;

use chess::{Account, Challenge, Clocks, Color, Decision, GameId, GameInfo, GameStatus, Line, Proposal, ServerName};

/// Something worth showing.
#[derive(Clone, Debug)]
pub enum BotEvent {
    /// A server knows us.
    Connected(ServerName, Account),
    /// The connection was lost; it is being mended.
    Disconnected(ServerName, String),
    /// A challenge was decided upon, and how (in words).
    Challenge(ServerName, Box<Challenge>, String),
    /// A game runs.
    GameStarted(ServerName, Box<GameInfo>),
    /// A position stands on the board.
    Position {
        /// In which game.
        game: GameId,
        /// The position, as its line.
        line: Arc<Line>,
        /// Both clocks as the server told them with it.
        clocks: Option<Clocks>,
    },
    /// An elector proposes.
    Proposal(GameId, Proposal),
    /// A move was elected.
    Decided(GameId, Arc<Decision>),
    /// Something went wrong and is being coped with.
    Fault(Option<GameId>, String),
    /// A game is over.
    GameOver {
        /// Which one.
        game: GameId,
        /// How it ended, if the server said.
        status: Option<GameStatus>,
        /// Who won.
        winner: Option<Color>,
        /// The file it was written to.
        pgn: Option<PathBuf>,
    },
}

/// Where events are told to whoever listens. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EventBus(broadcast::Sender<Arc<BotEvent>>);

impl EventBus {
    /// A bus that nobody listens to yet.
    pub fn new() -> Self {
        Self(broadcast::Sender::new(4096))
    }

    /// Listens from now on.
    pub fn listen(&self) -> broadcast::Receiver<Arc<BotEvent>> {
        self.0.subscribe()
    }

    /// Tells what happened, which is made up only if somebody listens.
    pub(super) fn tell(&self, event: impl FnOnce() -> BotEvent) {
        if self.0.receiver_count() > 0 {
            let _ = self.0.send(Arc::new(event()));
        }
    }
}

impl Default for EventBus {
    fn default() -> Self {
        Self::new()
    }
}
