//! Arguments and outputs that several commands have.

use std::fs;

use clap::{
    Args,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

use domain::{Limits, Pace};
use draughts_core::board::Color;
use util::Failure;

/// Reads a side by name.
pub(super) fn side() -> impl TypedValueParser<Value = Color> {
    let [white, black] =
        [("white", "Moves first"), ("black", "Moves second")].map(|(name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new([white, black]).map(|name| if name == "white" { Color::White } else { Color::Black })
}

/// The limits of a move.
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
    format!("{key}={value}").parse()
}

impl PaceArguments {
    /// All bounds together.
    pub(super) fn limits(&self) -> Limits {
        let all = [self.movetime, self.nodes, self.depth].into_iter().flatten().map(Pace::limits);
        all.fold(Limits::default(), |limits, one| Limits {
            nodes: one.nodes.or(limits.nodes),
            time: one.time.or(limits.time),
            depth: one.depth.or(limits.depth),
            ..limits
        })
    }
}

pub(super) fn add(path: &std::path::Path, pdn: &str) -> Result<(), Failure> {
    use std::io::Write as _;
    let file = fs::OpenOptions::new().create(true).append(true).open(path);
    file.and_then(|mut file| writeln!(file, "{pdn}"))
        .map_err(|error| Failure::failed(format_args!("{}: {error}", path.display())))
}
