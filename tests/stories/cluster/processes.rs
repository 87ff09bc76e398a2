//! The workers of a story, all on loopback. Whatever still runs at the end of a story is killed.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::{Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use testkit::ChildProgram;
pub(super) use testkit::{PATIENCE, nats::Nats, until};

/// A worker of our own program.
pub(super) struct Worker {
    child: ChildProgram,
    log: PathBuf,
    _folder: TempDir,
}

impl Worker {
    pub(super) fn start(url: &str, name: &str, cores: usize) -> Self {
        Self::start_with(url, name, &["--cores", &cores.to_string()], &[])
    }

    pub(super) fn start_with(url: &str, name: &str, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let log = folder.path().join("log");
        let child = Command::new(env!("CARGO_BIN_EXE_concilio"))
            .args(["--log", "info", "worker", "--nats", url, "--name", name])
            .args(arguments)
            .envs(environment.iter().copied())
            .stdout(Stdio::null())
            .stderr(File::create(&log).expect("a file"))
            .spawn()
            .expect("our program");
        Self { child: ChildProgram(child), log, _folder: folder }
    }

    pub(super) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child.0), signal).expect("it runs");
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    pub(super) async fn ends(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.0.try_wait().expect("our child") {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "the worker does not end: {}", self.log());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}
