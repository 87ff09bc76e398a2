//! A child process with a protocol of lines. It has a process group of its own: a Ctrl-C in the terminal does not reach it, and its
//! own child processes end with it.

use std::{
    collections::BTreeSet,
    io::{self, Read, Write},
    os::fd::AsFd,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError, mpsc},
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{ElectorFailure, ElectorResult, EngineProgram, EngineProtocol, ErrorOutput, transcript::Transcript};

/// The longest line of an engine; longer ones are cut. No useful line is longer.
const LONGEST_LINE: usize = 64 << 10;
/// Maximum number of lines read at once, against endless output.
const MOST_LINES: usize = 4096;
/// Bytes of an engine's output that are read at once. Unread output stays in the pipe; a full pipe
/// blocks the engine.
const PIECE: usize = 4096;
/// The interval of checks of the stop flag while an engine is silent.
pub(super) const POLL: Duration = Duration::from_millis(2);
/// Time to wait for the last words of an engine that has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Letters of a line of its standard error that are told.
const MOST_LETTERS: usize = 200;
/// No engine inherits a variable that begins so: some hold secrets.
const OUR_VARIABLES: &str = "CONCILIO_";
/// Variable with the folder of systemd's secrets for this service.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// The engines that run, by their numbers; `None` when the program ends and no more may start.
static RUNNING: Mutex<Option<BTreeSet<u32>>> = Mutex::new(Some(BTreeSet::new()));

fn running() -> MutexGuard<'static, Option<BTreeSet<u32>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills all running engines with their child processes. For the end of the program: a thread still waiting for a mute engine
/// would leave the engine behind.
pub fn kill_engines() {
    for number in running().take().unwrap_or_default() {
        kill_group(number);
    }
}

fn kill_group(number: u32) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(number).ok().and_then(rustix::process::Pid::from_raw) {
        // The group may be empty.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = number;
}

/// A child process and its pipes. Killed when dropped, with its own child processes.
pub struct Process {
    child: Child,
    stdin: ChildStdin,
    output: Output<ChildStdout>,
    /// The last line of its standard error, when that has ended.
    last_words: mpsc::Receiver<String>,
    transcript: Transcript,
    knows_quit: bool,
}

