//! A session of the Universal Chess Interface, for the engine alone and for a council.
//!
//! ```text
//! commands ──▶ serve ──▶ Player ──▶ search, on other threads
//! answers  ◀── Output ◀── reports ─────┘
//! ```
//! [`Output`] has the state of the running search, and holds its answer back while the protocol
//! demands it. Searches write to it themselves, so that no answer waits for another thread.

use std::{
    fmt::Display,
    io::{BufRead, Write},
    str::FromStr,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{
    go::Go,
    options::{Options, name_and_value},
};
use crate::{Board, EngineOptions, Position, bench_evaluation, bench_with, board::perft, breakdown};

/// The finder of moves behind the protocol. Commands that change its state come between searches.
pub trait Player {
    const NAME: &'static str;

    /// Returns the `option` lines.
    fn options(&self) -> Vec<String>;

    /// Waits until a search can begin.
    fn prepare(&mut self) -> Result<(), String> {
        Ok(())
    }

    fn new_game(&mut self);
    fn set_option(&mut self, name: &str, value: &str) -> Result<(), String>;

    /// Sets up `start`, a FEN or `startpos`, and plays `moves` from there.
    fn set_position(&mut self, start: &str, moves: &str) -> Result<(), String>;

    fn position(&self) -> Result<Position, String>;

    /// Begins a search: calls [`Output::begin`] now, and [`Output::answer`] at its end.
    fn go(&mut self, arguments: &str);

    /// Ends the running search, if there is one.
    fn answer_now(&mut self);

    /// Starts the clock of the running search: the expected move was played.
    fn ponder_hit(&mut self);

    /// Returns the options of the engine that `eval` and `bench` show.
    fn engine_options(&self) -> EngineOptions {
        Options::default().engine
    }
}

/// The receiver of all lines, with the state of the running search.
pub struct Output {
    state: Mutex<State>,
    answered: Condvar,
}

struct State {
    writer: Box<dyn Write + Send>,
    debug: bool,
    search: Option<Search>,
}

struct Search {
    infinite: bool,
    pondering: bool,
    /// True if it ends by itself once it is not for pondering.
    bounded: bool,
    /// An answer that must not be sent yet.
    held: Option<String>,
}

impl Output {
    pub fn new(writer: impl Write + Send + 'static) -> Arc<Self> {
        let state = State { writer: Box::new(writer), debug: false, search: None };
        Arc::new(Self { state: Mutex::new(state), answered: Condvar::new() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn say(&self, text: impl Display) {
        self.lock().say(text);
    }

    /// Returns true if `debug` is on.
    pub fn debugs(&self) -> bool {
        self.lock().debug
    }

    /// Notes that a search begins, and names the words of `go` that were not understood.
    pub fn begin<M>(&self, go: &Go<M>, bounded: bool) {
        let mut state = self.lock();
        if let Some(complaint) = go.complaint() {
            state.say(format_args!("info string {complaint}"));
        }
        state.search = Some(Search { infinite: go.infinite, pondering: go.ponder, bounded, held: None });
    }

    /// Sends the last lines of the running search, as soon as they may be sent.
    pub fn answer(&self, text: String) {
        self.update(|search| search.held = Some(text));
    }

    pub fn is_pondering(&self) -> bool {
        self.has_search(|search| search.pondering)
    }

    /// Waits for the answer of the running search, no longer than `time`.
    pub fn wait(&self, time: Duration) {
        drop(self.answered.wait_timeout_while(self.lock(), time, |state| state.search.is_some()));
    }

    fn has_search(&self, is_such: impl FnOnce(&Search) -> bool) -> bool {
        self.lock().search.as_ref().is_some_and(is_such)
    }

    /// Changes the running search, and sends its answer if nothing holds it back.
    fn update(&self, change: impl FnOnce(&mut Search)) {
        let mut state = self.lock();
        let Some(search) = &mut state.search else { return };
        change(search);
        if search.infinite || search.pondering {
            return;
        }
        if let Some(answer) = search.held.take() {
            state.search = None;
            state.say(answer);
            self.answered.notify_all();
        }
    }
}

impl State {
    fn say(&mut self, text: impl Display) {
        // The reader may have gone; the session ends with its input.
        let _ = writeln!(self.writer, "{text}").and_then(|()| self.writer.flush());
    }
}

/// Serves UCI until `quit` or the end of `input`; a bounded search is finished first.
pub fn serve(input: impl BufRead, output: &Output, player: &mut impl Player) {
    // An input that cannot be read any more has ended.
    for line in input.split(b'\n').map_while(Result::ok) {
        match obey(String::from_utf8_lossy(&line).trim(), output, player) {
            Ok(true) => {}
            Ok(false) => return,
            Err(problem) => output.say(format_args!("info string {problem}")),
        }
    }
    // No further command can stop an endless search.
    if output.has_search(|search| search.infinite || search.pondering || !search.bounded) {
        stop(output, player);
    }
    output.wait(Duration::MAX);
}

/// Executes one command; a faulty one changes nothing. Returns false after `quit`.
fn obey(line: &str, output: &Output, player: &mut impl Player) -> Result<bool, String> {
    let (command, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    if matches!(command, "ucinewgame" | "setoption" | "position" | "go" | "perft" | "bench" | "quit") {
        stop(output, player);
        output.wait(Duration::MAX);
    }
    match command {
        "" | "register" => {}
        "uci" => identify(output, player),
        "debug" => output.lock().debug = on_or_off(rest)?,
        "isready" => {
            // During a search the answer is immediate.
            let ready = if output.has_search(|_| true) { Ok(()) } else { player.prepare() };
            output.say("readyok");
            ready?;
        }
        "stop" => stop(output, player),
        "ponderhit" => {
            if output.is_pondering() {
                output.update(|search| search.pondering = false);
                player.ponder_hit();
            }
        }
        "quit" => return Ok(false),
        "ucinewgame" => player.new_game(),
        "setoption" => {
            let (name, value) = name_and_value(rest)?;
            player.set_option(name, value)?;
        }
        "position" => {
            let (start, moves) = start_and_moves(rest)?;
            player.set_position(start, moves)?;
        }
        "go" => match rest.strip_prefix("perft") {
            Some(depth) => count(&player.position()?, depth, output)?,
            None => player.go(rest),
        },
        "perft" => count(&player.position()?, rest, output)?,
        "bench" => bench(rest, player.engine_options(), output)?,
        "eval" => {
            let table = breakdown(player.position()?.board(), player.engine_options().own_net());
            output.say(table.to_string().trim_end());
        }
        "d" => output.say(drawing(player.position()?.board())),
        other => return Err(format!("unknown command {other:?}")),
    }
    Ok(true)
}

fn stop(output: &Output, player: &mut impl Player) {
    output.update(|search| (search.infinite, search.pondering) = (false, false));
    player.answer_now();
}

fn identify<P: Player>(output: &Output, player: &P) {
    output.say(format_args!("id name {}\nid author the concilio authors", P::NAME));
    for line in player.options() {
        output.say(line);
    }
    output.say("uciok");
}

fn on_or_off(text: &str) -> Result<bool, String> {
    match text {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("debug {text:?} (accepted: on, off)")),
    }
}

/// Splits the arguments of `position` into `startpos` or a FEN, and the moves.
fn start_and_moves(text: &str) -> Result<(&str, &str), String> {
    let (place, moves) = text.split_once("moves").unwrap_or((text, ""));
    match place.split_once(char::is_whitespace).map_or((place, ""), |(kind, fen)| (kind, fen.trim())) {
        ("startpos", _) => Ok(("startpos", moves)),
        ("fen", fen) if !fen.is_empty() => Ok((fen, moves)),
        _ => Err(format!("position {place:?} (accepted: startpos or fen FEN, then moves ...)")),
    }
}

// --- Commands beside UCI's ---------------------------------------------------------------------------------------------

/// Counts the leaves below every move, `depth` plies deep.
fn count(position: &Position, depth: &str, output: &Output) -> Result<(), String> {
    let depth: u32 = number("perft", depth)?;
    let board = position.board();
    let began = Instant::now();
    let mut total = 0;
    for mv in board.legal_moves().into_iter().filter(|_| depth > 0) {
        let leaves = perft(&board.after(mv), depth - 1);
        output.say(format_args!("{}: {leaves}", position.move_to_uci(mv)));
        total += leaves;
    }
    let seconds = began.elapsed().as_secs_f64().max(1e-9);
    output.say(format_args!("{total} leaves, {:.1} million a second", total as f64 / seconds / 1e6));
    Ok(())
}

fn bench(arguments: &str, options: EngineOptions, output: &Output) -> Result<(), String> {
    if arguments == "eval" {
        for (knowledge, time) in bench_evaluation() {
            output.say(format_args!("{knowledge:8} {:4} ns an evaluation", time.as_nanos()));
        }
        return Ok(());
    }
    let (depth, threads) = arguments.split_once(' ').unwrap_or((arguments, "1"));
    let depth = if depth.is_empty() { None } else { Some(number("bench", depth)?) };
    let threads = number::<usize>("bench", threads)?.clamp(1, 512);
    // The default gives the known signature; another knowledge or net its own.
    let options = EngineOptions { threads, ..options };
    output.say(bench_with(&options, depth, &mut |line| output.say(line)));
    Ok(())
}

fn number<N: FromStr>(name: &str, text: &str) -> Result<N, String> {
    text.trim().parse().map_err(|_| format!("{name}: {text:?} is no number in range"))
}

/// The board in letters, with its FEN and key.
fn drawing(board: &Board) -> String {
    let fen = board.to_fen();
    let mut drawing = String::new();
    for (row, rank) in fen.split(' ').next().unwrap_or_default().split('/').enumerate() {
        drawing.push_str(&(8 - row).to_string());
        for letter in rank.chars() {
            match letter.to_digit(10) {
                Some(empty) => drawing.push_str(&" .".repeat(empty as usize)),
                None => drawing.extend([' ', letter]),
            }
        }
        drawing.push('\n');
    }
    let side = ["white", "black"][board.turn().index()];
    format!("{drawing}  a b c d e f g h\n{side} to move\nfen {fen}\nkey {:016x}", board.keys().position)
}
