//! Data and services of the page from the program that it shows.

use std::{fmt, sync::Arc};

use axum::Router;
use serde::Serialize;
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
    /// The games that were played; those in the page are added to it.
    pub journal: Journal,
    pub pool: Pool,
    /// Default player of games in the page; new games follow the newest.
    pub player: watch::Receiver<PlayerSettings>,
    /// Through what the bot is told what to do; `None` where there is nothing to be told.
    pub control: Option<Control>,
    pub health: HealthChecks,
    /// Starts another game of the demo, and returns whether one begins; `None` outside the demo.
    pub another_game: Option<AnotherGame>,
    /// Tabs from other packages.
    pub parts: Vec<PagePart>,
    /// Addresses of those tabs, below `/api/`.
    pub routes: Router,
}

/// Asks the demo for another game.
pub type AnotherGame = Arc<dyn Fn() -> bool + Send + Sync>;

/// Facts about the program for the browser.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct ProgramKind {
    /// True if a daemon runs: without one the page shows a journal and nothing live.
    pub daemon: bool,
    /// True for the demo, which plays another game on request.
    pub demo: bool,
}

#[derive(Clone)]
pub struct HealthChecks {
    /// The measurements, in Prometheus' text format; `None` where nothing is measured.
    pub metrics: Option<Arc<dyn Fn() -> String + Send + Sync>>,
    /// Returns the condition that the program waits for, in a sentence, unless it is ready.
    pub ready: Arc<dyn Fn() -> Result<(), String> + Send + Sync>,
}

impl Default for HealthChecks {
    /// Returns checks without measurements, for a program that is ready once it runs.
    fn default() -> Self {
        Self { metrics: None, ready: Arc::new(|| Ok(())) }
    }
}

impl fmt::Debug for HealthChecks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HealthChecks").field("measures", &self.metrics.is_some()).finish_non_exhaustive()
    }
}
