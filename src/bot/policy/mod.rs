//! What an operator wants, applied: which challenges to take, whom to challenge, when to offer, accept and resign, what to
//! say, and what the server still allows.
//!
//! Everything here is pure: a decision is a function of settings and facts. No clock is read (the time is a fact), nothing
//! is sent, no file is opened; state that must outlive the process ([`RateLimits`], [`Matchmaker`], [`Participation`]) is a value that can be
//! written as JSON and read again. Every verdict that refuses something says why, in words fit for the journal.
//!
//! - [`challenge`]: accept, wait or decline, and in which order;
//! - [`matchmaking`]: whom to challenge next, and whom to leave alone for a while;
//! - [`tournament`]: which arenas and Swiss tournaments to take part in, and when to be there;
//! - [`rate_limits`]: the server's limits;
//! - [`adjudication`]: draws, resignation, takebacks, aborts and claims;
//! - [`chat`]: greetings, commands and the flood rule;
//! - [`profile`]: other settings for other games.

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
