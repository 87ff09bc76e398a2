//! A NATS server on loopback, killed at the end of its test.

use std::{
    fs,
    net::{SocketAddr, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use tokio::net::TcpSocket;

use crate::{ChildProgram, PATIENCE, needs::NATS_SERVER};

pub struct Nats {
    port: Port,
    /// Port for the routes of other servers.
    route: Option<Port>,
    configuration: Option<PathBuf>,
    child: Option<ChildProgram>,
    folder: TempDir,
}

impl Nats {
    /// One that lets everybody in.
    pub fn start() -> Self {
        Self::starting(|_| None)
    }

    pub fn start_with(configuration: Option<String>) -> Self {
        Self::starting(|folder| {
            let file = folder.join("nats.conf");
            fs::write(&file, configuration?).expect("written");
            Some(file)
        })
    }

    /// Starts two servers that pass on each other's messages, without advertising each other to
    /// clients.
    pub fn pair() -> [Self; 2] {
        let [one, two] = [Port::hold(), Port::hold()];
        let beside = |own: &Port, other: &Port| {
            let (own, route) = (own.number, format!("nats://127.0.0.1:{}", other.number));
            Self::start_with(Some(format!(
                "cluster {{ name: pair, listen: \"127.0.0.1:{own}\", routes: [\"{route}\"], no_advertise: true }}\n"
            )))
        };
        let [mut first, mut second] = [beside(&one, &two), beside(&two, &one)];
        (first.route, second.route) = (Some(one), Some(two));
        [first, second]
    }

    /// Starts a server with the `nats.conf` of a folder and its includes, without the monitor on a
    /// fixed port.
    pub fn start_in(folder: &Path) -> Self {
        let file = folder.join("nats.conf");
        let text = fs::read_to_string(&file).expect("a configuration");
        let unwatched: Vec<&str> = text.lines().filter(|line| !line.starts_with("http:")).collect();
        fs::write(&file, unwatched.join("\n")).expect("written");
        Self::starting(|_| Some(file))
    }

    fn starting(configuration: impl FnOnce(&Path) -> Option<PathBuf>) -> Self {
        let port = Port::hold();
        let folder = tempfile::tempdir().expect("a folder");
        let configuration = configuration(folder.path());
        let mut nats = Self { port, route: None, configuration, child: None, folder };
        nats.starts();
        nats
    }

    /// Starts again on the same port, and waits until it listens.
    pub fn starts(&mut self) {
        let mut arguments = vec!["-a".to_owned(), "127.0.0.1".to_owned(), "-p".to_owned(), self.port().to_string()];
        arguments.extend(["-P".to_owned(), self.pid_file().display().to_string()]);
        if let Some(file) = &self.configuration {
            arguments.extend(["-c".to_owned(), file.display().to_string()]);
        }
        let child = self.child.insert(ChildProgram(program(&arguments)));
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", self.port.number)).is_err() {
            assert_eq!(child.0.try_wait().expect("our child"), None, "nats-server has ended: {arguments:?}");
            assert!(begun.elapsed() < PATIENCE, "nats-server does not listen");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Replaces its configuration, and reads it.
    pub fn reads_again(&mut self, configuration: String) {
        fs::write(self.configuration.as_ref().expect("it has one"), configuration).expect("written");
        let child = self.child.as_ref().expect("it runs");
        kill_process(Pid::from_child(&child.0), Signal::HUP).expect("it runs");
    }

    pub fn pid_file(&self) -> PathBuf {
        self.folder.path().join("nats.pid")
    }

    pub fn dies(&mut self) {
        self.child = None;
    }

    pub fn port(&self) -> u16 {
        self.port.number
    }

    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port())
    }
}

/// A reserved port of this machine, also while the server is stopped.
struct Port {
    number: u16,
    _held: Option<TcpSocket>,
}

impl Port {
    fn hold() -> Self {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_reuseaddr(true).expect("a socket of our own");
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0))).expect("a free port");
        let number = socket.local_addr().expect("an address").port();
        // On Linux a server may listen on a port that another socket has bound and does not listen
        // on, if both allow reuse.
        Self { number, _held: cfg!(target_os = "linux").then_some(socket) }
    }
}

fn program(arguments: &[String]) -> Child {
    let mut command = Command::new(NATS_SERVER.path());
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("nats-server starts")
}
