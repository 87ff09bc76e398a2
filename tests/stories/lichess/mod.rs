//! The promises of the runtime, kept in bad weather: the whole daemon plays against the practice server over real sockets while
//! something goes wrong, and every story ends with a look at what the *server* knows.
//!
//! 1. A game never ends because of us: [`streams`], [`moves`], [`events`], [`bursts`], [`weather`], [`restart`],
//!    [`slow_streams`], [`electors`], [`ponder`], [`panics`], [`proxies`].
//! 2. One search a ply, stale results dropped, idempotent moves: [`moves`], and `src/bot/session/machine/tests.rs`.
//! 3. There is always a searched move to send: [`electors`].
//! 4. No forfeit on time that a faster reply could have prevented; lag is measured: [`record`].
//! 5. Every move is in the journal before it is sent, and a game that ended without us is looked up: [`record`], [`restart`],
//!    [`absence`].
//! 6. The token is never logged and never in the journal: [`restart`], and `src/platform/tests/lichess/secrecy.rs`.
//!
//! Log and commands of the operator: [`operator`]; tournaments: [`tournaments`]; hostile names and texts: [`outsiders`].
//!
//! All of them for a while at once, under kills and load: `src/lab/tests/commands/soak.rs`.
//!
//! `docs/faults.md` lists known failures of other bots with their tests.

mod absence;
mod backup;
mod bursts;
mod correspondence;
pub(crate) mod electors;
mod engines;
mod events;
pub(crate) mod harness;
mod library;
mod moves;
mod online;
pub(crate) mod operator;
mod outsiders;
mod panics;
mod ponder;
mod proxies;
mod record;
pub(crate) mod restart;
mod slow_streams;
mod streams;
mod tournaments;
mod weather;
