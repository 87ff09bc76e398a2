//! Where events are told to whoever listens.

use std::sync::Arc;

use tokio::sync::broadcast;

use super::BotEvent;

/// How many events a watcher may fall behind before it misses some.
const BACKLOG: usize = 4096;

/// Tells events to whoever listens. Cheap to clone.
#[derive(Clone, Debug)]
pub struct EventBus(broadcast::Sender<Arc<BotEvent>>);

impl EventBus {
    /// A bus that nobody listens to yet.
    pub fn new() -> Self {
        Self(broadcast::Sender::new(BACKLOG))
    }

    /// Listens from now on.
    pub fn listen(&self) -> broadcast::Receiver<Arc<BotEvent>> {
        self.0.subscribe()
    }

    /// Tells what happened, which is made up only if somebody listens.
    pub fn tell(&self, event: impl FnOnce() -> BotEvent) {
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