impl Process {
    /// Starts the program, without our secrets in its environment.
    ///
    /// # Errors
    /// [`ElectorFailure`] that names the program if it does not start.
    pub fn spawn(program: &EngineProgram) -> ElectorResult<Self> {
        let path = program.path.display();
        let transcript = Transcript::open(program.transcript.as_deref())?;
        let mut command = command(program);
        command.args(&program.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let secret = |name: &std::ffi::OsString| {
            let name = name.to_string_lossy();
            name.starts_with(OUR_VARIABLES) || name == CREDENTIALS
        };
        std::env::vars_os().map(|(name, _)| name).filter(secret).for_each(|name| _ = command.env_remove(name));
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound if program.file().is_none() => {
                let reason = "neither a file nor the name of one in the folders of PATH";
                ElectorFailure(format!("cannot start the engine {path}: {reason}"))
            }
            _ => ElectorFailure(format!("cannot start the engine {path}: {error}")),
        };
        let mut child = {
            // Under the lock, so that no engine starts that [`kill_engines`] does not know.
            let mut running = running();
            let Some(numbers) = &mut *running else {
                return Err(ElectorFailure(format!("the engine {path} is not started: the program ends")));
            };
            let child = command.spawn().map_err(failed)?;
            numbers.insert(child.id());
            child
        };
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(ElectorFailure(format!("no pipes to the engine {path}")));
        };
        let transcript = transcript.of_process(child.id());
        let output = Output::of(stdout);
        let last_words = listen_to_errors(program, stderr, transcript.clone());
        let knows_quit = program.protocol != EngineProtocol::Positions;
        Ok(Self { child, stdin, output, last_words, transcript, knows_quit })
    }

    /// Returns the failure, with the engine's last words: `ssh` to another machine gives its reason
    /// there.
    fn ended(&self) -> ElectorFailure {
        let words = printable(&self.last_words.recv_timeout(LAST_WORDS).unwrap_or_default());
        let told = if words.is_empty() { words } else { format!(": {words}") };
        ElectorFailure(format!("the engine has ended{told}"))
    }

    pub fn send(&mut self, command: &str) -> ElectorResult {
        self.transcript.add('>', command);
        // In one piece: every piece wakes the engine.
        self.stdin.write_all(format!("{command}\n").as_bytes()).map_err(|_| self.ended())
    }

    /// The next line, or `None` if none came in time.
    pub fn read(&mut self, timeout: Duration) -> ElectorResult<Option<String>> {
        let line = self.output.line(timeout).map_err(|_| self.ended())?;
        if let Some(line) = &line {
            self.transcript.add('<', line);
        }
        Ok(line)
    }

    /// Returns the next line, or `None` if none came before the deadline, even if output is waiting
    /// then: endless output is no better than silence.
    pub fn read_before(&mut self, deadline: Instant) -> ElectorResult<Option<String>> {
        match deadline.checked_duration_since(Instant::now()) {
            Some(left) => self.read(left),
            None => Ok(None),
        }
    }

    /// Reads the output so far, and no more: an engine may never stop talking.
    pub fn read_by_now(&mut self, mut each: impl FnMut(&str)) -> ElectorResult {
        for _ in 0..MOST_LINES {
            let Some(line) = self.read(Duration::ZERO)? else { break };
            each(&line);
        }
        Ok(())
    }

    /// Reads on to the line `last`; `each` gets the lines before it.
    ///
    /// # Errors
    /// [`ElectorFailure`] if the engine has ended, or the line does not come in time.
    pub fn read_until(&mut self, last: &str, timeout: Duration, mut each: impl FnMut(&str)) -> ElectorResult {
        let deadline = Instant::now() + timeout;
        loop {
            match self.read_before(deadline)? {
                Some(line) if line.trim() == last => return Ok(()),
                Some(line) => each(&line),
                None => return Err(ElectorFailure(format!("the engine said no {last} within {timeout:?}"))),
            }
        }
    }
}

/// Output of an engine, or its standard error. The searching thread reads the output itself, so that no other has to wake up
/// first.
struct Output<P> {
    pipe: P,
    /// Bytes that are not part of a line yet.
    said: Vec<u8>,
    /// Number of these bytes known to have no end of a line.
    searched: usize,
    /// True if the current line was cut, so that its rest is dropped.
    skips: bool,
    has_ended: bool,
}

impl<P: Read + AsFd> Output<P> {
    fn of(pipe: P) -> Self {
        Self { pipe, said: Vec::new(), searched: 0, skips: false, has_ended: false }
    }

