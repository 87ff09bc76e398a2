//! A conversation with an engine that speaks UCI (Kahlen and Meyer-Kahlen, *Universal Chess Interface*).

use std::{collections::BTreeMap, time::Duration};

use shakmaty::CastlingMode;

use super::protocol;
use crate::electors::{ElectorFailure, ElectorResult, EngineProgram, Process};

/// Engines may load networks and tables when they start.
const START_TIMEOUT: Duration = Duration::from_secs(20);

const OPPONENT: &str = "UCI_Opponent";

pub(super) const CHESS960: &str = "UCI_Chess960";

pub struct UciEngine {
    pub process: Process,
    /// Keyed by names in lower case, because UCI ignores case; with the values of a `combo`.
    options: BTreeMap<String, Vec<String>>,
}

impl UciEngine {
    /// Starts the program, reads its options, and sets them. `hash` (MiB) and `threads` are set if
    /// it has such options.
    ///
    /// # Errors
    /// [`ElectorFailure`] if it does not start, or has no such option.
    pub fn start(program: &EngineProgram, hash: usize, threads: usize) -> ElectorResult<Self> {
        let mut process = Process::spawn(program)?;
        process.send("uci")?;
        let mut options = BTreeMap::new();
        process.read_until("uciok", START_TIMEOUT, |line| {
            if let Some((option, values)) = protocol::option(line) {
                options.insert(option.to_lowercase(), values);
            }
        })?;
        let mut engine = Self { process, options };
        for (option, value) in [("Hash", hash), ("Threads", threads)] {
            if engine.has_option(option) {
                engine.set(option, &value.to_string())?;
            }
        }
        // Who knows the opponent may play for more than a draw.
        if let Some(game) = &program.game
            && engine.has_option(OPPONENT)
        {
            engine.set(OPPONENT, &game.uci_opponent())?;
        }
        for (option, value) in &program.options {
            if !engine.has_option(option) {
                return Err(ElectorFailure(format!("{} has no option {option:?}", program.path.display())));
            }
            engine.set(option, value)?;
        }
        engine.wait_until_ready()?;
        Ok(engine)
    }

    pub(super) fn has_option(&self, name: &str) -> bool {
        self.options.contains_key(&name.to_lowercase())
    }

    /// The values that a `combo` takes; nothing for any other option.
    pub(super) fn values_of(&self, name: &str) -> &[String] {
        self.options.get(&name.to_lowercase()).map_or(&[], Vec::as_slice)
    }

    /// Sets the castling of Chess960; `false` if it only knows the usual one.
    pub fn set_castling(&mut self, castling: CastlingMode) -> ElectorResult<bool> {
        let chess960 = castling == CastlingMode::Chess960;
        if !self.has_option(CHESS960) {
            return Ok(!chess960);
        }
        self.set(CHESS960, if chess960 { "true" } else { "false" })?;
        Ok(true)
    }

    pub(super) fn set(&mut self, name: &str, value: &str) -> ElectorResult {
        self.process.send(&format!("setoption name {name} value {value}"))
    }

    /// # Errors
    /// [`ElectorFailure`] if it has ended, or is silent for twenty seconds.
    pub fn new_game(&mut self) -> ElectorResult {
        self.process.send("ucinewgame")?;
        self.wait_until_ready()
    }

    /// Waits until it has processed all commands.
    ///
    /// # Errors
    /// [`ElectorFailure`] if it has ended, or is silent for twenty seconds.
    pub(super) fn wait_until_ready(&mut self) -> ElectorResult {
        self.process.send("isready")?;
        self.process.read_until("readyok", START_TIMEOUT, |_| ())
    }
}
