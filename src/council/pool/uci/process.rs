//! A child process that speaks in lines: in a process group of its own, so that a Ctrl-C in our terminal does not reach it, and
//! so that whatever it has started itself ends with it.

use std::{
    collections::BTreeSet,
    io::{self, BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        mpsc::{self, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use crate::pool::{elector::ElectorFailure, spec::UciProgram};

/// A line of an engine that is longer than this is cut: no line that we read is.
const LONGEST_LINE: usize = 64 << 10;
/// So many lines are kept for whoever is to read them; then the engine has to wait.
const MOST_LINES: usize = 4096;
/// So long the last words of an engine that has ended are waited for.
const LAST_WORDS: Duration = Duration::from_millis(200);
/// Letters of its last words that are told.
const MOST_LETTERS: usize = 200;
/// No engine inherits a variable that begins so: some hold secrets.
const OUR_VARIABLES: &str = "CONCILIO_";
/// Where systemd puts secrets for us alone.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// The engines that run, by their numbers.
static RUNNING: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

fn running() -> MutexGuard<'static, BTreeSet<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every engine that still runs, with whatever it has started. For the end of the program: a thread that waits for a
/// mute engine is not waited for, and would leave it behind.
pub fn kill_engines() {
    for number in std::mem::take(&mut *running()) {
        kill_group(number);
    }
}

/// Kills the processes of a group.
fn kill_group(number: u32) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(number).ok().and_then(rustix::process::Pid::from_raw) {
        // Nobody may be left in it.
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    #[cfg(not(unix))]
    let _ = number;
}

/// A child process and its pipes. Killed when dropped, with whatever it has started.
pub struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: mpsc::Receiver<String>,
    /// The last line of its standard error, when that has ended.
    last_words: mpsc::Receiver<String>,
}

impl Process {
    /// Starts the program, without our secrets in its environment.
    ///
    /// # Errors
    /// [`ElectorFailure`] that names the program if it does not start.
    pub fn spawn(program: &UciProgram) -> Result<Self, ElectorFailure> {
        let path = program.path.display();
        let mut command = Command::new(&program.path);
        command.args(&program.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let secret = |name: &std::ffi::OsString| {
            let name = name.to_string_lossy();
            name.starts_with(OUR_VARIABLES) || name == CREDENTIALS
        };
        std::env::vars_os().map(|(name, _)| name).filter(secret).for_each(|name| _ = command.env_remove(name));
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child =
            command.spawn().map_err(|error| ElectorFailure(format!("cannot start the engine {path}: {error}")))?;
        running().insert(child.id());
        let (Some(stdin), Some(stdout), Some(stderr)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(ElectorFailure(format!("no pipes to the engine {path}")));
        };
        let (sender, lines) = mpsc::sync_channel(MOST_LINES);
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            while let Ok(Some(line)) = read_line(&mut stdout, LONGEST_LINE) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let (speaker, last_words) = mpsc::sync_channel(1);
        std::thread::spawn(move || {
            let (mut stderr, mut last) = (BufReader::new(stderr), String::new());
            while let Ok(Some(line)) = read_line(&mut stderr, LONGEST_LINE) {
                if !line.trim().is_empty() {
                    last = line;
                }
            }
            // Nobody listens where it was ended.
            let _ = speaker.send(last);
        });
        Ok(Self { child, stdin, lines, last_words })
    }

    /// It has ended, with its last words: whoever is sent to another machine says why it did not come there.
    fn ended(&self) -> ElectorFailure {
        let words = self.last_words.recv_timeout(LAST_WORDS).unwrap_or_default();
        let words: String = words.chars().filter(|letter| !letter.is_control()).take(MOST_LETTERS).collect();
        let told = if words.is_empty() { words } else { format!(": {words}") };
        ElectorFailure(format!("the engine has ended{told}"))
    }

    /// Sends a line.
    ///
    /// # Errors
    /// [`ElectorFailure`] if the engine has ended.
    pub fn send(&mut self, command: &str) -> Result<(), ElectorFailure> {
        writeln!(self.stdin, "{command}").and_then(|()| self.stdin.flush()).map_err(|_| self.ended())
    }

    /// The next line, or `None` if none came in time.
    ///
    /// # Errors
    /// [`ElectorFailure`] if the engine has ended.
    pub fn read(&mut self, timeout: Duration) -> Result<Option<String>, ElectorFailure> {
        match self.lines.recv_timeout(timeout) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(self.ended()),
        }
    }

    /// Reads on to the line `last`; `each` sees those before it.
    ///
    /// # Errors
    /// [`ElectorFailure`] if the engine has ended, or the line does not come in time.
    pub fn read_until(
        &mut self,
        last: &str,
        timeout: Duration,
        mut each: impl FnMut(&str),
    ) -> Result<(), ElectorFailure> {
        let deadline = Instant::now() + timeout;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.read(left)? {
                Some(line) if line.trim() == last => return Ok(()),
                Some(line) => each(&line),
                None => return Err(ElectorFailure(format!("the engine said no {last} within {timeout:?}"))),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let number = self.child.id();
        let _ = writeln!(self.stdin, "quit");
        // Until it is waited for, its number belongs to nobody else.
        if running().remove(&number) {
            kill_group(number);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The next line without its end, or its first `longest` bytes; `None` at the end of the input. However long a line is, no more
/// of it is kept. Bytes that are no UTF-8 are replaced.
fn read_line(input: &mut impl BufRead, longest: usize) -> io::Result<Option<String>> {
    let (mut line, mut any) = (Vec::new(), false);
    loop {
        let buffer = match input.fill_buf() {
            Ok(buffer) => buffer,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if buffer.is_empty() {
            break;
        }
        any = true;
        let end = buffer.iter().position(|byte| *byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        line.extend_from_slice(&part[..part.len().min(longest - line.len())]);
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            break;
        }
    }
    Ok(any.then(|| String::from_utf8_lossy(&line).trim_end().to_owned()))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    fn shell(script: &str) -> Process {
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        let program = UciProgram { path: "/bin/sh".into(), arguments, ..UciProgram::default() };
        Process::spawn(&program).expect("a shell")
    }

    fn next(process: &mut Process) -> String {
        process.read(Duration::from_secs(60)).expect("it runs").expect("a line")
    }

    /// Promise 7: what an engine prints does not grow without bound here.
    #[test]
    fn a_line_takes_no_more_memory_than_the_longest_that_is_kept() {
        let endless = io::repeat(b'x').take(50 << 20).chain(&b"\nshort\r\n"[..]);
        let mut input = BufReader::new(endless);
        let cut = read_line(&mut input, 1000).expect("readable").expect("a line");
        assert_eq!((cut.len(), cut.capacity() < 5000), (1000, true));
        assert_eq!(read_line(&mut input, 1000).expect("readable").as_deref(), Some("short"));
        assert_eq!(read_line(&mut input, 1000).expect("readable"), None);
    }

    #[test]
    fn an_engine_that_has_ended_says_why() {
        let mut engine = shell("echo connecting >&2; echo 'attic: No route to host' >&2; exit 255");
        let failure = engine.read_until("uciok", Duration::from_secs(60), |_| ()).expect_err("it has ended");
        assert_eq!(failure.to_string(), "the engine has ended: attic: No route to host");
    }

    #[cfg(unix)]
    #[test]
    fn an_engine_sees_none_of_our_secrets() {
        // This process has no such variable, so another one that does starts the engine: the test itself, again.
        const ASKED: &str = "CONCILIO_TEST_SECRET";
        if std::env::var_os(ASKED).is_some() {
            let mut engine = shell("env | cut -d= -f1; echo done");
            engine
                .read_until("done", Duration::from_secs(60), |line| println!("engine: {line}"))
                .expect("its environment");
            return;
        }
        let output = Command::new(std::env::current_exe().expect("this test"))
            .args(["an_engine_sees_none_of_our_secrets", "--nocapture"])
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

    /// Whether a process of this number is there and not a zombie.
    #[cfg(target_os = "linux")]
    fn lives(number: &str) -> bool {
        let status = std::fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
        status.rsplit(')').next().is_some_and(|rest| !rest.trim_start().starts_with('Z') && !rest.trim().is_empty())
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_an_engine_has_started_ends_with_it() {
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
