//! A conversation with an engine that speaks the Chess Engine Communication Protocol (xboard's,
//! version 2; Mann and Muller, *Chess Engine Communication Protocol*), or its version 1.
//!
//! The engine is kept in force mode and receives every move, so that it only searches after `go`.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use shakmaty::CastlingMode;

use super::protocol::{EngineAnswer, answer, features, move_text, names_of};
use crate::electors::{ElectorFailure, ElectorResult, EngineGame, EngineProgram, Process};
use domain::{Line, Variant};

/// The time to wait for an engine of version 1, which announces nothing. Others announce themselves
/// within milliseconds, but longer on a busy machine.
const FEATURES_TIMEOUT: Duration = Duration::from_secs(6);
/// Timeout of the start for an engine that has asked for time (`done=0`).
const START_TIMEOUT: Duration = Duration::from_secs(30);
const PING_TIMEOUT: Duration = Duration::from_secs(10);
/// The time to wait for a sign of life before the first question.
const BANNER_TIMEOUT: Duration = Duration::from_millis(300);
/// The time after which the question for its features is repeated.
const ASK_AGAIN: Duration = Duration::from_secs(1);
/// The number of moves to take back one by one; beyond it the game is sent anew.
const MOST_UNDONE: usize = 6;

pub struct CecpEngine {
    process: Process,
    features: BTreeMap<String, String>,
    options: Vec<String>,
    /// The position on its board; `None` before the first one.
    known: Option<Line>,
    pings: u32,
    introduction: Vec<String>,
}

impl CecpEngine {
    /// Starts the program, reads its features, and sets its options. `hash` (MiB) and `threads` are
    /// set if it accepts them (`feature memory`, `feature smp`).
    ///
    /// # Errors
    /// [`ElectorFailure`] if it does not start, or has no such option.
    pub fn start(program: &EngineProgram, hash: usize, threads: usize) -> ElectorResult<Self> {
        let mut engine = Self::spawn(program)?;
        // GNU Chess hangs now and then when it is started with `--xboard`.
        if !engine.hear_features()? {
            engine = Self::spawn(program)?;
            engine.hear_features()?;
        }
        for (feature, command, value) in [("memory", "memory", hash), ("smp", "cores", threads)] {
            if engine.has(feature) && !program.options.contains_key(command) {
                engine.send(&format!("{command} {value}"))?;
            }
        }
        for (name, value) in &program.options {
            let command = engine.setting(name, value);
            let unknown = || ElectorFailure(format!("{} has no option {name:?}", program.path.display()));
            engine.send(&command.ok_or_else(unknown)?)?;
        }
        Ok(engine)
    }

    fn spawn(program: &EngineProgram) -> ElectorResult<Self> {
        let process = Process::spawn(program)?;
        let introduction = program.game.as_ref().map(EngineGame::cecp_commands).unwrap_or_default();
        Ok(Self { process, features: BTreeMap::new(), options: Vec::new(), known: None, pings: 0, introduction })
    }

    /// Asks for its features; `false` if it does not answer at all. GNU Chess discards input sent
    /// before it begins to read, so the question is repeated.
    fn hear_features(&mut self) -> ElectorResult<bool> {
        let (began, mut asked) = (Instant::now(), None);
        self.send("xboard")?;
        let mut speaks = self.process.read(BANNER_TIMEOUT)?.is_some();
        loop {
            let patience = match self.features.get("done").map(String::as_str) {
                Some("0") => START_TIMEOUT,
                Some(_) => return Ok(true),
                None => FEATURES_TIMEOUT,
            };
            let left = patience.saturating_sub(began.elapsed());
            if left.is_zero() {
                return Ok(speaks);
            }
            let overheard = asked.is_none_or(|asked: Instant| asked.elapsed() >= ASK_AGAIN);
            if self.features.is_empty() && overheard {
                self.send("protover 2")?;
                asked = Some(Instant::now());
            }
            let Some(line) = self.process.read(left.min(ASK_AGAIN))? else { continue };
            speaks = true;
            let Some(announced) = line.trim().strip_prefix("feature ") else { continue };
            for (name, value) in features(announced) {
                self.send(&format!("accepted {name}"))?;
                if name == "option" {
                    let option = value.split_once(" -").map_or(value.as_str(), |(option, _)| option);
                    self.options.push(option.trim().to_owned());
                } else {
                    self.features.insert(name, value);
                }
            }
        }
    }

