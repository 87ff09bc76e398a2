//! A foreign UCI engine as an elector: a child process in its own process group, so that a Ctrl-C in our terminal does not
//! reach it. It ends with us, because its standard input closes.
//!
//! The engine is never trusted to answer: starting, stopping and every reply have a deadline, after which it is killed and
//! its failure reported.

pub mod protocol;

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    time::{Duration, Instant},
};

use shakmaty::CastlingMode;

use super::{Elector, ElectorFailure, Job, UciProgram};
use chess::{Bound, ElectorName, Proposal, Score, Task, UciMove, Variant};
use protocol::Info;

/// Engines may load networks and tables when they start.
const START_TIMEOUT: Duration = Duration::from_secs(20);
/// How long after `stop` a best move is waited for.
const STOP_TIMEOUT: Duration = Duration::from_millis(1000);
/// How often the stop flag is looked at while the engine is silent.
const POLL: Duration = Duration::from_millis(2);
/// A line of an engine that is longer than this is cut: nothing we read is.
const LONGEST_LINE: usize = 64 << 10;

pub(super) struct UciElector {
    name: ElectorName,
    process: Process,
    /// The options the engine announced, in lower case, with the values a `combo` may take.
    options: BTreeMap<String, Vec<String>>,
    variant: Option<(Variant, CastlingMode)>,
}

impl UciElector {
    pub(super) fn start(
        name: ElectorName,
        program: &UciProgram,
        hash: usize,
        threads: usize,
    ) -> Result<Self, ElectorFailure> {
        let mut process = Process::spawn(program)?;
        process.send("uci")?;
        let mut options = BTreeMap::new();
        process.read_until("uciok", START_TIMEOUT, |line| {
            if let Some((option, values)) = protocol::option(line) {
                options.insert(option.to_lowercase(), values);
            }
        })?;
        let mut elector = Self { name, process, options, variant: None };
        for (option, value) in [("Hash", hash), ("Threads", threads)] {
            if elector.options.contains_key(&option.to_lowercase()) {
                elector.set(option, &value.to_string())?;
            }
        }
        for (option, value) in &program.options {
            if !elector.options.contains_key(&option.to_lowercase()) {
                return Err(ElectorFailure(format!("{} has no option {option:?}", program.path.display())));
            }
            elector.set(option, value)?;
        }
        elector.ready()?;
        Ok(elector)
    }

    /// The variants the engine announced it can play.
    pub(super) fn variants(&self) -> Vec<Variant> {
        let listed = self.options.get("uci_variant");
        let chess960 = self.options.contains_key("uci_chess960");
        Variant::ALL
            .into_iter()
            .filter(|variant| match variant {
                Variant::Standard | Variant::FromPosition => true,
                Variant::Chess960 => chess960,
                other => listed.is_some_and(|names| names.iter().any(|name| name == other.uci_name())),
            })
            .collect()
    }

    fn set(&mut self, option: &str, value: &str) -> Result<(), ElectorFailure> {
        self.process.send(&format!("setoption name {option} value {value}"))
    }

    fn ready(&mut self) -> Result<(), ElectorFailure> {
        self.process.send("isready")?;
        self.process.read_until("readyok", START_TIMEOUT, |_| ())
    }

    /// Tells the engine whose rules the next position obeys, where they differ from the last one's.
    fn set_rules(&mut self, variant: Variant, castling: CastlingMode) -> Result<(), ElectorFailure> {
        if self.variant == Some((variant, castling)) {
            return Ok(());
        }
        if !variant.is_standard_rules() && !self.variants().contains(&variant) {
            return Err(ElectorFailure(format!("{} does not play {variant}", self.name)));
        }
        if self.options.contains_key("uci_variant") {
            self.set("UCI_Variant", variant.uci_name())?;
        }
        let chess960 = castling == CastlingMode::Chess960;
        if self.options.contains_key("uci_chess960") {
            self.set("UCI_Chess960", if chess960 { "true" } else { "false" })?;
        } else if chess960 {
            return Err(ElectorFailure(format!("{} does not play chess960", self.name)));
        }
        self.variant = Some((variant, castling));
        self.ready()
    }
}

