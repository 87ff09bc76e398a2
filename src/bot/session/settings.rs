//! Settings of players, and of games at the daemon's end.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::policy::{AbortSettings, ClaimSettings, DrawSettings, ResignSettings};
use council::{CouncilSettings, clock::ClockSettings};
use domain::Limits;
use sources::{BookSettings, TablebaseSettings, online::OnlineSettings};
use util::values::{FractionalSecondsOrNone, Seconds, WholeNumber, WholeNumberOrNone};

util::settings! {
    /// The `player` table: how a game is played. Every profile overrides a part of it.
    pub struct PlayerSettings {
        pub council: CouncilSettings = CouncilSettings::default(),
        /// All times of this table are in seconds, with fractions.
        pub clock: ClockSettings = ClockSettings::default(),
        /// Bounds on every search, beside those of the clock.
        pub limits: LimitSettings = LimitSettings::default(),
        pub book: BookSettings = BookSettings::default(),
        pub tablebases: TablebaseSettings = TablebaseSettings::default(),
        /// Online services, asked while the council searches.
        pub online: OnlineSettings = OnlineSettings::default(),
        pub draw: DrawSettings = DrawSettings::default(),
        pub resign: ResignSettings = ResignSettings::default(),
        /// Expected replies searched in the opponent's time, spread over the electors; 0 is none. Never
        /// in correspondence games. With several games at a time this slows the searches of the others.
        /// 0 to 8.
        #[serde(with = "WholeNumber::<0, 8>")]
        pub ponder: usize = 1,
        /// Takebacks granted in a game. 0 to 100.
        #[serde(with = "WholeNumber::<0, 100>")]
        pub takebacks: u32 = 0,
        /// Patience with an opponent who does not begin; then the game is aborted.
        pub abort: AbortSettings = AbortSettings::default(),
        /// Claims on an opponent who has left.
        pub claim: ClaimSettings = ClaimSettings::default(),
    }
}

util::settings! {
    /// The `player.limits` table: bounds on every search, beside those of the clock. `None` is no bound.
    pub struct LimitSettings {
        /// Seconds a move. 0.01 to 86400, or "none".
        #[serde(with = "FractionalSecondsOrNone::<10, 86_400_000>")]
        pub time: Option<Duration> = None,
        /// Nodes. 1 to 1000000000000000, or "none".
        #[serde(with = "WholeNumberOrNone::<1, 1_000_000_000_000_000>")]
        pub nodes: Option<u64> = None,
        /// Iterations, in plies. 1 to 245, or "none".
        #[serde(with = "WholeNumberOrNone::<1, 245>")]
        pub depth: Option<u32> = None,
    }
}

impl From<&LimitSettings> for Limits {
    fn from(settings: &LimitSettings) -> Self {
        let LimitSettings { time, nodes, depth } = *settings;
        Self { time, nodes, depth, clocks: None }
    }
}

util::settings! {
    /// The `shutdown` table: running games at the daemon's end.
    pub struct ShutdownSettings {
        /// Running games at the end: "finish" plays them to their end, "leave" leaves them for a
        /// restart that comes soon, "resign" aborts or resigns them.
        pub games: ShutdownGames = ShutdownGames::default(),
        /// Time for finishing games before they are left, in seconds. 0 to 86400.
        #[serde(with = "Seconds::<0, 86400>")]
        pub grace: Duration = Duration::from_mins(10),
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