    /// Returns the command for an option announced by the engine, or defined by the protocol.
    fn setting(&self, name: &str, value: &str) -> Option<String> {
        if let Some(option) = self.options.iter().find(|option| option.eq_ignore_ascii_case(name)) {
            return Some(if value.is_empty() {
                format!("option {option}")
            } else {
                format!("option {option}={value}")
            });
        }
        match name {
            "memory" | "cores" => Some(format!("{name} {value}")),
            _ => {
                let tables = name.strip_prefix("egtpath ")?;
                let known = self.features.get("egt")?.split(',').any(|known| known.trim() == tables);
                known.then(|| format!("{name} {value}"))
            }
        }
    }

    fn has(&self, feature: &str) -> bool {
        self.features.get(feature).is_some_and(|value| value == "1")
    }

    /// Returns true if it announced a default feature as missing.
    fn lacks(&self, feature: &str) -> bool {
        self.features.get(feature).is_some_and(|value| value == "0")
    }

    pub fn variants(&self) -> Vec<Variant> {
        let known = |variant: &Variant| self.name_of(*variant).is_some();
        Variant::ALL.into_iter().filter(known).collect()
    }

    /// Returns its name for a variant. An engine that announces none plays chess.
    fn name_of(&self, variant: Variant) -> Option<&'static str> {
        let announced = self.features.get("variants").map_or("normal", String::as_str);
        let mut names = names_of(variant).iter().copied();
        names.find(|name| announced.split(',').any(|known| known.trim() == *name))
    }

    pub fn send(&mut self, command: &str) -> ElectorResult {
        self.process.send(command)
    }

    /// Returns its next answer about the position on its board, or `None` if none came in time.
    pub fn hear(&mut self, timeout: Duration) -> ElectorResult<Option<EngineAnswer>> {
        let text = self.process.read(timeout)?;
        self.understand(text)
    }

    pub fn hear_before(&mut self, deadline: Instant) -> ElectorResult<Option<EngineAnswer>> {
        let text = self.process.read_before(deadline)?;
        self.understand(text)
    }

    fn understand(&mut self, text: Option<String>) -> ElectorResult<Option<EngineAnswer>> {
        let Some(text) = text else { return Ok(None) };
        let heard = self.known.as_ref().map_or(EngineAnswer::Nothing, |line| answer(&text, line));
        if let EngineAnswer::Move(best) = heard {
            // It neither waits nor thinks until it is told to.
            self.send("force")?;
            // Legal, or it would not have been read.
            let _ = self.known.as_mut().map(|known| known.play(best));
        }
        Ok(Some(heard))
    }

    /// Forgets the position on its board: the next one belongs to another game, or the board is in doubt.
    pub fn forget(&mut self) {
        self.known = None;
    }

    /// Brings its board to the game's position, and waits until it has read everything, so that
    /// later answers are about later questions. Returns true if a new game has begun for it.
    ///
    /// # Errors
    /// [`ElectorFailure`] if it cannot take this position or refuses a move.
    pub fn follow(&mut self, line: &Line) -> ElectorResult<bool> {
        let known = self.known.take().filter(|known| known.variant() == line.variant() && same_start(known, line));
        let common =
            |known: &Line| known.moves().iter().zip(line.moves()).take_while(|(one, other)| one == other).count();
        let undone = known.as_ref().map(|known| known.ply() - common(known));
        let (mut board, is_new) = match (known, undone) {
            (Some(mut known), Some(undone)) if undone <= MOST_UNDONE => {
                for _ in 0..undone {
                    self.send("undo")?;
                }
                known.truncate(known.ply() - undone);
                (known, false)
            }
            _ => (self.begin(line)?, true),
        };
        for mv in &line.moves()[board.ply()..] {
            let text = move_text(&board, *mv, self.has("san"));
            self.send(&if self.has("usermove") { format!("usermove {text}") } else { text })?;
            board.play(*mv).map_err(|error| ElectorFailure(error.to_string()))?;
        }
        self.known = Some(board);
        self.settle()?;
        Ok(is_new)
    }

    fn begin(&mut self, line: &Line) -> ElectorResult<Line> {
        // A position set up by hand may also need the castling of Chess960.
        let free_castling = line.variant().is_standard_rules() && line.castling_mode() == CastlingMode::Chess960;
        let variant = if free_castling { Variant::Chess960 } else { line.variant() };
        let rules = self.name_of(variant);
        let rules = rules.ok_or_else(|| ElectorFailure(format!("the engine does not play {variant}")))?;
        ["new", "force", "easy", "post"].iter().try_for_each(|command| self.send(command))?;
        if !matches!(rules, "normal" | "chess") {
            self.send(&format!("variant {rules}"))?;
        }
        if let Some(fen) = line.start_fen() {
            if self.lacks("setboard") {
                return Err(ElectorFailure("the engine cannot be given a position (feature setboard=0)".to_owned()));
            }
            self.send(&format!("setboard {fen}"))?;
        }
        // Engines that want to know their opponent say so. One that does not know all of these commands complains of them as if
        // they were moves, and is heard out before the position is settled.
        if self.has("name") && self.has("ping") && !self.introduction.is_empty() {
            self.introduction.clone().iter().try_for_each(|command| self.send(command))?;
            ping(&mut self.process, &mut self.pings, |_| ())?;
        }
        Ok(line.prefix(0))
    }

    fn settle(&mut self) -> ElectorResult {
        let (mut refused, line) = (None, self.known.as_ref());
        let each = |text: &str| {
            if let Some(EngineAnswer::Refused(text)) = line.map(|line| answer(text, line)) {
                refused = Some(text);
            }
        };
        if self.has("ping") {
            ping(&mut self.process, &mut self.pings, each)?;
        } else {
            self.process.read_by_now(each)?;
        }
        refused.map_or(Ok(()), |text| Err(refusal(&text)))
    }

    /// Sets its time for every move and its clock; `None`: until it is told to move.
    pub fn set_move_time(&mut self, time: Option<Duration>) -> ElectorResult {
        const ENDLESS: Duration = Duration::from_secs(3600);
        let time = time.unwrap_or(ENDLESS);
        // `st` takes whole seconds, and few engines understand fractions, so the clock has the
        // exact time.
        self.send(&format!("st {}", time.as_secs().max(1)))?;
        self.set_clocks(time, time)
    }

    pub fn set_clocks(&mut self, ours: Duration, theirs: Duration) -> ElectorResult {
        let centiseconds = |time: Duration| (time.as_millis() / 10).max(1);
        if self.lacks("time") {
            return Ok(());
        }
        self.send(&format!("time {}", centiseconds(ours)))?;
        self.send(&format!("otim {}", centiseconds(theirs)))
    }
}

/// Waits until an engine has read everything; `each` gets its lines before the answer.
fn ping(process: &mut Process, pings: &mut u32, each: impl FnMut(&str)) -> ElectorResult {
    *pings += 1;
    process.send(&format!("ping {pings}"))?;
    process.read_until(&format!("pong {pings}"), PING_TIMEOUT, each)
}

pub(super) fn refusal(text: &str) -> ElectorFailure {
    ElectorFailure(format!("the engine does not follow the game: {text}"))
}

fn same_start(one: &Line, other: &Line) -> bool {
    one.start_position() == other.start_position() && one.castling_mode() == other.castling_mode()
}
