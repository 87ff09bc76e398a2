//! UCI as text, in both directions. Pure; any output of an engine is tolerated.

use std::{fmt::Write as _, time::Duration};

use crate::electors::Task;
use domain::{Bound, Color, ElectorName, Limits, Line, Proposal, Score, UciMove, moves_text};

/// An iteration as an engine reports it, in a UCI `info` line or a CECP line of thinking. Fields that the line lacks keep
/// their defaults.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Info {
    pub depth: u32,
    /// The deepest line searched, in plies.
    pub selective_depth: u32,
    /// The value, from the side of the player to move.
    pub score: Option<Score>,
    pub bound: Bound,
    pub nodes: u64,
    /// The principal variation: of UCI as the engine writes its moves, perhaps illegal; of CECP its legal beginning.
    pub pv: Vec<UciMove>,
}

impl Info {
    pub(crate) fn of(proposal: &Proposal) -> Self {
        let Proposal { depth, selective_depth, score, nodes, .. } = *proposal;
        Self { depth, selective_depth, score: Some(score), bound: Bound::Exact, nodes, pv: Vec::new() }
    }

    pub(crate) fn proposal(self, task: &Task, elector: &ElectorName, best: UciMove, time: Duration) -> Proposal {
        Proposal {
            search: task.id.clone(),
            elector: elector.clone(),
            machine: None,
            best,
            score: self.score.unwrap_or(Score::Cp(0)),
            bound: self.bound,
            depth: self.depth,
            selective_depth: self.selective_depth.max(self.depth),
            root_moves_done: 0,
            nodes: self.nodes,
            time,
            pv: self.pv,
        }
    }
}

/// Reads an `info` line; `None` for any other line, and for lines of lesser variations (`multipv` above 1).
pub fn info(line: &str) -> Option<Info> {
    let mut words = line.split_ascii_whitespace().peekable();
    if words.next() != Some("info") {
        return None;
    }
    let mut info = Info::default();
    while let Some(word) = words.next() {
        match word {
            "depth" => info.depth = number(words.next()),
            "seldepth" => info.selective_depth = number(words.next()),
            "nodes" => info.nodes = number(words.next()),
            "multipv" if words.next() != Some("1") => return None,
            "score" => match (words.next(), words.next().and_then(|value| value.parse().ok())) {
                (Some("cp"), Some(centipawns)) => info.score = Some(Score::Cp(centipawns)),
                (Some("mate"), Some(moves)) => info.score = Some(Score::Mate(moves)),
                _ => (),
            },
            "lowerbound" => info.bound = Bound::Lower,
            "upperbound" => info.bound = Bound::Upper,
            "pv" => {
                while let Some(uci) = words.peek().and_then(|text| text.parse().ok()) {
                    words.next();
                    info.pv.push(uci);
                }
            }
            "string" => break,
            _ => (),
        }
    }
    Some(info)
}

fn number<N: std::str::FromStr + Default>(word: Option<&str>) -> N {
    word.and_then(|word| word.parse().ok()).unwrap_or_default()
}

/// Reads a `bestmove` line; the inner `None` is an engine without a move (`(none)`, `0000`, nonsense).
pub fn best_move(line: &str) -> Option<Option<UciMove>> {
    let mut words = line.split_ascii_whitespace();
    (words.next() == Some("bestmove"))
        .then(|| words.next().and_then(|text| text.parse().ok()).filter(|best| *best != UciMove::Null))
}

/// Reads an `option` line: the option's name and, for a `combo`, the values it takes.
pub fn option(line: &str) -> Option<(String, Vec<String>)> {
    let rest = line.trim().strip_prefix("option name ")?;
    let (name, kind) = rest.split_once(" type ")?;
    let values = kind.split(" var ").skip(1).map(|value| value.trim().to_owned()).collect();
    Some((name.trim().to_owned(), values))
}

pub fn position(line: &Line) -> String {
    let mut command = match line.start_fen() {
        Some(fen) => format!("position fen {fen}"),
        None => "position startpos".to_owned(),
    };
    if line.ply() > 0 {
        let _ = write!(command, " moves {}", moves_text(line.moves()));
    }
    command
}

pub fn go(task: &Task) -> String {
    let mut command = go_within(&task.limits);
    // Some engines take everything after `searchmoves` for a move, so it comes last.
    if !task.root_moves.is_empty() {
        let _ = write!(command, " searchmoves {}", moves_text(&task.root_moves));
    }
    command
}

pub fn go_within(limits: &Limits) -> String {
    let mut command = "go".to_owned();
    if let Some(depth) = limits.depth {
        let _ = write!(command, " depth {depth}");
    }
    if let Some(nodes) = limits.nodes {
        let _ = write!(command, " nodes {nodes}");
    }
    if let Some(time) = limits.time {
        let _ = write!(command, " movetime {}", time.as_millis().max(1));
    } else if let Some(clocks) = limits.clocks {
        for (letter, clock) in [('w', clocks.of(Color::White)), ('b', clocks.of(Color::Black))] {
            let (time, increment) = (clock.remaining.as_millis(), clock.increment.as_millis());
            let _ = write!(command, " {letter}time {time} {letter}inc {increment}");
        }
    } else if limits.depth.is_none() && limits.nodes.is_none() {
        command.push_str(" infinite");
    }
    command
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn info_parts_come_in_any_order() {
        let line = "info multipv 1 nodes 4711 score mate -3 upperbound depth 12 seldepth 20 nps 1 pv e2e4 e7e5 a7a8q";
        let info = info(line).expect("an info line");
        assert_eq!((info.depth, info.selective_depth, info.nodes), (12, 20, 4711));
        assert_eq!((info.score, info.bound), (Some(Score::Mate(-3)), Bound::Upper));
        assert_eq!(info.pv.len(), 3);
        let early = super::info("info depth 12 pv e2e4 e7e5 score cp 31").expect("an info line");
        assert_eq!((early.score, early.pv.len()), (Some(Score::Cp(31)), 2));
        assert_eq!(super::info("info depth 3 score cp 10 pv e2e4 multipv 2"), None);
    }

    #[test]
    fn other_variations_are_ignored() {
        assert_eq!(info("info depth 3 multipv 2 score cp 10 pv e2e4"), None);
        assert_eq!(info("Stockfish 15.1 by the Stockfish developers"), None);
        assert!(info("info string pv e2e4").expect("an info line").pv.is_empty());
    }

    #[test]
    fn missing_best_move_is_detected() {
        assert_eq!(best_move("bestmove (none)"), Some(None));
        assert_eq!(best_move("bestmove e2e4 ponder e7e5"), Some("e2e4".parse().ok()));
        assert_eq!(best_move("info depth 1"), None);
    }

    #[test]
    fn combo_option_values_are_listed() {
        let line = "option name UCI_Variant type combo default chess var chess var atomic var 3check";
        let (name, values) = option(line).expect("an option");
        assert_eq!((name.as_str(), values), ("UCI_Variant", vec!["chess".into(), "atomic".into(), "3check".into()]));
    }

    proptest! {
        #[test]
        fn no_line_of_an_engine_panics(line in ".{0,200}") {
            let _ = (info(&line), best_move(&line), option(&line));
            let _ = info(&format!("info {line}"));
        }
    }
}
