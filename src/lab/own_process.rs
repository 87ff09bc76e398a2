//! A program that runs for a measurement, and no longer.

use std::{
    io,
    process::{Child, Command},
};

/// A child process that is killed when dropped.
pub(super) struct OwnProcess(Child);

impl OwnProcess {
    /// Starts it.
    ///
    /// # Errors
    /// What the system says.
    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        command.spawn().map(Self)
    }

    /// Its number.
    pub(super) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for OwnProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
