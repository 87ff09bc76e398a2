//! What the settings say about how games are played, and what becomes of them when the daemon stops.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::policy::{AbortSettings, ClaimSettings, DrawSettings, ResignSettings};
use chess::{
    Limits,
    values::{FractionalSecondsOrNone, Seconds, WholeNumber, WholeNumberOrNone},
};
use council::{
    CouncilSettings,
    clock::ClockSettings,
    player::{BookSettings, TablebaseSettings},
};
use online::OnlineSettings;

/// The `player` table: how a game is played. Every profile overrides a part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlayerSettings {
    /// Who proposes and how one is elected.
    pub council: CouncilSettings,
    /// How time is spent.
    pub clock: ClockSettings,
    /// Bounds on every search.
    pub limits: LimitSettings,
    /// The opening book.
    pub book: BookSettings,
    /// Endgame tablebases.
    pub tablebases: TablebaseSettings,
    /// Services that know moves, asked while the council searches.
    pub online: OnlineSettings,
    /// When draws are offered and accepted.
    pub draw: DrawSettings,
    /// When we resign.
    pub resign: ResignSettings,
    /// How many of the replies that we expect are thought about in the opponent's time, spread over the electors; never in
    /// correspondence games. 0 to 8.
    #[serde(with = "WholeNumber::<0, 8>")]
    pub ponder: usize,
    /// How many takebacks are granted in a game. 0 to 100.
    #[serde(with = "WholeNumber::<0, 100>")]
    pub takebacks: u32,
    /// How long we wait for an opponent who does not begin.
    pub abort: AbortSettings,
    /// What we do when the opponent has left.
    pub claim: ClaimSettings,
}

impl Default for PlayerSettings {
    fn default() -> Self {
        Self {
            council: CouncilSettings::default(),
            clock: ClockSettings::default(),
            limits: LimitSettings::default(),
            book: BookSettings::default(),
            tablebases: TablebaseSettings::default(),
            online: OnlineSettings::default(),
            draw: DrawSettings::default(),
            resign: ResignSettings::default(),
            ponder: 1,
            takebacks: 0,
            abort: AbortSettings::default(),
            claim: ClaimSettings::default(),
        }
    }
}

/// The `player.limits` table: bounds on every search, beside those of the clock. `None` is no bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Time, in seconds. 0.01 to 86400.
    #[serde(with = "FractionalSecondsOrNone::<10, 86_400_000>")]
    pub time: Option<Duration>,
    /// Nodes. 1 to 10^15.
    #[serde(with = "WholeNumberOrNone::<1, 1_000_000_000_000_000>")]
    pub nodes: Option<u64>,
    /// Iterations, in plies. 1 to 245.
    #[serde(with = "WholeNumberOrNone::<1, 245>")]
    pub depth: Option<u32>,
}

impl From<&LimitSettings> for Limits {
    fn from(settings: &LimitSettings) -> Self {
        let LimitSettings { time, nodes, depth } = *settings;
        Self { time, nodes, depth, clocks: None }
    }
}

/// The `shutdown` table: what becomes of running games when we are told to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShutdownSettings {
    /// What becomes of them.
    pub games: ShutdownGames,
    /// How long they may take to be finished before they are left, in seconds. 0 to 86400.
    #[serde(with = "Seconds::<0, 86400>")]
    pub grace: Duration,
}

impl Default for ShutdownSettings {
    fn default() -> Self {
        Self { games: ShutdownGames::default(), grace: Duration::from_mins(10) }
    }
}

/// What becomes of running games when we are told to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShutdownGames {
    /// They are played to their end; those that outlast the grace time are left.
    #[default]
    Finish,
    /// They are left as they are, for a restart that comes soon.
    Leave,
    /// They are aborted where that is still possible, and resigned otherwise.
    Resign,
}
