//! A program that runs for a measurement, and no longer.

use std::{
    fs, io,
    process::{Child, ChildStdin, Command},
};

use rustix::process::{Pid, Signal, kill_process};
use util::Failure;

/// A child process that is killed when dropped.
pub(super) struct OwnProcess(Child);

impl OwnProcess {
    pub(super) fn start_daemon(command: &mut Command) -> Result<Self, Failure> {
        Self::start(command).map_err(|error| Failure::failed(format_args!("cannot start the daemon: {error}")))
    }

    pub(super) fn start(command: &mut Command) -> io::Result<Self> {
        command.spawn().map(Self)
    }

    /// Returns its standard input if it is a pipe that was not taken before.
    pub(super) fn input(&mut self) -> Option<ChildStdin> {
        self.0.stdin.take()
    }

    pub(super) fn is_running(&mut self) -> bool {
        matches!(self.0.try_wait(), Ok(None))
    }

    /// Asks it to end (SIGTERM).
    pub(super) fn terminate(&self) {
        if let Some(pid) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            // It may have ended by itself; its number is ours until it is waited for.
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// Its resident memory, KiB (`VmRSS` of proc(5)). `None` where the system does not tell.
    pub(super) fn resident(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.split_whitespace().next()?.parse().ok()
    }
}

impl Drop for OwnProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
