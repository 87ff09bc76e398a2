//! The plain values that pass between the packages of the program.
//!
//! | what | where |
//! |---|---|
//! | a game's names, its line of moves, variant, time control and clocks | [`GameId`], [`Line`], [`Variant`], [`TimeControl`], [`Clocks`] |
//! | what the council's parts write to each other: search this, I would play this, this is played, by that rule | [`Task`], [`Proposal`], [`Decision`], [`CriterionName`] |
//! | what they have to know of a game, so that they can decide about another one than chess | [`GameLine`] |
//! | what passes between a chess server and the session | [`ServerEvent`], [`Action`], [`GameInfo`], [`GameState`], [`Challenge`] |
//! | values that settings are made of, and what can be wrong with them | [`values`], [`Fault`] |
//! | small things that several packages need | [`Backoff`], [`Secret`], [`Shutdown`], [`Failure`], [`printable`], [`timeseal`] |
//!
//! Values keep their own invariants and do nothing else: no clock is read and nothing is sent from here. The rules of chess
//! come from `shakmaty`; its types ([`Color`], [`UciMove`]) are ours too.

mod backoff;
mod challenge;
mod criterion;
mod decision;
mod engine_position;
mod failure;
mod fault;
mod game;
mod game_line;
mod ids;
mod line;
mod people;
mod proposal;
mod secret;
mod server_event;
mod shutdown;
mod task;
mod terminal;
mod time_control;
pub mod timeseal;
mod tournament;
pub mod values;
mod variant;

pub use backoff::Backoff;
pub use challenge::{Challenge, ChallengeObstacle, ChallengeRequest, DeclineReason, GameTerms};
pub use criterion::{CriterionName, SecondPhaseMode};
pub use decision::{Decision, Metrics, ProcessMetrics, SecondPhase, Source, Vote};
pub use engine_position::{engine_move, engine_position};
pub use failure::Failure;
pub use fault::Fault;
pub use game::{GameInfo, GameState, GameStatus, KnownGame, Offers};
pub use game_line::GameLine;
pub use ids::{ChallengeId, ElectorName, GameId, MachineName, ServerName};
pub use line::{Line, LineError, moves_text};
pub use people::{Account, Player, is_title_of_bot};
pub use proposal::{Bound, Proposal, Score};
pub use secret::{Secret, SecretError};
pub use server_event::{Action, ActionError, ChatLine, ChatRoom, Done, ServerEvent};
pub use shutdown::Shutdown;
pub use task::{Limits, Phase, SearchId, Task};
pub use terminal::{print, printable, printable_json, steers};
pub use time_control::{Clock, Clocks, Speed, TimeControl, TimeControlError};
pub use tournament::{
    Standing, Tournament, TournamentEntry, TournamentError, TournamentInfo, TournamentKind, TournamentStage,
};
pub use variant::{Variant, VariantError};

pub use engine::{Heuristic, Knowledge};
pub use shakmaty::{Color, uci::UciMove};