    /// The next line without its end, or its first [`LONGEST_LINE`] bytes; `None` if none came in time. Bytes that are no UTF-8 are
    /// replaced. `Err` means that the engine has ended, and everything that it said was read.
    fn line(&mut self, timeout: Duration) -> Result<Option<String>, ()> {
        let deadline = Instant::now().checked_add(timeout);
        loop {
            if let Some(line) = self.said_line() {
                return Ok(Some(line));
            }
            if self.has_ended {
                // The rest of a line that was cut is no line.
                let rest = if self.skips { 0 } else { self.said.len() };
                return if rest == 0 { Err(()) } else { Ok(Some(self.cut(rest))) };
            }
            // A time that is too long for the system is one without an end.
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let left = left.and_then(|left| Timespec::try_from(left).ok());
            match poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], left.as_ref()) {
                Ok(0) => return Ok(None),
                Ok(_) => self.read(),
                Err(rustix::io::Errno::INTR) => (),
                Err(_) => self.has_ended = true,
            }
        }
    }

    /// Returns the first line of the read bytes, if it is whole.
    fn said_line(&mut self) -> Option<String> {
        loop {
            let Some(end) = self.said[self.searched..].iter().position(|byte| *byte == b'\n') else {
                self.searched = self.said.len();
                if self.said.len() <= LONGEST_LINE {
                    return None;
                }
                let line = (!self.skips).then(|| self.cut(LONGEST_LINE));
                (self.skips, self.searched) = (true, 0);
                self.said.clear();
                return line;
            };
            let end = self.searched + end;
            let line = self.cut(end);
            self.said.drain(..1);
            self.searched = 0;
            if !std::mem::replace(&mut self.skips, false) {
                return Some(line);
            }
        }
    }

    fn cut(&mut self, length: usize) -> String {
        let line = String::from_utf8_lossy(&self.said[..length.min(LONGEST_LINE)]).trim_end().to_owned();
        self.said.drain(..length);
        line
    }

    fn read(&mut self) {
        let known = self.said.len();
        self.said.resize(known + PIECE, 0);
        let read = self.pipe.read(&mut self.said[known..]);
        self.said.truncate(known + *read.as_ref().unwrap_or(&0));
        self.has_ended = match read {
            Ok(read) => read == 0,
            Err(error) => error.kind() != io::ErrorKind::Interrupted,
        };
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let number = self.child.id();
        if self.knows_quit {
            let _ = writeln!(self.stdin, "quit");
        }
        // The process number is not reused before this wait.
        if running().as_mut().is_some_and(|numbers| numbers.remove(&number)) {
            kill_group(number);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns the command of a program in its working folder. A relative path still starts from the daemon's folder.
fn command(program: &EngineProgram) -> Command {
    let mut command = Command::new(program.file().as_ref().unwrap_or(&program.path));
    if let Some(folder) = &program.working_dir {
        command.current_dir(folder);
    }
    command
}

/// Reads the standard error of an engine to its end; its last line can be heard then.
fn listen_to_errors(program: &EngineProgram, stderr: ChildStderr, transcript: Transcript) -> mpsc::Receiver<String> {
    let (speaker, last_words) = mpsc::sync_channel(1);
    let log = program.stderr == ErrorOutput::Log;
    let engine = program.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    std::thread::spawn(move || {
        let (mut stderr, mut last) = (Output::of(stderr), String::new());
        while let Ok(Some(line)) = stderr.line(Duration::MAX) {
            transcript.add('!', &line);
            if line.trim().is_empty() {
                continue;
            }
            if log {
                tracing::info!("{engine}: {}", printable(&line));
            }
            last = line;
        }
        // The receiver is gone if the engine was ended.
        let _ = speaker.send(last);
    });
    last_words
}

fn printable(line: &str) -> String {
    line.chars().filter(|letter| !letter.is_control()).take(MOST_LETTERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Process {
        Process::spawn(&EngineProgram::shell(script)).expect("a shell")
    }

    fn next(process: &mut Process) -> String {
        process.read(Duration::from_secs(60)).expect("it runs").expect("a line")
    }

    /// Promise 7: what an engine prints does not grow without bound here.
    #[test]
    fn long_lines_are_cut() {
        let script = "head -c 50000000 /dev/zero | tr '\\0' x; printf '\\nshort\\r\\n'";
        let mut engine = shell(script);
        let cut = next(&mut engine);
        assert_eq!((cut.len(), cut.capacity() < 5 * LONGEST_LINE), (LONGEST_LINE, true));
        assert_eq!(next(&mut engine), "short");
        assert!(engine.output.said.capacity() < 5 * LONGEST_LINE, "no more of the line was kept");
        engine.read(Duration::from_secs(60)).expect_err("it has ended");
        let failure = shell(&format!("{{ {script}; }} >&2")).read(Duration::from_secs(60)).expect_err("it has ended");
        assert_eq!(failure.to_string(), "the engine has ended: short", "its standard error as well");
    }

    #[test]
    fn endless_engine_output_is_cut_off() {
        let mut engine = shell("while :; do echo still loading; done");
        let failure = engine.read_until("uciok", Duration::from_millis(200), |_| ()).expect_err("never");
        assert!(failure.to_string().contains("no uciok"), "{failure}");
        let mut lines = 0;
        engine.read_by_now(|_| lines += 1).expect("it goes on");
        assert!(lines <= MOST_LINES);
    }

    #[test]
    fn ended_engine_gives_its_reason() {
        let mut engine = shell("echo connecting >&2; echo 'attic: No route to host' >&2; exit 255");
        let failure = engine.read_until("uciok", Duration::from_secs(60), |_| ()).expect_err("it has ended");
        assert_eq!(failure.to_string(), "the engine has ended: attic: No route to host");
    }

    #[cfg(unix)]
    #[test]
    fn transcript_has_both_sides() {
        let folder = tempfile::tempdir().expect("a folder");
        let transcript = folder.path().join("said.txt");
        let program = EngineProgram {
            working_dir: Some(folder.path().to_owned()),
            transcript: Some(transcript.clone()),
            ..EngineProgram::shell("read -r word; echo \"$word $PWD\"; echo oops >&2")
        };
        let mut engine = Process::spawn(&program).expect("a shell");
        engine.send("hello").expect("it reads");
        let folder = folder.path().canonicalize().expect("a folder");
        let answer = format!("hello {}", folder.display());
        assert_eq!(next(&mut engine), answer);
        engine.read(Duration::from_secs(60)).expect_err("it has ended");
        let text = std::fs::read_to_string(&transcript).expect("a transcript");
        let mut said: Vec<&str> = text.lines().filter_map(|line| line.splitn(3, ' ').nth(2)).collect();
        said.sort_unstable();
        assert_eq!(said, ["! oops", &format!("< {answer}"), "> hello"]);
    }

    #[cfg(unix)]
    #[test]
    fn engine_sees_no_secrets() {
        // This process has no such variable, so another one that does starts the engine: the test itself, again.
        const ASKED: &str = "CONCILIO_TEST_SECRET";
        if std::env::var_os(ASKED).is_some() {
            let mut engine = shell("env | cut -d= -f1; echo done");
            let shown = engine.read_until("done", Duration::from_secs(60), |line| println!("engine: {line}"));
            std::process::exit(i32::from(shown.is_err()));
        }
        let output = Command::new(std::env::current_exe().expect("this test"))
            .args(["engine_sees_no_secrets", "--nocapture"])
            .env(ASKED, "a secret")
            .env("CONCILIO_LICHESS_TOKEN", "another secret")
            .env(CREDENTIALS, "/run/secrets")
            .output()
            .expect("it runs");
        let shown = String::from_utf8_lossy(&output.stdout);
        let inherited: Vec<&str> = shown.lines().filter_map(|line| line.strip_prefix("engine: ")).collect();
        assert!(inherited.contains(&"PATH"), "{shown}");
        assert!(!inherited.iter().any(|name| name.starts_with(OUR_VARIABLES) || *name == CREDENTIALS), "{shown}");
    }

    /// Returns true if a process of this number exists and is not a zombie.
    #[cfg(target_os = "linux")]
    fn lives(number: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        status.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z') && !rest.trim().is_empty())
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn child_processes_end_with_the_engine() {
        let mut engine = shell("sleep 1000 & echo $!; wait");
        let child = next(&mut engine);
        assert!(lives(&child));
        drop(engine);
        // A killed process is gone when the system has had time for it.
        let deadline = Instant::now() + Duration::from_secs(60);
        while lives(&child) {
            assert!(Instant::now() < deadline, "process {child} was left behind");
            std::thread::yield_now();
        }
    }
}
