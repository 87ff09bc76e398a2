//! The engine alone behind the Universal Chess Interface.
//!
//! [`run`] reads commands line by line and never blocks on a search, which runs on its own thread,
//! owns the engine meanwhile and returns it. Wrong input gets an `info string` with the problem and
//! changes nothing.

mod go;
mod options;

use std::{
    fmt::Display,
    io::{self, BufRead, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering::SeqCst},
        mpsc,
    },
    thread::JoinHandle,
    time::Duration,
};

use super::{
    Engine, EngineOptions, Iteration, Move, Position, Score, ScoreBound, bench_evaluation, bench_with, breakdown,
};
pub use go::{Go, LEAST_DEPTH, Stopwatch, searchable};
use options::Options;
pub use options::{check_hash, name_and_value};

/// The receiver of answers, one whole line at a time.
type Output = Arc<Mutex<dyn Write + Send>>;

fn say(output: &Output, line: &str) {
    if let Ok(mut output) = output.lock() {
        // The reader may have gone; the loop ends with its input.
        let _ = writeln!(output, "{line}");
        let _ = output.flush();
    }
}

struct Running {
    thread: JoinHandle<Engine>,
    stop: Arc<AtomicBool>,
    pondering: Arc<AtomicBool>,
    stopwatch: Stopwatch,
    /// True if the last iteration would have been enough, were the clock running.
    is_enough: Arc<AtomicBool>,
    /// Dropped by the search at its end, which ends the timer too.
    finished: mpsc::Receiver<()>,
    /// True if it ends by itself, at the latest after the ponder hit.
    bounded: bool,
}

impl Running {
    /// Returns true if it runs until `stop`.
    fn is_endless(&self) -> bool {
        !self.bounded || self.pondering.load(SeqCst)
    }
}

struct Session {
    output: Output,
    options: Options,
    position: Position,
    /// The engine, absent while it searches.
    engine: Option<Engine>,
    running: Option<Running>,
}

/// Serves UCI until `quit` or the end of `input`. A search with limits that is running at the end is completed.
pub fn run(input: impl BufRead, output: impl Write + Send + 'static) -> io::Result<()> {
    let options = Options::default();
    let mut session = Session {
        output: Arc::new(Mutex::new(output)),
        engine: Some(Engine::new(options.engine.clone())),
        options,
        position: start_position(),
        running: None,
    };
    for line in input.split(b'\n') {
        let line = line?;
        let line = String::from_utf8_lossy(&line);
        match session.obey(line.trim()) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(problem) => say(&session.output, &format!("info string {problem}")),
        }
    }
    if session.running.as_ref().is_some_and(Running::is_endless) {
        session.stop();
    }
    session.wait();
    Ok(())
}

fn start_position() -> Position {
    Position::from_line("startpos", false, []).unwrap_or_else(|error| unreachable!("{error}"))
}

impl Session {
    /// Carries out one command; `false` ends the session.
    fn obey(&mut self, line: &str) -> Result<bool, String> {
        let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let rest = rest.trim();
        if matches!(command, "ucinewgame" | "setoption" | "position" | "go" | "perft" | "quit") {
            self.idle_engine();
        }
        match command {
            "" | "debug" | "register" => {}
            "uci" => self.identify(),
            "isready" => say(&self.output, "readyok"),
            "stop" => self.stop(),
            "ponderhit" => self.ponder_hit(),
            "quit" => return Ok(false),
            "ucinewgame" => self.idle_engine().new_game(),
            "setoption" if rest.eq_ignore_ascii_case("name clear hash") => self.idle_engine().new_game(),
            "setoption" => {
                self.options.set(rest)?;
                let options = self.options.engine.clone();
                self.idle_engine().set_options(options);
            }
            "position" => self.position = read_position(rest, self.options.chess960)?,
            "go" => self.go(rest)?,
            "perft" => self.perft(rest)?,
            "bench" if rest == "eval" => {
                self.idle_engine();
                for (knowledge, time) in bench_evaluation() {
                    say(&self.output, &format!("{knowledge:8} {:4} ns an evaluation", time.as_nanos()));
                }
            }
            "bench" => {
                let (depth, threads) = rest.split_once(' ').unwrap_or((rest, "1"));
                let depth = if depth.is_empty() { None } else { Some(number("bench", depth)?) };
                let threads = number::<usize>("bench", threads)?.clamp(1, 512);
                let output = self.output.clone();
                self.idle_engine();
                // The default gives the known signature; another knowledge or net its own.
                let options = EngineOptions { threads, ..self.options.engine.clone() };
                let total = bench_with(&options, depth, &mut |line| say(&output, line));
                say(&output, &total.to_string());
            }
            "eval" => {
                let table = breakdown(self.position.board(), self.options.engine.own_net());
                say(&self.output, table.to_string().trim_end());
            }
            "d" => say(&self.output, &drawing(&self.position)),
            other => return Err(format!("unknown command {other:?}")),
        }
        Ok(true)
    }

