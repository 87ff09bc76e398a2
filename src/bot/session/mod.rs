//! The session: one manager an account, one task a game, and what they promise.
//!
//! ```text
//! ServerEvent ──▶ account_task ──▶ lobby (pure): challenges, places, matchmaking ──▶ Action
//!                      └────▶ game_task ──▶ machine (pure): one game ──▶ Action
//!                                  └──────▶ player ──▶ council
//! ```
//! The two pure state machines, `lobby` and `machine`, hold the rules; the tasks around them carry out what they ask
//! for. All truth about a game is the server's: it can be cut off, killed and started again at any moment, and goes on from
//! the whole state that the server then tells.

mod account_task;
mod adjudicator;
mod chat;
mod event;
mod game_end;
mod game_task;
mod lobby;
mod machine;
mod stream_losses;

use std::sync::Arc;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, watch};

use crate::{
    journal::Journal,
    policy::{
        AbortSettings, ChallengeSettings, ChatSettings, ClaimSettings, DrawSettings, MatchmakingSettings, NameLists,
        ResignSettings, challenge::Names,
    },
};
use chess::{GameInfo, Limits, ServerEvent, ServerName, Variant};
use council::{
    clock::ClockSettings,
    council::{CouncilSettings, Roster},
    player::Library,
    pool::Pool,
};
use server::Server;

pub use account_task::{AccountEnd, play};
pub use event::{BotEvent, EventBus};

/// A connected server account.
pub struct Connection {
    /// Its name in the settings.
    pub name: ServerName,
    /// What we can do there.
    pub server: Arc<dyn Server>,
    /// What happens there.
    pub events: mpsc::Receiver<ServerEvent>,
}

/// What all accounts of a daemon share.
#[derive(Clone)]
pub struct Runtime {
    /// Where everything is written down.
    pub journal: Journal,
    /// Where searches run.
    pub pool: Pool,
    /// Who tells the watchers.
    pub event_bus: EventBus,
    /// How games are played; asked at the start of each.
    pub player: Arc<dyn Fn(&GameInfo) -> GameSettings + Send + Sync>,
    /// How an account behaves.
    pub policy: Arc<AccountPolicy>,
}

/// How one game is played.
#[derive(Clone, Debug)]
pub struct GameSettings {
    /// Who proposes.
    pub roster: Arc<Roster>,
    /// How one proposal is elected.
    pub council: CouncilSettings,
    /// What needs no council.
    pub library: Arc<Library>,
    /// How time is spent.
    pub clock: ClockSettings,
    /// Bounds on every search, beside those of the clock.
    pub limits: Limits,
    /// How many of the replies that we expect are thought about in the opponent's time.
    pub ponder: usize,
    /// When draws are offered and accepted.
    pub draw: DrawSettings,
    /// When we resign.
    pub resign: ResignSettings,
    /// When a game that nobody begins is aborted.
    pub abort: AbortSettings,
    /// What is claimed of an opponent who leaves.
    pub claim: ClaimSettings,
    /// The most takebacks granted in a game.
    pub takebacks: u32,
    /// What is said.
    pub chat: ChatSettings,
}

impl GameSettings {
    /// This roster with these rules of election, and the usual manners.
    pub fn with(roster: Arc<Roster>, council: CouncilSettings) -> Self {
        Self {
            roster,
            council,
            library: Arc::default(),
            clock: ClockSettings::default(),
            limits: Limits::default(),
            ponder: 0,
            draw: DrawSettings::default(),
            resign: ResignSettings::default(),
            abort: AbortSettings::default(),
            claim: ClaimSettings::default(),
            takebacks: 0,
            chat: ChatSettings::default(),
        }
    }
}

/// How an account behaves: whom it plays, and how it stops.
#[derive(Clone, Debug)]
pub struct AccountPolicy {
    /// Which challenges are taken.
    pub challenge: ChallengeSettings,
    /// Whom we challenge.
    pub matchmaking: MatchmakingSettings,
    /// The names of the challenge settings, with those of the files they name.
    pub lists: NameLists,
    /// Newer lists as they come, if they are followed.
    pub newer_lists: Option<watch::Receiver<NameLists>>,
    /// The same for matchmaking.
    pub avoid: Names,
    /// What is said to those who speak to us outside a game.
    pub chat: ChatSettings,
    /// What our electors can play.
    pub variants: Vec<Variant>,
    /// The zone in which hours of the day are meant.
    pub time_zone: TimeZone,
    /// Whether we count what we spend of the server's known limits. Its own refusals are obeyed in any case.
    pub keep_limits: bool,
    /// What becomes of running games when we are told to stop.
    pub games_at_shutdown: ShutdownGames,
}

impl Default for AccountPolicy {
    fn default() -> Self {
        Self {
            challenge: ChallengeSettings::default(),
            matchmaking: MatchmakingSettings::default(),
            lists: NameLists::default(),
            newer_lists: None,
            avoid: Names::default(),
            chat: ChatSettings::default(),
            variants: Variant::ALL.into_iter().filter(|variant| variant.is_standard_rules()).collect(),
            time_zone: TimeZone::UTC,
            keep_limits: false,
            games_at_shutdown: ShutdownGames::default(),
        }
    }
}

/// What becomes of running games when the daemon is told to stop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShutdownGames {
    /// They are played to their end, while no new ones begin. When that takes too long they are left.
    #[default]
    Finish,
    /// They are left as they are, to be taken up after a restart.
    Leave,
    /// They are aborted where that is still possible, and resigned otherwise.
    Resign,
}
