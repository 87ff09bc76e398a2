//! What can be set about a practice server.

use std::time::Duration;

use super::{faults::FaultPlan, fics::FicsFace, game::Patience, hub::Limits};

/// How a practice server behaves. The defaults are as Lichess does it, except that nothing is limited and any speed may be played.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How often an empty line is sent on a stream that is silent otherwise.
    pub keep_alive: Duration,
    /// How long the server waits for players who are gone or do nothing.
    pub patience: Patience,
    /// How much each account may ask for; `None` is as much as it likes.
    pub limits: Option<Limits>,
    /// Whether challenges obey Lichess's form: whole seconds, certain initial times, nothing too fast for bots.
    pub strict_terms: bool,
    /// How long a claim of victory takes to be answered (Lichess reads the game again for it).
    pub claim_latency: Duration,
    /// How many finished games are remembered.
    pub keep_finished: usize,
    /// Makes colours, names of games and faults come out the same again. `None` draws a seed.
    pub seed: Option<u64>,
    /// The server's FICS face, if it has one.
    pub fics: Option<FicsFace>,
    /// What goes wrong, and how often.
    pub faults: FaultPlan,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            keep_alive: Duration::from_secs(7),
            patience: Patience::default(),
            limits: None,
            strict_terms: false,
            claim_latency: Duration::from_millis(500),
            keep_finished: 1000,
            seed: None,
            fics: None,
            faults: FaultPlan::default(),
        }
    }
}
