//! What can be set about a practice server.

use std::{net::SocketAddr, time::Duration};

use crate::{faults::FaultPlan, game::GamePatience};

/// How a practice server behaves. The defaults are as Lichess does it, except that nothing is limited and any speed may be played.
#[derive(Clone, Debug)]
pub struct PracticeSettings {
    /// How often an empty line is sent on a stream that is silent otherwise.
    pub keep_alive: Duration,
    /// How long the server waits for players who are gone or do nothing.
    pub patience: GamePatience,
    /// How much each account may ask for; `None` is as much as it likes.
    pub limits: Option<ServerLimits>,
    /// Whether challenges obey Lichess's form: whole seconds, certain initial times, nothing too fast for bots.
    pub strict_terms: bool,
    /// How long a claim of victory takes to be answered (Lichess reads the game again for it).
    pub claim_latency: Duration,
    /// How many finished games are remembered.
    pub keep_finished: usize,
    /// Makes colours, names of games and faults come out the same again. `None` draws a seed.
    pub seed: Option<u64>,
    /// Where FICS is spoken as well, if anywhere.
    pub fics: Option<FicsEndpoint>,
    /// What goes wrong, and how often.
    pub faults: FaultPlan,
}

impl Default for PracticeSettings {
    fn default() -> Self {
        Self {
            keep_alive: Duration::from_secs(7),
            patience: GamePatience::default(),
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

/// The limits the server keeps; [`ServerLimits::default`] are Lichess's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerLimits {
    /// Games a bot may start against other bots in 24 hours.
    pub games_against_bots_per_day: u32,
    /// Challenge credits a minute; challenging a bot costs one, a human five.
    pub challenge_credits_per_minute: u32,
    /// Challenge credits a day.
    pub challenge_credits_per_day: u32,
    /// Openings of the event stream in ten minutes.
    pub event_streams_per_ten_minutes: u32,
    /// Questions for one's own account in five minutes.
    pub account_requests_per_five_minutes: u32,
    /// Entries into tournaments in ten minutes.
    pub tournament_entries_per_ten_minutes: u32,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            games_against_bots_per_day: 100,
            challenge_credits_per_minute: 25,
            challenge_credits_per_day: 200,
            event_streams_per_ten_minutes: 30,
            account_requests_per_five_minutes: 30,
            tournament_entries_per_ten_minutes: 30,
        }
    }
}

/// What can be set about the FICS side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FicsEndpoint {
    /// Where it listens; port 0 is any that is free.
    pub address: SocketAddr,
    /// So many lines a second of other people's talk reach everybody, as on a busy evening. 0: none.
    pub noise: u32,
}

impl FicsEndpoint {
    /// An address without noise.
    pub const fn at(address: SocketAddr) -> Self {
        Self { address, noise: 0 }
    }
}
