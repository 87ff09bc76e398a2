//! `concilio` as a child process with its two pipes.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{ChildStdin, Command, Stdio},
    sync::mpsc,
};

use testkit::{ChildProgram, PATIENCE};

use crate::lichess::electors;

pub(crate) struct Program {
    child: ChildProgram,
    stdin: Option<ChildStdin>,
    lines: mpsc::Receiver<String>,
}

impl Program {
    /// Starts `concilio` with these arguments, and a council small enough for a test.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let small = ["--set", "player.council.roster=mbxkcpar mp ma", "--set", "player.council.hash=1"];
        Self::start_with(&[arguments, &small].concat())
    }

    /// Starts `concilio uci` with a council of one engine, a script for the shell; it is kept in this folder.
    pub(crate) fn start_with_engine(folder: &Path, script: &str) -> Self {
        let engine = electors::program(folder, "engine", script);
        let settings = folder.join("bot.toml");
        let council = format!(
            "[player.council]\nroster = \"custom\"\nhash = 16\n[[player.council.electors]]\nengine = {:?}\n",
            engine.display().to_string()
        );
        fs::write(&settings, council).expect("settings");
        Self::start_with(&["uci", "--config", &settings.display().to_string()])
    }

    /// Starts `concilio` with these arguments and nothing else.
    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_concilio"))
            .args(arguments)
            .env_remove("CONCILIO_CONFIG")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || stdout.lines().map_while(Result::ok).try_for_each(|line| sender.send(line)));
        let stdin = child.stdin.take();
        Self { child: ChildProgram(child), stdin, lines }
    }

    pub(crate) fn say(&mut self, lines: &str) {
        let stdin = self.stdin.as_mut().expect("it is still spoken to");
        writeln!(stdin, "{lines}").expect("it listens");
    }

    /// The lines up to the first that begins so, that one included.
    pub(crate) fn until(&self, start: &str) -> Vec<String> {
        self.until_one(start, |line| line.starts_with(start))
    }

    /// The lines up to the first that tells XBoard of thinking: it begins with a depth.
    pub(crate) fn until_it_thinks(&self) -> Vec<String> {
        self.until_one("depth", |line| line.starts_with(|letter: char| letter.is_ascii_digit()))
    }

    fn until_one(&self, what: &str, is_it: impl Fn(&str) -> bool) -> Vec<String> {
        let mut heard = Vec::new();
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap_or_else(|_| panic!("no {what:?} after {heard:#?}"));
            let last = is_it(&line);
            heard.push(line);
            if last {
                return heard;
            }
        }
    }

    /// The rest of the first line that begins so.
    pub(crate) fn answer(&self, start: &str) -> String {
        self.until(start)
            .pop()
            .and_then(|line| line.strip_prefix(start).map(|rest| rest.trim().to_owned()))
            .expect("it")
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        rustix::process::kill_process(rustix::process::Pid::from_child(&self.child.0), signal).expect("it runs");
    }

    /// Closes its input, and returns its last lines when it has ended by itself.
    pub(crate) fn end(mut self) -> Vec<String> {
        self.stdin = None;
        let rest = std::iter::from_fn(|| self.lines.recv_timeout(PATIENCE).ok()).collect();
        assert!(self.child.0.wait().expect("it ends").success());
        rest
    }
}
