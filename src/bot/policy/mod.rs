//! The operator's policy: challenges, matchmaking, tournaments, draws and resignation, chat, and
//! the server's limits.
//!
//! Everything is pure: a decision is a function of settings and facts. The time is a fact; nothing
//! is sent, no file is opened. [`RateLimits`], [`Matchmaker`] and [`Participation`] are saved as
//! JSON, because they must outlive the process. Every refusal has its reason in words for the
//! journal.
//!
//! - [`challenge`]: accept, wait or decline, and the order of waiting challenges;
//! - [`matchmaking`]: the next opponent, and rests;
//! - [`tournament`]: arenas and Swiss tournaments;
//! - [`rate_limits`]: the server's limits;
//! - [`adjudication`]: draws, resignation, takebacks, aborts and claims;
//! - [`chat`]: greetings, commands and the flood rule;
//! - [`profile`]: other settings for some games.

pub mod adjudication;
pub mod challenge;
pub mod chat;
pub mod matchmaking;
pub mod profile;
pub mod rate_limits;
pub mod tournament;

pub use adjudication::{AbortSettings, ClaimSettings, DrawSettings, ResignSettings};
pub use challenge::{ChallengeSettings, ChallengeVerdict, NameLists};
pub use chat::ChatSettings;
pub use matchmaking::{Matchmaker, MatchmakingSettings};
pub use profile::{Conditions, Profile};
pub use rate_limits::RateLimits;
pub use tournament::{Participation, TournamentPolicy, TournamentSettings};
