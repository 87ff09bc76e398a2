//! Arguments and outputs that several commands have.

use std::fs;

use clap::{Args, ValueEnum};

use crate::player::Pace;
use draughts_core::board::Color;
use util::Failure;

/// A side, by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Side {
    /// Moves first.
    White,
    /// Moves second.
    Black,
}

impl From<Side> for Color {
    fn from(side: Side) -> Self {
        match side {
            Side::White => Self::White,
            Side::Black => Self::Black,
        }
    }
}

/// What a move may cost.
#[derive(Debug, Args)]
pub(super) struct PaceArguments {
    /// Seconds a move [default: 1]
    #[arg(long, value_name = "SECONDS", value_parser = |text: &str| pace("movetime", text))]
    movetime: Option<Pace>,
    /// Nodes of each elector a move; equal games are then equal
    #[arg(long, value_name = "N", value_parser = |text: &str| pace("nodes", text))]
    nodes: Option<Pace>,
    /// Plies that each elector completes
    #[arg(long, value_name = "N", value_parser = |text: &str| pace("depth", text))]
    depth: Option<Pace>,
}

fn pace(key: &str, value: &str) -> Result<Pace, String> {
    let expected = match key {
        "movetime" => "seconds above 0, up to a day (86400)",
        "depth" => "1 to 100 plies",
        _ => "a whole number above 0",
    };
    Pace::default().with(key, value).ok_or_else(|| format!("expected {expected}"))
}

impl PaceArguments {
    /// All bounds together.
    pub(super) fn pace(&self) -> Pace {
        let all = [self.movetime, self.nodes, self.depth].into_iter().flatten();
        all.fold(Pace::default(), |pace, one| Pace {
            nodes: one.nodes.or(pace.nodes),
            time: one.time.or(pace.time),
            depth: one.depth.or(pace.depth),
        })
    }
}

/// Adds a game to the end of a file.
pub(super) fn add(path: &std::path::Path, pdn: &str) -> Result<(), Failure> {
    use std::io::Write as _;
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| writeln!(file, "{pdn}"))
        .map_err(|error| Failure::failed(format_args!("{}: {error}", path.display())))
}

#[cfg(test)]
mod tests {
    use super::pace;

    #[test]
    fn limit_errors_name_the_range() {
        let wrong = [("movetime", "100000", "up to a day"), ("depth", "200", "100 plies"), ("nodes", "0", "above 0")];
        for (key, value, part) in wrong {
            let error = pace(key, value).expect_err(value);
            assert!(error.contains(part), "{key}={value}: {error}");
        }
    }
}
