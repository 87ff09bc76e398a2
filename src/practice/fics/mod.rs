//! FICS: the language of the Internet chess servers over telnet, with timeseal.
//!
//! ```text
//!  client ─▶ telnet (lines, timeseal, faults) ─▶ login ─▶ visit ─▶ commands ──questions──▶ server state
//!                                                           │         │                        │
//!                                                           ▼         ▼                        │
//!                                                  lobby ◀─ session (what a visitor sees) ◀─events
//! ```
//!
//! A connection is one task, a `visit`, from its banner to its end. The `lobby` has the state that
//! is particular to FICS: logins and passwords, seeks, and the small numbers of running games.
//! `text` writes the server's sentences and boards; it is pure. Functions of real servers that
//! Lichess lacks (one game at a time, adjournment after a lost connection) are in the server's
//! state, so that a game means the same over both protocols.

mod commands;
mod lobby;
mod login;
mod offers;
mod session;
mod telnet;
mod text;
mod variables;
mod visit;

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

pub(super) use lobby::{FicsLobby, Notice};

use super::{connection::PracticeListener, faults::FaultInjector, state::StateHandle};

pub(super) struct FicsContext {
    pub server_state: StateHandle,
    pub lobby: FicsLobby,
    pub faults: FaultInjector,
    /// Lines of noise a second.
    pub noise: u32,
}

pub(super) async fn serve(context: FicsContext, mut listener: PracticeListener, stop: CancellationToken) {
    let context = Arc::new(context);
    // The listener restarts within `accept`, so that nothing but the end may interrupt it.
    while let Some((connection, peer)) = stop.run_until_cancelled(listener.accept()).await {
        tracing::debug!(%peer, "a FICS client connects");
        tokio::spawn(stop.clone().run_until_cancelled_owned(visit::visit(Arc::clone(&context), connection)));
    }
}
