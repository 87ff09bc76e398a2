//! The programs of a story: a NATS server and workers, all on loopback. Whatever still runs at the end of a story is killed.

use std::{
    fs::{self, File},
    io::ErrorKind,
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// Turns a hang into a failure.
pub(super) const PATIENCE: Duration = Duration::from_secs(60);

/// A NATS server on a port of its own.
pub(super) struct Nats {
    port: u16,
    configuration: Option<String>,
    child: Option<Child>,
    folder: TempDir,
}

impl Nats {
    /// One that lets everybody in.
    pub(super) fn start() -> Self {
        Self::start_with(None)
    }

    /// One that is configured by this text.
    pub(super) fn start_with(configuration: Option<String>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        drop(listener);
        let folder = tempfile::tempdir().expect("a folder");
        let mut nats = Self { port, configuration, child: None, folder };
        nats.starts();
        nats
    }

    /// Starts again on the same port, and waits until it listens.
    pub(super) fn starts(&mut self) {
        let mut arguments = vec!["-a".to_owned(), "127.0.0.1".to_owned(), "-p".to_owned(), self.port.to_string()];
        if let Some(text) = &self.configuration {
            let file = self.folder.path().join("nats.conf");
            fs::write(&file, text).expect("written");
            arguments.extend(["-c".to_owned(), file.display().to_string()]);
        }
        self.child = Some(program(&arguments));
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port)).is_err() {
            assert!(begun.elapsed() < PATIENCE, "nats-server does not listen");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Dies.
    pub(super) fn dies(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    pub(super) fn port(&self) -> u16 {
        self.port
    }

    pub(super) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }
}

impl Drop for Nats {
    fn drop(&mut self) {
        self.dies();
    }
}

/// Starts nats-server, which Debian keeps where only administrators look.
fn program(arguments: &[String]) -> Child {
    for path in ["nats-server", "/usr/sbin/nats-server"] {
        match Command::new(path).args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn() {
            Ok(child) => return child,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => panic!("cannot start {path}: {error}"),
        }
    }
    panic!("there is no nats-server: apt-get install nats-server");
}

/// A worker of our own program.
pub(super) struct Worker {
    child: Child,
    log: PathBuf,
    _folder: TempDir,
}

impl Worker {
    /// One that lends so many cores under that name.
    pub(super) fn start(url: &str, name: &str, cores: usize) -> Self {
        Self::start_with(url, name, &["--cores", &cores.to_string()], &[])
    }

    /// The same with any arguments and environment.
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
        Self { child, log, _folder: folder }
    }

    pub(super) fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).expect("a process");
        kill_process(pid, signal).expect("it runs");
    }

    /// What it has written so far.
    pub(super) fn log(&self) -> String {
        fs::read_to_string(&self.log).unwrap_or_default()
    }

    /// Waits until it has ended.
    pub(super) async fn ends(&mut self) -> ExitStatus {
        let begun = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().expect("our child") {
                return status;
            }
            assert!(begun.elapsed() < PATIENCE, "the worker does not end: {}", self.log());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is so.
pub(super) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
