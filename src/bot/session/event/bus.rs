use std::sync::Arc;

use tokio::sync::broadcast;

use super::{BotEvent, GameEvent};

/// Capacity of the channel; a slower watcher misses events.
const BACKLOG: usize = 4096;

const BACKLOG_WITHOUT_MOVES: usize = 256;

/// Sends events to listeners. Cheap to clone.
///
/// A daemon always has listeners to connections and games. Events of moves are many and cost each move some microseconds,
/// so there are two channels.
#[derive(Clone, Debug)]
pub struct EventBus {
    all: broadcast::Sender<Arc<BotEvent>>,
    without_moves: broadcast::Sender<Arc<BotEvent>>,
}

impl EventBus {
    pub fn new() -> Self {
        Self { all: broadcast::Sender::new(BACKLOG), without_moves: broadcast::Sender::new(BACKLOG_WITHOUT_MOVES) }
    }

    pub fn listen(&self) -> broadcast::Receiver<Arc<BotEvent>> {
        self.all.subscribe()
    }

    /// Listens from now on to everything but positions, proposals, decisions and their sending.
    pub fn listen_without_moves(&self) -> broadcast::Receiver<Arc<BotEvent>> {
        self.without_moves.subscribe()
    }

    /// Sends an event of a move; `event` is called only if there is a listener.
    pub fn tell_of_move(&self, event: impl FnOnce() -> BotEvent) {
        if self.all.receiver_count() > 0 {
            let _ = self.all.send(Arc::new(event()));
        }
    }

    pub fn tell(&self, event: BotEvent) {
        let comes_with_moves = matches!(
            &event,
            BotEvent::Game(
                _,
                GameEvent::Position { .. }
                    | GameEvent::Proposal(_)
                    | GameEvent::Decided { .. }
                    | GameEvent::Sent { .. }
            )
        );
        if comes_with_moves {
            return self.tell_of_move(|| event);
        }
        let event = Arc::new(event);
        // An error is a lack of listeners.
        let _ = self.without_moves.send(Arc::clone(&event));
        let _ = self.all.send(event);
    }
}

impl Default for EventBus {
    fn default() -> Self {
        Self::new()
    }
}
