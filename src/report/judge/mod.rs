//! The judgement of positions, by complete knowledge of the built-in engine or by any UCI engine,
//! several at a time, each position once.
//!
//! A position is judged by itself, from an empty table and without the moves before it: the verdict
//! depends only on the judge, its limits and the position, so it holds in every game and after
//! every interruption. With a limit of nodes the built-in engine says the same on any machine.
//! Repetitions and the fifty-move count are not judged.

mod questions;
mod searches;

pub(crate) use questions::after;
pub use questions::{GameMaterial, position_key};
pub(crate) use searches::give_way;
pub use searches::judge_all;

use std::{collections::HashMap, path::PathBuf, rc::Rc, time::Duration};

use council::electors::{ElectorKind, ElectorSpec, EngineProgram};
use domain::{Knowledge, Limits, Line, Score, UciMove};
use shakmaty::Position as _;

use bot::journal::{JournalError, JudgementRecord, Judgements};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgeEffort {
    /// Nodes; the same on any machine for our own engine.
    Nodes(u64),
    Time(Duration),
}

impl Default for JudgeEffort {
    /// Returns an effort of some minutes for a hundred games on two cores.
    fn default() -> Self {
        Self::Nodes(20_000)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct JudgeSpec {
    /// The UCI engine; `None` is complete knowledge of our own.
    pub engine: Option<EngineProgram>,
    pub effort: JudgeEffort,
}

impl JudgeSpec {
    pub fn own(effort: JudgeEffort) -> Self {
        Self { engine: None, effort }
    }

    pub fn uci(path: PathBuf, effort: JudgeEffort) -> Self {
        Self { engine: Some(EngineProgram { path, ..EngineProgram::default() }), effort }
    }

    /// Returns the judge's identity: engine, options and effort. The built-in engine is another
    /// judge in another version of this program, and with another search or evaluation.
    pub fn name(&self) -> String {
        let effort = match self.effort {
            JudgeEffort::Nodes(nodes) => format!("{nodes} nodes"),
            JudgeEffort::Time(time) => format!("{} ms", time.as_millis()),
        };
        match &self.engine {
            None => format!("concilio {}-{}, {effort}", env!("CARGO_PKG_VERSION"), engine::short_bench().nodes),
            Some(EngineProgram { path, arguments, options, .. }) => {
                let options = options.iter().map(|(name, value)| format!(" {name}={value}"));
                let words = arguments.iter().map(|argument| format!(" {argument}")).chain(options);
                format!("{}{}, {effort}", path.display(), words.collect::<String>())
            }
        }
    }

    fn elector(&self) -> ElectorSpec {
        let hash = self.hash();
        match &self.engine {
            None => ElectorSpec::own(Knowledge::COMPLETE, hash),
            Some(program) => ElectorSpec::new("judge".into(), ElectorKind::Engine(program.clone()), hash),
        }
    }

    /// Returns the size of its table in MiB: enough for the nodes of one position, and quick to empty.
    fn hash(&self) -> usize {
        const NODES_PER_MIB: u64 = 50_000;
        match self.effort {
            JudgeEffort::Nodes(nodes) => usize::try_from(nodes / NODES_PER_MIB).unwrap_or(64).clamp(1, 64),
            JudgeEffort::Time(_) => 16,
        }
    }

    fn limits(&self) -> Limits {
        match self.effort {
            JudgeEffort::Nodes(nodes) => Limits { nodes: Some(nodes), ..Limits::default() },
            JudgeEffort::Time(time) => Limits { time: Some(time), ..Limits::default() },
        }
    }
}

/// The verdict on a position, for the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionVerdict {
    pub score: Score,
    /// The best line, the best move first; empty if the game is over.
    pub line: Vec<UciMove>,
    /// The depth of the search, plies; 0 if the rules decide.
    pub depth: u32,
}

impl PositionVerdict {
    /// Returns the verdict of the rules if they end the game: mate, stalemate, or insufficient
    /// material.
    pub fn by_the_rules(line: &Line) -> Option<Self> {
        let position = line.position();
        let score = if position.is_checkmate() {
            Score::Mate(0)
        } else if position.is_stalemate() || position.is_insufficient_material() {
            Score::Cp(0)
        } else {
            return None;
        };
        Some(Self { score, line: Vec::new(), depth: 0 })
    }

    pub fn best(&self) -> Option<UciMove> {
        self.line.first().copied()
    }

    /// Returns true if a move is the best one of the judged position: castling may be written as
    /// the king's move or as the king taking its rook.
    pub fn is_best(&self, position: &Line, uci: UciMove) -> bool {
        let played = |uci: UciMove| uci.to_move(position.position()).ok();
        self.best().is_some_and(|best| best == uci || played(best).is_some_and(|best| played(uci) == Some(best)))
    }
}

impl From<JudgementRecord> for PositionVerdict {
    fn from(JudgementRecord { score, depth, pv, .. }: JudgementRecord) -> Self {
        Self { score, line: pv, depth }
    }
}

/// One judge's verdicts, read from a journal on demand.
pub struct Verdicts {
    /// Shared by all judges of a journal.
    judgements: Rc<Judgements>,
    judge: i64,
}

impl Verdicts {
    /// Opens a judge's verdicts in a journal that can be written: a new judge is recorded.
    pub fn open(path: &std::path::Path, judge: &JudgeSpec) -> Result<Self, JournalError> {
        let judgements = Rc::new(Judgements::open(path)?);
        let judge = judgements.judge(&judge.name())?;
        Ok(Self { judgements, judge })
    }

    /// Opens every judge's verdicts in a journal, the newest judge first, with its name; read only.
    pub fn of_all_judges(path: &std::path::Path) -> Result<Vec<(String, Self)>, JournalError> {
        let judgements = Rc::new(Judgements::open_to_read(path)?);
        let of = |(judge, name)| (name, Self { judgements: Rc::clone(&judgements), judge });
        Ok(judgements.judges()?.into_iter().map(of).collect())
    }

    /// Returns the verdict on the position at the end of a line, by the rules or by the judge;
    /// `None` if it is not judged.
    pub fn of(&self, line: &Line) -> Result<Option<PositionVerdict>, JournalError> {
        if let Some(verdict) = PositionVerdict::by_the_rules(line) {
            return Ok(Some(verdict));
        }
        Ok(self.judgements.known(self.judge, position_key(line))?.map(PositionVerdict::from))
    }

    fn keep(&self, records: &[JudgementRecord]) -> Result<(), JournalError> {
        self.judgements.keep(self.judge, records)
    }
}

/// Verdicts on the positions of one game, by their keys.
pub type GameVerdicts = HashMap<u64, PositionVerdict>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_search_is_another_judge() {
        let name = JudgeSpec::own(JudgeEffort::Nodes(300)).name();
        let nodes = engine::short_bench().nodes;
        assert_eq!(name, format!("concilio {}-{nodes}, 300 nodes", env!("CARGO_PKG_VERSION")));
        let foreign = JudgeSpec::uci("stockfish".into(), JudgeEffort::Nodes(300)).name();
        assert_eq!(foreign, "stockfish, 300 nodes");
    }
}
