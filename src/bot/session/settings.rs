//! Settings of players, and of games at the daemon's end.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::policy::{AbortSettings, ClaimSettings, DrawSettings, ResignSettings};
use council::{CouncilSettings, clock::ClockSettings};
use domain::Limits;
use sources::{BookSettings, TablebaseSettings, online::OnlineSettings};
use util::values::{FractionalSecondsOrNone, Seconds, WholeNumber, WholeNumberOrNone};

/// The `player` table: how a game is played. Every profile overrides a part of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlayerSettings {
    pub council: CouncilSettings,
    /// All times of this table are in seconds, with fractions.
    pub clock: ClockSettings,
    /// Bounds on every search, beside those of the clock.
    pub limits: LimitSettings,
    pub book: BookSettings,
    pub tablebases: TablebaseSettings,
    /// Online services, asked while the council searches.
    pub online: OnlineSettings,
    pub draw: DrawSettings,
    pub resign: ResignSettings,
    /// Expected replies searched in the opponent's time, spread over the electors; 0 is none. Never
    /// in correspondence games. With several games at a time this slows the searches of the others.
    /// 0 to 8.
    #[serde(with = "WholeNumber::<0, 8>")]
    pub ponder: usize,
    /// Takebacks granted in a game. 0 to 100.
    #[serde(with = "WholeNumber::<0, 100>")]
    pub takebacks: u32,
    /// Patience with an opponent who does not begin; then the game is aborted.
    pub abort: AbortSettings,
    /// Claims on an opponent who has left.
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
    /// Seconds a move. 0.01 to 86400, or "none".
    #[serde(with = "FractionalSecondsOrNone::<10, 86_400_000>")]
    pub time: Option<Duration>,
    /// Nodes. 1 to 1000000000000000, or "none".
    #[serde(with = "WholeNumberOrNone::<1, 1_000_000_000_000_000>")]
    pub nodes: Option<u64>,
    /// Iterations, in plies. 1 to 245, or "none".
    #[serde(with = "WholeNumberOrNone::<1, 245>")]
    pub depth: Option<u32>,
}

impl From<&LimitSettings> for Limits {
    fn from(settings: &LimitSettings) -> Self {
        let LimitSettings { time, nodes, depth } = *settings;
        Self { time, nodes, depth, clocks: None }
    }
}

/// The `shutdown` table: running games at the daemon's end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShutdownSettings {
    /// Running games at the end: "finish" plays them to their end, "leave" leaves them for a
    /// restart that comes soon, "resign" aborts or resigns them.
    pub games: ShutdownGames,
    /// Time for finishing games before they are left, in seconds. 0 to 86400.
    #[serde(with = "Seconds::<0, 86400>")]
    pub grace: Duration,
}

impl Default for ShutdownSettings {
    fn default() -> Self {
        Self { games: ShutdownGames::default(), grace: Duration::from_mins(10) }
    }
}

/// The treatment of running games at the daemon's end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShutdownGames {
    /// Games are finished; those that outlast the grace time are left.
    #[default]
    Finish,
    /// Games are left as they are, for a restart that comes soon.
    Leave,
    /// Games are aborted if possible, and resigned otherwise.
    Resign,
}
