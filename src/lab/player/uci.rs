//! Anybody's UCI engine.
//!
//! Unlike an elector of the pool, it is judged here: what it says at last counts, legal or not, and whatever goes wrong is
//! its own loss.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{ChosenMove, MatchPlayer, MoveRequest, Pace, PlayerFailure};
use chess::{Limits, Phase, SearchId, Task};
use council::pool::{EngineProgram, Process, uci::protocol};

/// Engines may load networks and tables when they start.
const START_TIMEOUT: Duration = Duration::from_secs(20);

pub(super) struct UciPlayer {
    process: Process,
}

impl UciPlayer {
    /// Starts the program and sets its options. `defaults` are set where the program has them.
    pub(super) fn start(program: &EngineProgram, defaults: &[(&str, String)]) -> Result<Self, PlayerFailure> {
        let mut process = Process::spawn(program)?;
        process.send("uci")?;
        let mut known = BTreeMap::new();
        process.read_until("uciok", START_TIMEOUT, |line| {
            if let Some((name, _)) = protocol::option(line) {
                known.insert(name.to_lowercase(), name);
            }
        })?;
        for (name, value) in defaults {
            if let Some(name) = known.get(&name.to_lowercase()) {
                process.send(&format!("setoption name {name} value {value}"))?;
            }
        }
        for (name, value) in &program.options {
            let unknown = || PlayerFailure::Failed(format!("{} has no option {name:?}", program.path.display()));
            let name = known.get(&name.to_lowercase()).ok_or_else(unknown)?;
            process.send(&format!("setoption name {name} value {value}"))?;
        }
        let mut player = Self { process };
        player.wait_until_ready()?;
        Ok(player)
    }

    fn wait_until_ready(&mut self) -> Result<(), PlayerFailure> {
        self.process.send("isready")?;
        Ok(self.process.read_until("readyok", START_TIMEOUT, |_| ())?)
    }
}

impl MatchPlayer for UciPlayer {
    fn new_game(&mut self) -> Result<(), PlayerFailure> {
        self.process.send("ucinewgame")?;
        self.wait_until_ready()
    }

    fn choose(&mut self, turn: &MoveRequest) -> Result<ChosenMove, PlayerFailure> {
        let limits = match turn.pace {
            Pace::Clock { .. } => Limits { clocks: turn.clocks, ..Limits::default() },
            Pace::MoveTime(time) => Limits { time: Some(time), ..Limits::default() },
            Pace::Nodes(nodes) => Limits { nodes: Some(nodes), ..Limits::default() },
        };
        let id = SearchId { game: "lab".into(), ply: turn.line.ply(), serial: 0, phase: Phase::First };
        let task = Task { id, line: turn.line.clone(), root_moves: Vec::new(), limits };
        self.process.send(&protocol::position(&task.line))?;
        self.process.send(&protocol::go(&task))?;
        let deadline = Instant::now() + turn.patience();
        let (mut score, mut depth, mut nodes) = (None, 0, 0);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Some(line) = self.process.read(left)? else {
                return Err(PlayerFailure::Failed("hangs".to_owned()));
            };
            if let Some(best) = protocol::best_move(&line) {
                let best = best.ok_or_else(|| PlayerFailure::Illegal(line.clone()))?;
                return Ok(ChosenMove { best, score, depth, nodes });
            }
            if let Some(info) = protocol::info(&line) {
                score = info.score.or(score);
                depth = depth.max(info.depth);
                nodes = nodes.max(info.nodes);
            }
        }
    }
}
