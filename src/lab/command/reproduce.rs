//! `concilio-lab reproduce`: the theses' tables, theirs beside ours.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use clap::Args;
use serde_json::json;

use super::{
    Failure,
    inputs::{SearchArguments, judged_of_folder, openings, spread},
    progress::{Bars, build, write},
};
use crate::{
    openings::OpeningBook,
    reproduce::{Effort, Reproduction, Section, TABLES, suites},
    speed::Speeds,
};

/// Plies of an opening from a book of games.
const OPENING: usize = 16;

/// Repeat the theses' tables, with their figures beside today's
#[derive(Debug, Args)]
#[command(
    after_help = "Tables: heuristics (the order of the heuristics), rosters (union and intersection), criteria (criteria and rosters), parallel
(Vel, Svr, Fpm and OS of the ways to search in parallel), games (against the sequential base), genetic (the genetic algorithm).

  concilio-lab reproduce --quick                  all of them in half an hour on two cores
  concilio-lab reproduce --output docs/results    all of them in a night, with plots
  concilio-lab reproduce criteria --scale 5       one of them with five times the nodes"
)]
pub struct Reproduce {
    /// Tables to reproduce [default: all]
    #[arg(value_parser = TABLES.map(|(name, _)| name), value_name = "TABLE")]
    tables: Vec<String>,
    /// Run a reduced version
    #[arg(long)]
    quick: bool,
    /// Factor of all node limits
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    scale: f64,
    /// Games of each player, instead of what the effort says; no more than two for each opening
    #[arg(long, value_parser = clap::value_parser!(u32).range(4..), value_name = "N")]
    games: Option<u32>,
    /// Openings of the games: PGN or EPD/FEN, also in a zip file [default: a small book of common openings]
    #[arg(long, value_name = "FILE")]
    book: Option<PathBuf>,
    /// Speeds beside complete knowledge for games in equal time, in place of measured ones: "mp=1.7 mpar=1.25"
    #[arg(long, value_name = "SPEEDS")]
    speeds: Option<Speeds>,
    /// A folder of EPD suites in place of those that are built in (STS, WAC, Bratko-Kopec)
    #[arg(long, value_name = "FOLDER")]
    suites: Option<PathBuf>,
    /// Write the tables as Markdown, and plots, into this folder
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Random seed
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    #[command(flatten)]
    searching: SearchArguments,
    /// Print the tables as JSON
    #[arg(long)]
    json: bool,
}

impl Reproduce {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let effort = if self.quick { Effort::QUICK } else { Effort::FULL }.times(self.scale);
        let effort = Effort { games: self.games.unwrap_or(effort.games), ..effort };
        let positions = match &self.suites {
            Some(folder) => judged_of_folder(folder)?,
            None => suites(),
        };
        if positions.is_empty() {
            return Err(Failure::usage("--suites: no position with a best move"));
        }
        let (book, openings) = self.openings()?;
        let mut searches = self.searching.ours()?;
        let mut bars = Bars::default();
        let mut bench = Reproduction {
            effort,
            positions: spread(positions, Some(effort.positions)),
            book,
            openings,
            speeds: self.speeds.clone().unwrap_or_default(),
            searches: &mut searches,
            folder: self.searching.data.clone(),
            build: build(),
            workers: self.searching.workers(),
            stop,
            seed: self.seed,
            tell: &mut |what, done, of| bars.at(what, done, of),
        };
        let all = TABLES.map(|(name, _)| name.to_owned()).to_vec();
        let tables = if self.tables.is_empty() { &all } else { &self.tables };
        let mut printed = Vec::new();
        for table in tables {
            let Some((_, make)) = TABLES.iter().find(|(name, _)| name == table) else { continue };
            let section = make(&mut bench)?;
            if self.json {
                printed.push(json!({"table": table, "title": section.title, "text": section.text}));
            } else {
                util::outln!("## {}\n\n{}", section.title, section.text);
            }
            if let Some(folder) = &self.output {
                keep(folder, table, &section)?;
            }
        }
        if self.json {
            util::outln!("{}", serde_json::to_string_pretty(&printed)?);
        }
        Ok(())
    }
    /// Returns the openings of the games, and the name of the book.
    fn openings(&self) -> Result<(OpeningBook, String), Failure> {
        let book = openings(self.book.as_deref(), OPENING, self.seed)?;
        let name = self.book.as_ref().map(|path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy());
        Ok(match name {
            Some(name) => (book, format!("`{}`", name.split('.').next().unwrap_or_default())),
            None => (book, "the built-in openings".to_owned()),
        })
    }
}

fn keep(folder: &Path, table: &str, section: &Section) -> Result<(), Failure> {
    fs::create_dir_all(folder)
        .map_err(|error| Failure::failed(format_args!("--output {}: {error}", folder.display())))?;
    let mut text = format!("# {}\n\n{}", section.title, section.text);
    for (name, content) in &section.plots {
        let image = if Path::new(name).extension().is_some_and(|kind| kind == "svg") { "!" } else { "" };
        text.push_str(&format!("\n{image}[{name}]({name})\n"));
        write("--output", &folder.join(name), content)?;
    }
    write("--output", &folder.join(format!("reproduce-{table}.md")), &text)
}