impl Elector for UciElector {
    fn search(
        &mut self,
        Job { task, .. }: &Job,
        stop: &AtomicBool,
        report: &mut dyn FnMut(Proposal),
    ) -> Result<(), ElectorFailure> {
        self.set_rules(task.line.variant(), task.line.castling_mode())?;
        self.process.send(&protocol::position(&task.line))?;
        self.process.send(&protocol::go(task))?;
        let started = Instant::now();
        let mut told_to_stop: Option<Instant> = None;
        let mut newest: Option<Proposal> = None;
        loop {
            if told_to_stop.is_none() && stop.load(Ordering::Relaxed) {
                self.process.send("stop")?;
                told_to_stop = Some(Instant::now());
            }
            if told_to_stop.is_some_and(|since| since.elapsed() > STOP_TIMEOUT) {
                return Err(ElectorFailure(format!("{} did not stop and was killed", self.name)));
            }
            let Some(line) = self.process.read(POLL)? else { continue };
            if let Some(best) = protocol::best_move(&line) {
                let best = best.ok_or_else(|| ElectorFailure(format!("{} gave no move: {line:?}", self.name)))?;
                // A best move that no line announced (a book move, a single reply) is a proposal of its own.
                if newest.as_ref().is_none_or(|proposal| proposal.best != best) {
                    let info = Info { pv: vec![best], ..newest.as_ref().map(Info::of).unwrap_or_default() };
                    report(self.proposal(task, info, started.elapsed()));
                }
                return Ok(());
            }
            if let Some(info) = protocol::info(&line).filter(|info| !info.pv.is_empty()) {
                let proposal = self.proposal(task, info, started.elapsed());
                newest = Some(proposal.clone());
                report(proposal);
            }
        }
    }

    fn new_game(&mut self) {
        // A failure shows at the next search, where it can be reported.
        let _ = self.process.send("ucinewgame").and_then(|()| self.ready());
    }
}

impl UciElector {
    fn proposal(&self, task: &Task, info: Info, time: Duration) -> Proposal {
        let pv = task_moves(task, &info.pv);
        let best = pv.first().or(info.pv.first()).copied().unwrap_or(UciMove::Null);
        Proposal {
            search: task.id.clone(),
            elector: self.name.clone(),
            machine: None,
            best,
            score: info.score.unwrap_or(Score::Cp(0)),
            bound: info.bound,
            depth: info.depth,
            selective_depth: info.selective_depth.max(info.depth),
            root_moves_done: 0,
            nodes: info.nodes,
            time,
            pv,
        }
    }
}

impl Info {
    /// What a proposal was made from, without its moves.
    fn of(proposal: &Proposal) -> Self {
        Self {
            depth: proposal.depth,
            selective_depth: proposal.selective_depth,
            score: Some(proposal.score),
            bound: Bound::Exact,
            nodes: proposal.nodes,
            pv: Vec::new(),
        }
    }
}

/// The legal beginning of a line the engine gave, written as our line writes moves.
fn task_moves(task: &Task, moves: &[UciMove]) -> Vec<UciMove> {
    let mut line = (*task.line).clone();
    let played = moves.iter().take_while(|uci| line.play(**uci).is_ok()).count();
    line.moves()[line.ply() - played..].to_vec()
}

/// A child process that speaks in lines, and its two pipes. Killed when dropped.
pub struct Process {
    child: Child,
    stdin: ChildStdin,
    lines: mpsc::Receiver<String>,
}

impl Process {
    /// Starts the program.
    pub fn spawn(program: &UciProgram) -> Result<Self, ElectorFailure> {
        let path = program.path.display();
        let mut command = Command::new(&program.path);
        command.args(&program.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child =
            command.spawn().map_err(|error| ElectorFailure(format!("cannot start the engine {path}: {error}")))?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(ElectorFailure(format!("no pipes to the engine {path}")));
        };
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            let mut stdout = BufReader::new(stdout);
            let mut line = Vec::new();
            while stdout.read_until(b'\n', &mut line).is_ok_and(|read| read > 0) {
                line.truncate(LONGEST_LINE);
                let text = String::from_utf8_lossy(&line).trim_end().to_owned();
                line.clear();
                if sender.send(text).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, stdin, lines })
    }

    /// Sends a line.
    pub fn send(&mut self, command: &str) -> Result<(), ElectorFailure> {
        writeln!(self.stdin, "{command}")
            .and_then(|()| self.stdin.flush())
            .map_err(|_| ElectorFailure("the engine has ended".to_owned()))
    }

    /// The next line, or `None` if none came in time.
    pub fn read(&mut self, timeout: Duration) -> Result<Option<String>, ElectorFailure> {
        match self.lines.recv_timeout(timeout) {
            Ok(line) => Ok(Some(line)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => Err(ElectorFailure("the engine has ended".to_owned())),
        }
    }

    /// Reads on to the line `last`; `each` sees those before it.
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
        // A polite engine is gone at once; the others are killed.
        let _ = self.send("quit");
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
