use std::sync::Arc;

use axum::Router;
use tokio::sync::watch;

use crate::PagePart;
use bot::{
    journal::Journal,
    session::{Control, EventBus, PlayerSettings},
};
use council::electors::Pool;

/// The running program, as the page sees it. Cheap to clone.
#[derive(Clone)]
pub struct WebContext {
    pub event_bus: EventBus,
    /// The played games; games on the page are added.
    pub journal: Journal,
    pub pool: Pool,
    /// Default player of games in the page; new games follow the newest.
    pub player: watch::Receiver<PlayerSettings>,
    /// The control of the bot; `None` without a bot.
    pub control: Option<Control>,
    pub health: HealthChecks,
    /// Starts another game of the demo; returns true if one begins. `None` outside the demo.
    pub another_game: Option<AnotherGame>,
    /// Tabs from other packages.
    pub parts: Vec<PagePart>,
    /// Addresses of those tabs, below `/api/`.
    pub routes: Router,
}

pub type AnotherGame = Arc<dyn Fn() -> bool + Send + Sync>;

#[derive(Clone)]
pub struct HealthChecks {
    /// The measurements, in Prometheus' text format; `None` without measurements.
    pub metrics: Option<Arc<dyn Fn() -> String + Send + Sync>>,
    /// Returns an error with the missing condition until the program is ready.
    pub ready: Arc<dyn Fn() -> Result<(), String> + Send + Sync>,
}

impl Default for HealthChecks {
    /// Returns checks without measurements, for a program ready from its start.
    fn default() -> Self {
        Self { metrics: None, ready: Arc::new(|| Ok(())) }
    }
}
