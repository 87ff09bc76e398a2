//! `concilio-lab split` and `concilio-lab roster`: the open questions of docs/method.md §9.

use std::{
    path::{Path, PathBuf},
    sync::atomic::AtomicBool,
};

use clap::Args;

use super::{
    Failure,
    inputs::{CouncilFile, MayAsk, ReportArguments, SearchedPositions},
    progress::{Bars, write},
};
use crate::{
    grids::{GridPlan, System, markdown, rosters, splits, try_out},
    plot::{Bar, figures},
    positions::SystemFigures,
    stats::{Estimate, TWO_SIDED_95},
};
use council::CouncilSettings;

/// Try every split of the budget between the phases, with a cold and a warm table
#[derive(Debug, Args)]
#[command(after_help = "  concilio-lab split --nodes 20000 --roster balanced-7 --plot split.svg
  concilio-lab split games.pgn --oracle /usr/games/stockfish --markdown split.md")]
pub(super) struct SplitGrid {
    /// The roster
    #[arg(long, default_value = "balanced-7", value_name = "ROSTER")]
    roster: String,
    #[command(flatten)]
    grid: Grid,
}

/// Try more instances or bigger groups at equal cost, and who searches in the second phase
#[derive(Debug, Args)]
#[command(after_help = "  concilio-lab roster --nodes 10000 --markdown roster.md")]
pub(super) struct RosterGrid {
    /// What a group keeps of its nodes at each doubling of its size, 0 to 1: measure it with lab match engine:threads=2
    #[arg(long, default_value_t = 0.85, value_name = "SHARE")]
    efficiency: f64,
    #[command(flatten)]
    grid: Grid,
}

/// What both grids take
#[derive(Debug, Args)]
struct Grid {
    /// Suites: EPD or PGN, also in a zip file [default: those that are built in]
    #[arg(value_name = "SUITE")]
    suites: Vec<PathBuf>,
    /// Nodes of every elector, both phases together
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    nodes: u64,
    #[command(flatten)]
    settings: CouncilFile,
    #[command(flatten)]
    judge: MayAsk,
    #[command(flatten)]
    searched: SearchedPositions,
    /// Write a plot: regret with an oracle, best moves without
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    report: ReportArguments,
}

impl SplitGrid {
    /// Searches and prints.
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let settings = CouncilSettings { roster: self.roster.clone(), ..self.grid.settings.council()? };
        let systems = splits(&settings, self.grid.nodes).map_err(Failure::usage)?;
        self.grid.run(&systems, "The split between the phases", stop)
    }
}

impl RosterGrid {
    /// Searches and prints.
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let settings = self.grid.settings.council()?;
        let systems = rosters(&settings, self.grid.nodes, self.efficiency).map_err(Failure::usage)?;
        self.grid.run(&systems, "Eight cores: instances × group size", stop)
    }
}

impl Grid {
    fn run(&self, systems: &[System], title: &str, stop: &AtomicBool) -> Result<(), Failure> {
        let positions = match self.judge.oracle {
            Some(_) => self.searched.of_any(&self.suites)?,
            None => self.searched.judged_of_any(&self.suites)?,
        };
        let mut searches = self.searched.searching.ours()?;
        let mut values = self.searched.searching.theirs(self.judge.oracle.as_deref())?;
        let oracle = self.judge.oracle()?;
        let mut bars = Bars::default();
        let plan = GridPlan { systems, positions: &positions, oracle: oracle.as_ref(), seed: self.searched.seed };
        let tried = try_out(&plan, &mut searches, &mut values, stop, |progress| {
            bars.at(progress.round, progress.done, progress.of);
        })?;
        bars.end();
        let tried = tried.ok_or_else(|| Failure::failed("stopped; the same command goes on from there"))?;
        if let Some(path) = &self.plot {
            self.draw(path, title, &tried, positions.len())?;
        }
        let heading = format!("{} positions, {} nodes an elector\n\n", positions.len(), self.nodes);
        self.report.tell(&heading, &markdown(&tried), &tried)
    }

    fn draw(&self, path: &Path, title: &str, tried: &[SystemFigures], positions: usize) -> Result<(), Failure> {
        let estimate = |system: &SystemFigures| match system.regret {
            Some(regret) => regret.map(|value| 100.0 * value),
            None => {
                // The normal error of a share.
                let share = system.best as f64 / positions.max(1) as f64;
                let error = TWO_SIDED_95 * (share * (1.0 - share) / positions.max(1) as f64).sqrt();
                Estimate { value: 100.0 * share, low: 100.0 * (share - error), high: 100.0 * (share + error) }
            }
        };
        let bars: Vec<Bar> =
            tried.iter().map(|system| Bar { name: system.name.clone(), estimate: estimate(system) }).collect();
        let unit = if self.judge.oracle.is_some() { "regret, % of a point" } else { "best moves, %" };
        let base = bars.first().map(|bar| bar.estimate.value);
        write("--plot", path, &figures(title, unit, &bars, base))
    }
}
