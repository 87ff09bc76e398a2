use std::{net::SocketAddr, time::Duration};

use crate::{faults::FaultPlan, game::GamePatience};

/// Settings of a practice server. The defaults follow Lichess, except that nothing is limited and
/// any speed may be played.
#[derive(Clone, Debug)]
pub struct PracticeSettings {
    /// The interval of empty lines on a silent stream.
    pub keep_alive: Duration,
    pub patience: GamePatience,
    /// The limits of each account; `None` is unlimited.
    pub limits: Option<ServerLimits>,
    /// True if challenges must have Lichess's form: whole seconds, certain initial times, nothing
    /// too fast for bots.
    pub strict_terms: bool,
    /// The time to answer a claim of victory (Lichess reads the game again for it).
    pub claim_latency: Duration,
    pub keep_finished: usize,
    /// Makes colours, names of games and faults come out the same again. `None` draws a seed.
    pub seed: Option<u64>,
    pub fics: Option<FicsEndpoint>,
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
    pub challenge_credits_per_day: u32,
    /// Openings of the event stream in ten minutes.
    pub event_streams_per_ten_minutes: u32,
    /// Questions for one's own account in five minutes.
    pub account_requests_per_five_minutes: u32,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FicsEndpoint {
    /// The address; port 0 is any free one.
    pub address: SocketAddr,
    /// Lines a second of other people's talk. 0: none.
    pub noise: u32,
}

impl FicsEndpoint {
    pub const fn at(address: SocketAddr) -> Self {
        Self { address, noise: 0 }
    }
}
