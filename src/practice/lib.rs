//! A chess server to practise on: it speaks the Lichess Bot API on loopback, has opponents of its own, and lets things go
//! wrong on purpose.
//!
//! ```text
//!  Lichess clients ─HTTP─▶ lichess/ (a face) ──questions──▶ hub (one actor) ──▶ game (pure rules, clocks, endings)
//!                              ▲  faults                       │  ▲
//!                              └────────── events ─────────────┘  └── sparring players
//! ```
//!
//! A face translates a protocol and knows nothing of chess; the hub owns accounts, challenges and games and knows nothing
//! of sockets; a [`game::Game`] knows neither and is told the time. [`PracticeServer`] is the handle for tests and for the
//! demo, [`serve`] runs a server for other programs.
//!
//! ```no_run
//! # async fn play() -> Result<(), concilio_practice::PracticeError> {
//! use concilio_practice::{PracticeServer, Settings, SparringKind};
//! let server = PracticeServer::start(Settings::default()).await?;
//! let token = server.add_account("my-bot", true).await?;
//! server.sparring("sparring", SparringKind::Greedy).await?;
//! println!("point your bot to {} with the token {token}", server.url());
//! # Ok(()) }
//! ```

mod account;
mod connection;
mod dialect;
pub mod faults;
mod fics;
pub mod game;
mod hub;
mod lichess;
mod server;
mod settings;
mod sparring;

pub use account::{Account, AccountId, Category, Rating, Tally};
pub use dialect::Dialect;
pub use fics::FicsFace;
pub use game::{ConnectionLoss, End, Outcome, Patience, Refusal, Stop};
pub use hub::{
    AccountEvent, BoardEvent, ChallengeState, ChallengeTerms, ChallengeView, Denied, GameReport, GameView, Gauge, Hub,
    Limits, ListenerKey, Pairing, RefusedMove, Seat, State, Stopped, Subscription,
};
pub use lichess::{BOT_SCOPES, HUMAN_SCOPES};
pub use server::{PracticeError, PracticeServer, serve};
pub use settings::Settings;
pub use sparring::{Sparring, SparringKind};
