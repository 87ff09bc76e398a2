//! The signals that a command heeds: the one file that knows how the system sends them.

use std::io;

#[cfg(unix)]
use tokio::signal::unix::{self, SignalKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// Stop: SIGINT and SIGTERM; elsewhere than on Unix, Ctrl-C.
    Stop,
    /// Reload the settings: SIGHUP. It also comes when the starting terminal is closed, and games
    /// outlive that.
    Reload,
}

/// The signals, heard from the moment this is made.
pub(super) struct Signals {
    #[cfg(unix)]
    interrupt: unix::Signal,
    #[cfg(unix)]
    terminate: unix::Signal,
    #[cfg(unix)]
    hangup: unix::Signal,
}

impl Signals {
    pub(super) fn listen() -> Option<Self> {
        match Self::open() {
            Ok(signals) => Some(signals),
            Err(error) => {
                tracing::error!(%error, "cannot receive signals; stop with kill -9, games go on after a restart");
                None
            }
        }
    }

    /// Waits for the next one to stop; where no settings are read, there is nothing else to tell.
    pub(super) async fn told_to_stop(&mut self) {
        while self.next().await != Signal::Stop {}
    }
}

#[cfg(unix)]
impl Signals {
    fn open() -> io::Result<Self> {
        Ok(Self {
            interrupt: unix::signal(SignalKind::interrupt())?,
            terminate: unix::signal(SignalKind::terminate())?,
            hangup: unix::signal(SignalKind::hangup())?,
        })
    }

    pub(super) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.interrupt.recv() => Signal::Stop,
            _ = self.terminate.recv() => Signal::Stop,
            _ = self.hangup.recv() => Signal::Reload,
        }
    }
}

#[cfg(not(unix))]
impl Signals {
    fn open() -> io::Result<Self> {
        Ok(Self {})
    }

    pub(super) async fn next(&mut self) -> Signal {
        match tokio::signal::ctrl_c().await {
            Ok(()) => Signal::Stop,
            Err(_) => std::future::pending().await,
        }
    }
}
