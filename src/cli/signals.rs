//! The signals that a command heeds: the one file that knows how the system sends them.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// Stop: SIGINT and SIGTERM; elsewhere than on Unix, Ctrl-C.
    Stop,
    /// Reload the settings: SIGHUP. It also comes when the starting terminal is closed, and games
    /// outlive that.
    Reload,
}

#[cfg(unix)]
mod system {
    use tokio::signal::unix::{self, SignalKind, signal};

    use super::Signal;

    /// The signals, heard from the moment this is made.
    pub(super) struct System {
        interrupt: unix::Signal,
        terminate: unix::Signal,
        hangup: unix::Signal,
    }

    impl System {
        pub(super) fn listen() -> std::io::Result<Self> {
            Ok(Self {
                interrupt: signal(SignalKind::interrupt())?,
                terminate: signal(SignalKind::terminate())?,
                hangup: signal(SignalKind::hangup())?,
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
}

#[cfg(not(unix))]
mod system {
    use super::Signal;

    pub struct System;

    impl System {
        pub fn listen() -> std::io::Result<Self> {
            Ok(Self)
        }

        pub async fn next(&mut self) -> Signal {
            match tokio::signal::ctrl_c().await {
                Ok(()) => Signal::Stop,
                Err(_) => std::future::pending().await,
            }
        }
    }
}

/// The signals, heard from the moment this is made.
pub(super) struct Signals(system::System);

impl Signals {
    pub(super) fn listen() -> Option<Self> {
        match system::System::listen() {
            Ok(system) => Some(Self(system)),
            Err(error) => {
                tracing::error!(%error, "cannot receive signals; stop with kill -9, games go on after a restart");
                None
            }
        }
    }

    pub(super) async fn next(&mut self) -> Signal {
        self.0.next().await
    }

    /// Waits for the next one to stop; where no settings are read, there is nothing else to tell.
    pub(super) async fn told_to_stop(&mut self) {
        while self.next().await != Signal::Stop {}
    }
}