    fn identify(&self) {
        say(&self.output, concat!("id name concilio ", env!("CARGO_PKG_VERSION")));
        say(&self.output, "id author the concilio authors");
        for line in Options::describe() {
            say(&self.output, &line);
        }
        say(&self.output, "uciok");
    }

    fn go(&mut self, rest: &str) -> Result<(), String> {
        if let Some(depth) = rest.strip_prefix("perft") {
            return self.perft(depth.trim());
        }
        let go = Go::read(rest, |text| self.position.parse_move(text));
        if let Some(complaint) = go.complaint() {
            say(&self.output, &format!("info string {complaint}"));
        }
        let Some(mut engine) = self.engine.take() else { return Ok(()) };
        let stop = Arc::new(AtomicBool::new(false));
        let pondering = Arc::new(AtomicBool::new(go.ponder));
        let (finish, finished) = mpsc::channel();
        let choices =
            if go.search_moves.is_empty() { self.position.legal_moves().len() } else { go.search_moves.len() };
        let (turn, overhead) = (self.position.board().turn(), self.options.move_overhead);
        let mut stopwatch = Stopwatch::new(&go, turn, overhead).for_only_move(choices == 1);
        let running_stopwatch = stopwatch.clone();
        let (position, output) = (self.position.clone(), self.output.clone());
        let (stop_here, pondering_here) = (stop.clone(), pondering.clone());
        let is_enough = Arc::new(AtomicBool::new(false));
        let is_enough_here = is_enough.clone();
        let bounded = go.is_bounded(turn);
        let thread = std::thread::spawn(move || {
            let _finish: mpsc::Sender<()> = finish;
            let mut limits = go.limits;
            if !go.ponder {
                let fixed = limits.time.map(|time| searchable(time, overhead));
                limits.time = fixed.into_iter().chain(stopwatch.hard()).min();
            }
            let mut told = None;
            let result = engine.search(&position, &go.search_moves, &limits, &stop_here, &mut |iteration| {
                say(&output, &describe(&position, iteration));
                if iteration.rank == 1 {
                    told = Some(essence(iteration));
                }
                if iteration.rank == 1 && iteration.is_whole() {
                    let enough = stopwatch.is_enough(iteration);
                    is_enough_here.store(enough, SeqCst);
                    if enough && !pondering_here.load(SeqCst) {
                        stop_here.store(true, SeqCst);
                    }
                }
            });
            match &result {
                // Changes by an unfinished iteration have not been reported yet.
                Some(result) if told.as_ref() != Some(&essence(result)) => say(&output, &describe(&position, result)),
                Some(_) => {}
                None => say(&output, over(position.board().in_check())),
            }
            // An answer to `infinite` or `ponder` is not given unasked.
            while (go.infinite || pondering_here.load(SeqCst)) && !stop_here.load(SeqCst) {
                std::thread::park();
            }
            say(&output, &answer(&position, result.as_ref()));
            engine
        });
        self.running =
            Some(Running { thread, stop, pondering, stopwatch: running_stopwatch, is_enough, finished, bounded });
        Ok(())
    }

    fn stop(&mut self) {
        if let Some(running) = &self.running {
            running.stop.store(true, SeqCst);
            running.thread.thread().unpark();
        }
    }

    /// The expected move was played: the clock runs from now on.
    fn ponder_hit(&mut self) {
        let Some(running) = &mut self.running else { return };
        running.pondering.store(false, SeqCst);
        running.thread.thread().unpark();
        if running.is_enough.load(SeqCst) {
            return running.stop.store(true, SeqCst);
        }
        if let Some(hard) = running.stopwatch.hard() {
            let stop = running.stop.clone();
            let (_, unused) = mpsc::channel();
            let finished = std::mem::replace(&mut running.finished, unused);
            let timer = std::thread::Builder::new().spawn(move || {
                if finished.recv_timeout(hard) == Err(mpsc::RecvTimeoutError::Timeout) {
                    stop.store(true, SeqCst);
                }
            });
            // If the search uses all threads that the system gives, the move is made now.
            if timer.is_err() {
                running.stop.store(true, SeqCst);
            }
        }
    }

    /// Waits for the search to end by itself.
    fn wait(&mut self) {
        if let Some(running) = self.running.take() {
            self.engine = running.thread.join().ok();
        }
    }

    /// The engine, after any search has been stopped.
    fn idle_engine(&mut self) -> &mut Engine {
        self.stop();
        self.wait();
        self.engine.get_or_insert_with(|| Engine::new(self.options.engine.clone()))
    }

