//! Arguments and outputs that several commands have.

use std::{convert::Infallible, fs};

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
    /// Limit of a move: movetime=0.5 (seconds), nodes=20000 (of each elector; equal games are then equal) or depth=8 (plies); may be given several times [default: movetime=1]
    #[arg(long, value_name = "PACE", value_parser = move_limit)]
    pace: Vec<Pace>,
    #[arg(long = "nodes", hide = true, aliases = ["movetime", "depth"], value_parser = replaced_by_pace)]
    _replaced: Option<Infallible>,
}

/// Reads the pace of a single move.
pub(super) fn move_limit(text: &str) -> Result<Pace, String> {
    let pace = text.parse().ok().filter(|pace| !matches!(pace, Pace::Clock { .. }));
    pace.ok_or_else(|| format!("{text:?}: expected movetime=SECONDS, nodes=N or depth=PLIES"))
}

/// Refuses the flags `--nodes`, `--movetime` and `--depth` of earlier versions.
pub(crate) fn replaced_by_pace(_: &str) -> Result<Infallible, String> {
    Err("replaced by --pace nodes=N, --pace movetime=SECONDS and --pace depth=PLIES".to_owned())
}

impl PaceArguments {
    /// All bounds together.
    pub(super) fn limits(&self) -> Limits {
        self.pace.iter().map(|pace| pace.limits()).fold(Limits::default(), |limits, one| Limits {
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

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        pace: PaceArguments,
    }

    fn limits(line: &str) -> Result<Limits, String> {
        let cli = Cli::try_parse_from(line.split(' ')).map_err(|error| error.to_string())?;
        Ok(cli.pace.limits())
    }

    #[test]
    fn limits_of_a_move_add_up() {
        assert_eq!(limits("draughts"), Ok(Limits::default()));
        let both = Limits { nodes: Some(500), depth: Some(8), ..Limits::default() };
        assert_eq!(limits("draughts --pace nodes=500 --pace depth=8"), Ok(both));
        for (line, part) in [
            ("draughts --pace tc=60+1", "movetime=SECONDS"),
            ("draughts --pace nodes=0", "movetime=SECONDS"),
            ("draughts --nodes 500", "--pace nodes=N"),
            ("draughts --movetime 0.5", "--pace movetime=SECONDS"),
            ("draughts --depth 8", "--pace depth=PLIES"),
        ] {
            let error = limits(line).expect_err(line);
            assert!(error.contains(part), "{line}: {error}");
        }
    }
}
