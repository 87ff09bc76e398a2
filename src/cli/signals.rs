//! The signals that tell a command to stop.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGINT and SIGTERM, which mean the same to us. SIGHUP is heard and means nothing: games outlive the terminal from which
/// they were started.
pub(super) struct StopSignals {
    interrupt: Signal,
    terminate: Signal,
    hangup: Signal,
}

impl StopSignals {
    /// Hears them from now on.
    pub(super) fn listen() -> Option<Self> {
        let listen = || -> std::io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hangup: signal(SignalKind::hangup())?,
            })
        };
        match listen() {
            Ok(signals) => Some(signals),
            Err(error) => {
                tracing::error!(%error, "no signals can be heard; stop with kill -9, games go on after a restart");
                None
            }
        }
    }

    /// Waits for the next one that tells us to stop.
    pub(super) async fn next(&mut self) {
        loop {
            tokio::select! {
                _ = self.interrupt.recv() => return,
                _ = self.terminate.recv() => return,
                _ = self.hangup.recv() => tracing::info!("the terminal is gone; everything goes on"),
            }
        }
    }
}
