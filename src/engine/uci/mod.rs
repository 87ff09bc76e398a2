//! The engine alone behind the Universal Chess Interface, and the [`session`](serve) that it shares
//! with the council.
//!
//! A search has a thread of its own, and its command waits for nothing. Wrong input gets an
//! `info string` with the problem and changes nothing.

mod go;
mod options;
mod session;

use std::{
    fmt::Display,
    io::{BufRead, Write},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};

use super::{Engine, EngineOptions, Iteration, Move, Position, Score, ScoreBound};
pub use go::{Go, LEAST_DEPTH, Stopwatch, searchable};
use options::Options;
pub use options::check_hash;
pub use session::{Output, Player, serve};

/// Serves UCI with the engine alone until `quit` or the end of `input`; a bounded search is finished first.
pub fn run(input: impl BufRead, output: impl Write + Send + 'static) {
    let output = Output::new(output);
    serve(input, &output, &mut EngineAlone::new(Arc::clone(&output)));
}

/// The engine with its position and the signals of its newest search; a search has a clone.
#[derive(Clone)]
struct EngineAlone {
    output: Arc<Output>,
    options: Options,
    position: Position,
    engine: Arc<Mutex<Engine>>,
    stop: Arc<AtomicBool>,
    /// True if the last iteration would have been enough, were the clock running.
    is_enough: Arc<AtomicBool>,
    /// The most that the search may take of its clock.
    hard: Option<Duration>,
}

impl Player for EngineAlone {
    const NAME: &'static str = concat!("concilio ", env!("CARGO_PKG_VERSION"));

    fn options(&self) -> Vec<String> {
        Options::describe()
    }

    fn new_game(&mut self) {
        self.engine().new_game();
    }

    fn set_option(&mut self, name: &str, value: &str) -> Result<(), String> {
        if name.eq_ignore_ascii_case("Clear Hash") {
            self.new_game();
            return Ok(());
        }
        self.options.set(name, value)?;
        self.engine().set_options(self.options.engine.clone());
        Ok(())
    }

    fn set_position(&mut self, start: &str, moves: &str) -> Result<(), String> {
        let position = Position::from_line(start, self.options.chess960, moves.split_ascii_whitespace());
        self.position = position.map_err(|error| error.to_string())?;
        Ok(())
    }

    fn position(&self) -> Result<Position, String> {
        Ok(self.position.clone())
    }

    fn go(&mut self, arguments: &str) {
        let go = Go::read(arguments, |text| self.position.parse_move(text));
        let turn = self.position.board().turn();
        self.output.begin(&go, go.is_bounded(turn));
        let choices =
            if go.search_moves.is_empty() { self.position.legal_moves().len() } else { go.search_moves.len() };
        let stopwatch = Stopwatch::new(&go, turn, self.options.move_overhead).for_only_move(choices == 1);
        (self.stop, self.is_enough, self.hard) = (Arc::default(), Arc::default(), stopwatch.hard());
        let search = self.clone();
        std::thread::spawn(move || {
            // A search that panics must be answered too: the session waits for it.
            let found = catch_unwind(AssertUnwindSafe(|| search.search(&go, stopwatch)));
            search.output.answer(answer(&search.position, found.ok().flatten().as_ref()));
        });
    }

    fn answer_now(&mut self) {
        self.stop.store(true, SeqCst);
    }

    fn ponder_hit(&mut self) {
        if self.is_enough.load(SeqCst) {
            return self.answer_now();
        }
        let Some(hard) = self.hard else { return };
        let (output, stop) = (Arc::clone(&self.output), Arc::clone(&self.stop));
        let timer = std::thread::Builder::new().spawn(move || {
            output.wait(hard);
            stop.store(true, SeqCst);
        });
        // If the search uses all threads that the system gives, the move is made now.
        if timer.is_err() {
            self.answer_now();
        }
    }

    fn engine_options(&self) -> EngineOptions {
        self.options.engine.clone()
    }
}

impl EngineAlone {
    fn new(output: Arc<Output>) -> Self {
        let options = Options::default();
        let engine = Arc::new(Mutex::new(Engine::new(options.engine.clone())));
        let position = Position::from_line("startpos", false, []).unwrap_or_else(|error| unreachable!("{error}"));
        Self { output, options, position, engine, stop: Arc::default(), is_enough: Arc::default(), hard: None }
    }

    /// Returns the engine, after a panic another one.
    fn engine(&self) -> MutexGuard<'_, Engine> {
        self.engine.lock().unwrap_or_else(|panicked| {
            self.engine.clear_poison();
            let mut engine = panicked.into_inner();
            *engine = Engine::new(self.options.engine.clone());
            engine
        })
    }

    fn search(&self, go: &Go<Move>, mut stopwatch: Stopwatch) -> Option<Iteration> {
        let mut limits = go.limits;
        if !go.ponder {
            let fixed = limits.time.map(|time| searchable(time, self.options.move_overhead));
            limits.time = fixed.into_iter().chain(stopwatch.hard()).min();
        }
        let mut told = None;
        let mut report = |iteration: &Iteration| {
            self.output.say(describe(&self.position, iteration));
            if iteration.rank > 1 {
                return;
            }
            told = Some(essence(iteration));
            if iteration.is_whole() {
                let enough = stopwatch.is_enough(iteration);
                self.is_enough.store(enough, SeqCst);
                if enough && !self.output.is_pondering() {
                    self.stop.store(true, SeqCst);
                }
            }
        };
        let result = self.engine().search(&self.position, &go.search_moves, &limits, &self.stop, &mut report);
        match &result {
            None => self.output.say(over(self.position.board().in_check())),
            Some(result) if told.as_ref() == Some(&essence(result)) => {}
            // Changes by an unfinished iteration have not been reported yet.
            Some(result) => self.output.say(describe(&self.position, result)),
        }
        result
    }
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

#[cfg(test)]
mod tests;