    fn perft(&mut self, rest: &str) -> Result<(), String> {
        let depth: u32 = number("perft", rest)?;
        let board = self.position.board();
        let began = std::time::Instant::now();
        let mut total = 0;
        for mv in board.legal_moves().into_iter().filter(|_| depth > 0) {
            let leaves = super::board::perft(&board.after(mv), depth - 1);
            say(&self.output, &format!("{}: {leaves}", self.position.move_to_uci(mv)));
            total += leaves;
        }
        let seconds = began.elapsed().as_secs_f64().max(1e-9);
        say(&self.output, &format!("{total} leaves, {:.1} million a second", total as f64 / seconds / 1e6));
        Ok(())
    }
}

fn number<N: std::str::FromStr>(name: &str, text: &str) -> Result<N, String> {
    text.trim().parse().map_err(|_| format!("{name}: {text:?} is no number in range"))
}

/// Splits the arguments of `position` into `startpos` or a FEN, and the moves.
pub fn start_and_moves(text: &str) -> Result<(&str, &str), String> {
    let (place, moves) = text.split_once("moves").unwrap_or((text, ""));
    match place.split_once(char::is_whitespace).map_or((place, ""), |(kind, fen)| (kind, fen.trim())) {
        ("startpos", _) => Ok(("startpos", moves)),
        ("fen", fen) if !fen.is_empty() => Ok((fen, moves)),
        _ => Err(format!("position {place:?} (accepted: startpos or fen FEN, then moves ...)")),
    }
}

fn read_position(text: &str, chess960: bool) -> Result<Position, String> {
    let (fen, moves) = start_and_moves(text)?;
    Position::from_line(fen, chess960, moves.split_ascii_whitespace()).map_err(|error| error.to_string())
}

/// An iteration as an `info` line.
fn describe(position: &Position, iteration: &Iteration) -> String {
    let time = iteration.time.max(Duration::from_micros(1));
    format!(
        "info depth {} seldepth {} multipv {} score {} nodes {} nps {} hashfull {} tbhits {} time {} pv {}",
        iteration.depth,
        iteration.selective_depth,
        iteration.rank,
        score_text(iteration.score, iteration.bound),
        iteration.nodes,
        (iteration.nodes as f64 / time.as_secs_f64()) as u64,
        iteration.table_use,
        iteration.tablebase_hits,
        time.as_millis(),
        position.line_to_uci(&iteration.pv).join(" ")
    )
}

/// Writes a score as in `info` lines.
pub fn score_text(score: Score, bound: ScoreBound) -> String {
    let bound = match bound {
        ScoreBound::Exact => "",
        ScoreBound::Lower => " lowerbound",
        ScoreBound::Upper => " upperbound",
    };
    match score {
        Score::Cp(centipawns) => format!("cp {centipawns}{bound}"),
        Score::Mate(moves) => format!("mate {moves}{bound}"),
    }
}

/// Returns the message about a position without a legal move.
pub const fn over(in_check: bool) -> &'static str {
    if in_check { "info depth 0 score mate 0" } else { "info depth 0 score cp 0" }
}

/// Returns the part of an iteration that matters to the reader of an `info` line, apart from the
/// amount of work.
fn essence(iteration: &Iteration) -> (Vec<Move>, Score, ScoreBound) {
    (iteration.pv.clone(), iteration.score, iteration.bound)
}

fn answer(position: &Position, result: Option<&Iteration>) -> String {
    let Some(result) = result else { return "bestmove 0000".to_owned() };
    let mut line = position.line_to_uci(&result.pv).into_iter();
    let best = line.next().unwrap_or_else(|| position.move_to_uci(result.best));
    best_move(&best, line.next().as_ref())
}

/// Writes the answer to `go`: the move, and the expected reply if there is one.
pub fn best_move<M: Display>(best: &M, reply: Option<&M>) -> String {
    match reply {
        Some(reply) => format!("bestmove {best} ponder {reply}"),
        None => format!("bestmove {best}"),
    }
}

/// The board in letters, with its FEN and key.
fn drawing(position: &Position) -> String {
    let fen = position.board().to_fen();
    let mut drawing = String::new();
    for rank in fen.split(' ').next().unwrap_or_default().split('/') {
        for letter in rank.chars() {
            match letter.to_digit(10) {
                Some(empty) => drawing.push_str(&". ".repeat(empty as usize)),
                None => drawing.extend([letter, ' ']),
            }
        }
        drawing.push('\n');
    }
    format!("{drawing}fen {fen}\nkey {:016x}", position.board().keys().position)
}

#[cfg(test)]
mod tests;
