//! Sessions: one task an account, one task a game.
//!
//! ```text
//! ServerEvent ──▶ account_task ──▶ lobby (pure): challenges, places, matchmaking ──▶ Action
//!                      └────▶ game_task ──▶ machine (pure): one game ──▶ Action
//!                                  └──────▶ player ──▶ council
//! ```
//! Two pure state machines, `lobby` and `machine`, hold the rules; the tasks around them carry out
//! their actions. The operator's commands come through [`control`] to the account's task; events go
//! out through [`event`]. All truth about a game is the server's: a session can be cut off, killed
//! and restarted at any moment, and goes on from the server's whole state.

mod account_context;
mod account_task;
mod adjudicator;
mod background;
mod chat;
pub mod control;
mod counting;
pub mod event;
mod game_end;
mod game_task;
mod hardware;
mod lobby;
mod machine;
mod prepared_player;
mod settings;
mod stream_losses;

use std::sync::Arc;

use jiff::tz::TimeZone;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use crate::{
    journal::Journal,
    policy::{ChallengeSettings, ChatSettings, MatchmakingSettings, NameLists, TournamentPolicy, challenge::Names},
};
use council::electors::Pool;
use domain::{GameInfo, ServerEvent, ServerName, Variant};
use platform::Server;

pub use account_task::{AccountEnd, decliners, play};
pub use background::BackgroundTurns;
pub use control::{Control, ControlCommand, ControlError};
pub use event::{AccountEvent, AccountMode, BotEvent, EventBus, GameEvent, Sentence, how_it_ended};
pub use prepared_player::{PlayerError, PreparedPlayer};
pub use settings::{LimitSettings, PlayerSettings, ShutdownGames, ShutdownSettings};

pub struct Connection {
    pub name: ServerName,
    pub server: Arc<dyn Server>,
    pub events: mpsc::Receiver<ServerEvent>,
    /// Ends the connection and its events.
    pub stop: CancellationToken,
}

pub type ChoosePlayer = Arc<dyn Fn(&GameInfo) -> Arc<PreparedPlayer> + Send + Sync>;

/// The state shared by all accounts of a daemon.
#[derive(Clone)]
pub struct Runtime {
    pub journal: Journal,
    pub pool: Pool,
    pub event_bus: EventBus,
    pub player: ChoosePlayer,
    pub policy: Arc<AccountPolicy>,
    pub control: Control,
    /// The turns of correspondence games.
    pub background: BackgroundTurns,
}

impl Runtime {
    /// Returns a runtime with one core, the default policy, and an event bus and a control of its own.
    pub fn new(journal: Journal, player: ChoosePlayer) -> Self {
        Self {
            journal,
            pool: Pool::new(1),
            event_bus: EventBus::new(),
            player,
            policy: Arc::default(),
            control: Control::default(),
            background: BackgroundTurns::default(),
        }
    }
}

#[derive(Clone, Debug)]
pub struct AccountPolicy {
    pub challenge: ChallengeSettings,
    pub matchmaking: MatchmakingSettings,
    pub tournament: TournamentPolicy,
    /// Names from the settings, and from their files and addresses.
    pub lists: NameLists,
    /// Updates of these lists, if there are any.
    pub newer_lists: Option<watch::Receiver<NameLists>>,
    pub chat: ChatSettings,
    /// The variants of the electors.
    pub variants: Vec<Variant>,
    /// The zone of hours of the day.
    pub time_zone: TimeZone,
    /// True to count the server's known limits. Its refusals are obeyed in any case.
    pub keep_limits: bool,
    pub games_at_shutdown: ShutdownGames,
}

impl Default for AccountPolicy {
    fn default() -> Self {
        Self {
            challenge: ChallengeSettings::default(),
            matchmaking: MatchmakingSettings::default(),
            tournament: TournamentPolicy::default(),
            lists: NameLists::default(),
            newer_lists: None,
            chat: ChatSettings::default(),
            variants: Variant::ALL.into_iter().filter(|variant| variant.is_standard_rules()).collect(),
            time_zone: TimeZone::UTC,
            keep_limits: false,
            games_at_shutdown: ShutdownGames::default(),
        }
    }
}

impl AccountPolicy {
    /// Returns a policy for up to `games` games at a time; `friends` are played on any terms.
    pub fn among_friends(friends: &str, games: usize) -> Self {
        let challenge =
            ChallengeSettings { concurrency: games, max_games_per_opponent: games, ..ChallengeSettings::default() };
        let lists = NameLists { friends: Names::parse(friends), ..NameLists::default() };
        Self { challenge, lists, ..Self::default() }
    }
}
