//! Arguments that several lab commands share: positions, concurrency, folders, councils.

use std::{
    fs, io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::Args;
use serde::Serialize;

use super::{
    Failure,
    progress::{build, write},
};
use crate::{
    epd::BadLine,
    openings::OpeningBook,
    positions::Oracle,
    reproduce::suites,
    searches::Searches,
    state::fnv1a,
    suite::{Suite, TestPosition},
};
use council::{CouncilSettings, ElectorSettings, Roster, electors::ElectorSpec};
pub(super) use experiment::progress::{experiment, or_each_core};

/// Maximum number of unreadable lines that are shown.
const BAD_LINES_SHOWN: usize = 10;

/// Returns the openings of a file, each game cut after `plies` plies, or the built-in ones.
pub(super) fn openings(book: Option<&Path>, plies: usize, seed: u64) -> Result<OpeningBook, Failure> {
    match book {
        Some(path) => OpeningBook::open(path, plies, seed).map_err(Failure::usage),
        None => Ok(OpeningBook::built_in(seed)),
    }
}

/// Concurrency of searches and folder of their results.
#[derive(Debug, Args)]
pub(super) struct SearchArguments {
    /// Searches or games at once [default: one for each core]
    #[arg(long, value_name = "N")]
    concurrency: Option<NonZeroUsize>,
    /// Folder of searches and games
    #[arg(long, default_value = "data/lab", value_name = "FOLDER")]
    pub(super) data: PathBuf,
}

impl SearchArguments {
    pub(super) fn workers(&self) -> NonZeroUsize {
        or_each_core(self.concurrency)
    }

    pub(super) fn ours(&self) -> Result<Searches, Failure> {
        Searches::open(&self.data.join(format!("searches-{}.jsonl", build())), self.workers())
    }

    /// Returns the stored searches of `oracle`; without an oracle, nothing is stored.
    pub(super) fn theirs(&self, oracle: Option<&Path>) -> Result<Searches, Failure> {
        Ok(match oracle {
            Some(path) => {
                let name = format!("oracle-{:016x}.jsonl", fnv1a(path.to_string_lossy().as_bytes()));
                Searches::open(&self.data.join(name), self.workers())?
            }
            None => Searches::in_memory(self.workers()),
        })
    }
}

/// Positions that are searched: which ones, in which order, how many at once, and where the searches are kept.
#[derive(Debug, Args)]
pub(super) struct SearchedPositions {
    /// Take every Nth position of a game
    #[arg(long, default_value_t = 10, value_name = "PLIES")]
    every: usize,
    /// Take N positions, spread over the suites
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
    /// Random seed of ties, the bootstrap and the order of games
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub(super) seed: u64,
    #[command(flatten)]
    pub(super) searching: SearchArguments,
}

impl SearchedPositions {
    /// Returns the sample of the suites in `paths`; without `paths`, of the built-in suites.
    pub(super) fn of(&self, paths: &[PathBuf]) -> Result<Vec<TestPosition>, Failure> {
        Ok(spread(self.all(paths)?, self.limit))
    }

    /// Returns the sample's positions with known best moves, for runs without an oracle; prints the
    /// number of the others.
    pub(super) fn judged(&self, paths: &[PathBuf]) -> Result<Vec<TestPosition>, Failure> {
        let mut positions = self.all(paths)?;
        let all = positions.len();
        positions.retain(TestPosition::is_judged);
        let left_out = all - positions.len();
        if positions.is_empty() {
            return Err(Failure::usage(
                "no position with moves to find (bm) or to avoid (am): only an oracle could say what is best there",
            ));
        }
        if left_out > 0 {
            eprintln!("{left_out} positions without moves to find (bm) or to avoid (am) left out");
        }
        Ok(spread(positions, self.limit))
    }

    fn all(&self, paths: &[PathBuf]) -> Result<Vec<TestPosition>, Failure> {
        let positions = if paths.is_empty() { suites() } else { positions_of(paths, self.every, self.seed)? };
        if positions.is_empty() { Err(Failure::usage("no position that could be tried")) } else { Ok(positions) }
    }
}

/// Output formats.
#[derive(Debug, Args)]
pub(super) struct ReportArguments {
    /// Write the tables
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Print the figures as JSON
    #[arg(long)]
    json: bool,
}

impl ReportArguments {
    /// Prints the figures, as JSON or as their tables below a heading, and writes these where that was asked.
    pub(super) fn tell(&self, heading: &str, tables: &str, figures: &impl Serialize) -> Result<(), Failure> {
        if let Some(path) = &self.markdown {
            write("--markdown", path, tables)?;
        }
        if self.json {
            util::outln!("{}", serde_json::to_string_pretty(figures)?);
        } else {
            util::print(format_args!("{heading}{tables}"));
        }
        Ok(())
    }
}

/// A judge of moves that may be asked.
#[derive(Debug, Args)]
pub(super) struct MayAsk {
    /// A UCI engine that says what every proposed move is worth
    #[arg(long, value_name = "PROGRAM")]
    pub(super) oracle: Option<PathBuf>,
    /// Nodes of the oracle for each move
    #[arg(long, default_value_t = 120_000, value_parser = clap::value_parser!(u64).range(1..), value_name = "NODES")]
    oracle_nodes: u64,
}

impl MayAsk {
    pub(super) fn oracle(&self) -> Result<Option<Oracle>, Failure> {
        let nodes = self.oracle_nodes;
        self.oracle.as_deref().map(|path| Ok(Oracle { engine: engine(path)?, nodes })).transpose()
    }
}

/// The settings of councils.
#[derive(Debug, Args)]
pub(super) struct CouncilFile {
    /// The council's other settings: a file whose council table is used
    #[arg(long, value_name = "FILE")]
    settings: Option<PathBuf>,
}

impl CouncilFile {
    pub(super) fn council(&self) -> Result<CouncilSettings, Failure> {
        let Some(path) = &self.settings else { return Ok(CouncilSettings::default()) };
        crate::player::council_settings(path)
            .map_err(|error| Failure::usage(format_args!("--settings {}: {error}", path.display())))
    }
}

/// The positions of all EPD files of a folder, in the order of their names, whose best moves are known.
pub(super) fn judged_of_folder(folder: &Path) -> Result<Vec<TestPosition>, Failure> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(|error| Failure::usage(format_args!("--suites {}: {error}", folder.display())))?;
    let mut paths: Vec<PathBuf> = entries.iter().map(fs::DirEntry::path).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("epd")));
    paths.sort();
    // Neither the distance of positions nor an order counts where there are no games.
    let mut positions = positions_of(&paths, 1, 0)?;
    positions.retain(TestPosition::is_judged);
    Ok(positions)
}

