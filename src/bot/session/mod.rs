//! The session: one manager an account, one task a game, and what they promise.
//!
//! ```text
//! ServerEvent ──▶ account_task ──▶ lobby (pure): challenges, places, matchmaking ──▶ Action
//!                      └────▶ game_task ──▶ machine (pure): one game ──▶ Action
//!                                  └──────▶ player ──▶ council
//! ```
//! The two pure state machines, `lobby` and `machine`, hold the rules; the tasks around them carry out what they ask
//! for. What an operator wants comes through [`control`] to the account's task; what happens goes out through [`event`]. All
//! truth about a game is the server's: it can be cut off, killed and started again at any moment, and goes on from
//! the whole state that the server then tells.

mod account_context;
mod account_task;
mod adjudicator;
mod chat;
pub mod control;
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
    policy::{ChallengeSettings, ChatSettings, MatchmakingSettings, NameLists, TournamentPolicy},
};
use chess::{GameInfo, ServerEvent, ServerName, Variant};
use council::pool::Pool;
use server::Server;

pub use account_task::{AccountEnd, play};
pub use control::{Control, ControlCommand, ControlError};
pub use event::{AccountEvent, AccountMode, BotEvent, EventBus, GameEvent, Sentence, how_it_ended};
pub use prepared_player::{PlayerError, PreparedPlayer};
pub use settings::{LimitSettings, PlayerSettings, ShutdownGames, ShutdownSettings};

/// A connected server account.
pub struct Connection {
    /// Its name in the settings.
    pub name: ServerName,
    /// What we can do there.
    pub server: Arc<dyn Server>,
    /// What happens there.
    pub events: mpsc::Receiver<ServerEvent>,
    /// Ends the connection, once nothing more is to be done there; then the events end.
    pub stop: CancellationToken,
}

/// How each game is played, asked at its start.
pub type ChoosePlayer = Arc<dyn Fn(&GameInfo) -> Arc<PreparedPlayer> + Send + Sync>;

/// What all accounts of a daemon share.
#[derive(Clone)]
pub struct Runtime {
    /// Where everything is written down.
    pub journal: Journal,
    /// Where searches run.
    pub pool: Pool,
    /// Who tells the watchers.
    pub event_bus: EventBus,
    /// How games are played.
    pub player: ChoosePlayer,
    /// How an account behaves.
    pub policy: Arc<AccountPolicy>,
    /// Through which the operator's commands come.
    pub control: Control,
}

/// How an account behaves: whom it plays, and how it stops.
#[derive(Clone, Debug)]
pub struct AccountPolicy {
    /// Which challenges are taken.
    pub challenge: ChallengeSettings,
    /// Whom we challenge.
    pub matchmaking: MatchmakingSettings,
    /// In which tournaments we take part.
    pub tournament: TournamentPolicy,
    /// The names of the challenge settings, with those of the files they name.
    pub lists: NameLists,
    /// Newer lists as they come, if they are followed.
    pub newer_lists: Option<watch::Receiver<NameLists>>,
    /// What is said in games, and to those who speak to us outside of one.
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
