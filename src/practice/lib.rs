//! A practice chess server: it speaks the Lichess Bot API and FICS on loopback, has opponents of
//! its own, and injects faults.
//!
//! ```text
//!  Lichess clients ─HTTP──▶ lichess ──questions──▶ state (one actor) ──▶ game (pure rules, clocks, endings)
//!  FICS clients ───telnet─▶ fics ────────┘            │  ▲
//!        faults strike here   ▲────────── events ─────┘  └── sparring players
//! ```
//!
//! `lichess` and `fics` translate a protocol and know nothing of chess; `state` owns accounts,
//! challenges and games and knows nothing of sockets; a [`game::PracticeGame`] knows neither and
//! gets the time from its caller. [`PracticeServer`] is the handle for tests and for the demo,
//! [`serve`] runs a server for other programs.

mod account;
mod connection;
mod dialect;
pub mod faults;
mod fics;
pub mod game;
mod lichess;
mod rating;
mod server;
mod settings;
mod sparring;
mod state;
mod tournament;

pub use account::{AccountId, Category, GameCounts, PracticeAccount};
pub use dialect::Dialect;
pub use game::{End, GameOutcome, GamePatience, GameRefusal, Stop};
pub use lichess::{BOT_SCOPES, HUMAN_SCOPES};
pub use rating::PlayerRating;
pub use server::{PracticeError, PracticeServer, serve};
pub use settings::{FicsEndpoint, PracticeSettings, ServerLimits};
pub use sparring::{Sparring, SparringKind};
pub use state::{
    BoardEvent, ChallengeState, ChallengeTerms, ChallengeView, Denied, GameReport, GameView, Gauge, ListenerKey,
    OpenChallenge, Pairing, PlayerView, PracticeAccountEvent, RefusedMove, ServerState, ServerStopped, StateHandle,
    Subscription,
};
pub use tournament::{Participant, PracticeTournament, TournamentPlan, TournamentRefusal};

/// Waits for `future`; for ever without one.
pub(crate) async fn or_never<F: Future>(future: Option<F>) -> F::Output {
    match future {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}