/// The positions of some suites; of games every `every`-th. Says which lines cannot be read.
fn positions_of(paths: &[PathBuf], every: usize, seed: u64) -> Result<Vec<TestPosition>, Failure> {
    let mut positions = Vec::new();
    for path in paths {
        let suite = Suite::open(path, every, seed).map_err(Failure::usage)?;
        tell_bad_lines(path, &suite.bad);
        positions.extend(suite.positions);
    }
    Ok(positions)
}

pub(super) fn tell_bad_lines(path: &Path, bad: &[BadLine]) {
    for line in bad.iter().take(BAD_LINES_SHOWN) {
        eprintln!("{}:{}: {}", path.display(), line.number, line.reason);
    }
    if bad.len() > BAD_LINES_SHOWN {
        eprintln!("{}: {} more lines left out", path.display(), bad.len() - BAD_LINES_SHOWN);
    }
}

/// Returns at most `limit` of the items, equally far apart.
pub(super) fn spread<T>(items: Vec<T>, limit: Option<usize>) -> Vec<T> {
    let (count, limit) = (items.len(), limit.unwrap_or(usize::MAX));
    if count <= limit {
        return items;
    }
    let mut wanted = (0..limit).map(|index| index * count / limit).peekable();
    items
        .into_iter()
        .enumerate()
        .filter(|(index, _)| wanted.next_if_eq(index).is_some())
        .map(|(_, item)| item)
        .collect()
}

pub(super) fn engine(path: &Path) -> Result<ElectorSpec, Failure> {
    let elector = ElectorSettings { engine: Some(path.to_owned()), ..ElectorSettings::default() };
    let settings = CouncilSettings {
        roster: "custom".to_owned(),
        electors: vec![elector],
        hash: 16,
        ..CouncilSettings::default()
    };
    let roster = Roster::from_settings(&settings).map_err(Failure::usage)?;
    roster.electors().first().cloned().ok_or_else(|| Failure::usage("no engine"))
}

/// A finite number that is not negative.
pub(super) fn from_zero<T: FromStr + Into<f64> + Copy>(text: &str) -> Result<T, String> {
    let number = text.parse().ok().filter(|number: &T| (0.0..f64::INFINITY).contains(&(*number).into()));
    number.ok_or_else(|| "a number from 0 is wanted".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_judged_positions_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let suite = |name: &str, lines: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, lines).expect("a suite");
            path
        };
        let known = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8+;\n";
        let unknown = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - id \"start\";\n";
        let mixed = [suite("mixed.epd", &[unknown, known].concat())];
        let sample = |limit| {
            let searching = SearchArguments { concurrency: None, data: PathBuf::new() };
            SearchedPositions { every: 10, limit, seed: 1, searching }
        };
        let judged = sample(Some(1)).judged(&mixed).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(judged.iter().map(TestPosition::is_judged).collect::<Vec<_>>(), [true], "the limit is of these");
        let all = sample(None).of(&mixed).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(all.len(), 2, "an oracle judges both");
        let none = sample(None).judged(&[suite("unknown.epd", unknown)]).expect_err("nothing to find");
        assert!(none.to_string().contains("oracle"), "{none}");
    }

    #[test]
    fn suite_folder_reads_every_encoding() {
        let folder = tempfile::tempdir().expect("a folder");
        let known = "6k1/5ppp/8/8/8/8/5PPP/3R2K1 w - - bm Rd8+; id \"";
        std::fs::write(folder.path().join("A.EPD"), [known.as_bytes(), b"Gr\xfcnfeld\";\n"].concat()).expect("a suite");
        std::fs::write(folder.path().join("b.epd"), format!("nonsense\n{known}b\";\n")).expect("a suite");
        std::fs::write(folder.path().join("c.txt"), format!("{known}c\";\n")).expect("no suite");
        let positions = judged_of_folder(folder.path()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(positions.len(), 2);
        let missing = judged_of_folder(&folder.path().join("none")).expect_err("no folder").to_string();
        assert!(missing.contains("none"), "{missing}");
    }
}
