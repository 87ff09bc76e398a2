//! The FICS face: the Internet chess servers' language for people and programs, over telnet, with timeseal.
//!
//! ```text
//!  telnet ─▶ wire (lines, timeseal, faults) ─▶ login ─▶ session ─▶ commands ──questions──▶ hub
//!                                                  │       ▲                                │
//!                                                  ▼       ├── notices ── hall (who is here)│
//!                                                 hall     └────────── events ◀─────────────┘
//! ```
//!
//! A connection is one task from its banner to its end. The `hall` knows what the hub does not: who is logged in here and
//! under which password, who seeks a game, and which small number a game bears. `text` writes the server's sentences and
//! boards; it is pure. What a real server of this family does and Lichess does not (one game at a time, adjournment when a
//! connection is lost) is asked of the hub, so that a game means the same over both faces.

mod commands;
mod hall;
mod login;
mod offers;
mod session;
mod text;
mod variables;
mod wire;

use std::{net::SocketAddr, sync::Arc};

use tokio_util::sync::CancellationToken;

pub(super) use hall::{Hall, Notice};

use super::{
    connection::{Connection, PracticeListener},
    faults::FaultInjector,
    hub::Hub,
};
use login::Entrance;
use session::Session;
use wire::Wire;

/// What can be set about the FICS face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FicsFace {
    /// Where it listens; port 0 is any that is free.
    pub address: SocketAddr,
    /// So many lines a second of other people's talk reach everybody, as on a busy evening. 0: none.
    pub noise: u32,
}

impl FicsFace {
    /// A quiet face at an address.
    pub const fn at(address: SocketAddr) -> Self {
        Self { address, noise: 0 }
    }
}

/// What every session has at hand.
pub(super) struct Face {
    /// Everything about games is asked here.
    pub hub: Hub,
    /// Who is here.
    pub hall: Hall,
    /// What goes wrong.
    pub faults: FaultInjector,
    /// Lines of noise a second.
    pub noise: u32,
}

/// Serves until `stop` is cancelled.
pub(super) async fn serve(face: Face, mut listener: PracticeListener, stop: CancellationToken) {
    let face = Arc::new(face);
    // The listener restarts within `accept`, so that nothing but the end may interrupt it.
    while let Some((connection, peer)) = stop.run_until_cancelled(listener.accept()).await {
        tracing::debug!(%peer, "a FICS client connects");
        tokio::spawn(stop.clone().run_until_cancelled_owned(visit(Arc::clone(&face), connection)));
    }
}

async fn visit(face: Arc<Face>, connection: Connection) {
    tokio::time::sleep(face.faults.opening_delay()).await;
    let mut wire = Wire::new(connection, face.faults.clone());
    let ended = match login::enter(&face, &mut wire).await {
        Ok(Entrance::Admitted(visitor, bits)) => Session::run(face, visitor, bits, wire).await,
        Ok(Entrance::Refused) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a FICS connection is lost");
    }
}
