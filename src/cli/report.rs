use std::{
    io::{self, IsTerminal},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::Duration,
};

use clap::Args;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::{Failure, filter::FilterArgs, signals::Signals};
use bot::journal::{Journal, JournalSettings};
use council::electors::EngineProgram;
use engine::Tablebases;
use report::{
    ReportProgress, ReportRequest,
    judge::{JudgeEffort, JudgeSpec},
    make_report,
    output::{Report, council_text, totals_text},
    study::GameStudy,
};
use tempfile::TempDir;
use util::{outln, print};

const JOURNAL: &str = "journal.db";

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio report                                  all games, judged by the built-in engine
  concilio report --result lost --since 2026-11-01
  concilio report --engine stockfish --nodes 200000 --output data/stockfish
  concilio report games.pgn --player mybot         any games, such as an export of Lichess
  concilio report --suggest                        and the rule of election that would have done best

What was judged is kept in the journal: a report that was interrupted goes on where it stopped, and one of the same games
takes a moment. The pages need no script; look at them with a browser.")]
pub(super) struct ReportCommand {
    /// A PGN file whose games are studied, instead of those of the journal
    #[arg(value_name = "FILE.pgn", conflicts_with = "journal")]
    games: Option<PathBuf>,
    /// The player of the file whose moves are studied; by default the player of the most games
    #[arg(long, value_name = "NAME", requires = "games")]
    player: Option<String>,
    #[command(flatten)]
    filter: FilterArgs,
    /// The UCI engine that judges, instead of the built-in one
    #[arg(long, value_name = "PROGRAM")]
    engine: Option<PathBuf>,
    /// An option for that engine; may be given several times
    #[arg(long = "option", requires = "engine", value_parser = parse_option, value_name = "NAME=VALUE")]
    options: Vec<(String, String)>,
    /// Nodes a position
    #[arg(long, default_value_t = 20_000, conflicts_with = "time", value_parser = clap::value_parser!(u64).range(100..))]
    nodes: u64,
    /// Milliseconds a position, instead of nodes
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u64).range(1..=3_600_000))]
    time: Option<u64>,
    /// Number of positions judged at a time; all cores by default
    #[arg(short = 'j', long)]
    threads: Option<NonZeroUsize>,
    /// A folder with Syzygy tables
    #[arg(long, value_name = "FOLDER")]
    tablebases: Option<PathBuf>,
    /// Folder of the pages; by default the folder report beside the journal, where the page in the
    /// browser finds it
    #[arg(long, value_name = "FOLDER")]
    output: Option<PathBuf>,
    /// Look for the rule of election that would have done best, judged on games it was not chosen by; it is written to
    /// suggestion.toml in the folder, as comments where it is not better by more than the error
    #[arg(long)]
    suggest: bool,
    /// Write one JSON object a line and game on standard output, with every move and vote
    #[arg(long)]
    json: bool,
}

fn parse_option(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as Hash=64")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

impl ReportCommand {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let stop = Arc::new(AtomicBool::new(false));
        if let Some(mut signals) = Signals::listen() {
            let stop = Arc::clone(&stop);
            tokio::spawn(async move {
                signals.told_to_stop().await;
                stop.store(true, Relaxed);
            });
        }
        let imported = match &self.games {
            Some(games) => Some(self.imported(games).await?),
            None => None,
        };
        tokio::task::spawn_blocking(move || self.make(imported.as_ref().map(TempDir::path), &stop)).await?
    }

    /// A journal of the games of a file alone, in a folder of its own.
    async fn imported(&self, games: &Path) -> Result<TempDir, Failure> {
        let folder = tempfile::tempdir()?;
        let settings = JournalSettings { path: folder.path().join(JOURNAL), ..JournalSettings::default() };
        let journal = Journal::open(&settings)?;
        let done = journal.import_pgn(games, self.player.clone(), "file").await?;
        eprintln!("{} games of {} ({} others left out)", done.games, done.player, done.left_out);
        Ok(folder)
    }

    /// `imported` is the folder of a journal that holds the games instead.
    fn make(&self, imported: Option<&Path>, stop: &AtomicBool) -> Result<(), Failure> {
        let output = self.output()?;
        let request = self.request(imported, output.clone())?;
        let mut bar = None;
        let mut broken = None;
        let mut each = |game: &GameStudy| {
            if self.json {
                match serde_json::to_string(game) {
                    Ok(line) => outln!("{line}"),
                    Err(error) => broken = Some(error),
                }
            }
        };
        let made = make_report(&request, stop, &mut |progress| show_progress(&mut bar, progress), &mut each)?;
        bar.iter().for_each(ProgressBar::finish_and_clear);
        if let Some(error) = broken {
            return Err(error.into());
        }
        match made {
            None => Err(Failure::failed(
                "stopped; judged positions are in the journal, and the next report continues from there",
            )),
            Some(report) => self.show(&report, &output),
        }
    }

    fn output(&self) -> Result<PathBuf, Failure> {
        match (&self.output, &self.games) {
            (Some(folder), _) => Ok(folder.clone()),
            (None, Some(games)) => Ok(games.with_extension("report")),
            (None, None) => Ok(self.filter.journal()?.with_file_name("report")),
        }
    }

    fn request(&self, imported: Option<&Path>, output: PathBuf) -> Result<ReportRequest, Failure> {
        let effort =
            self.time.map_or(JudgeEffort::Nodes(self.nodes), |ms| JudgeEffort::Time(Duration::from_millis(ms)));
        let options = self.options.iter().cloned().collect();
        let program = |path: &PathBuf| EngineProgram { path: path.clone(), options, ..EngineProgram::default() };
        let tables = self.tablebases.as_ref().map(|folder| Tablebases::open(&folder.to_string_lossy()));
        let all = std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        Ok(ReportRequest {
            journal: match imported {
                Some(folder) => folder.join(JOURNAL),
                None => self.filter.journal()?,
            },
            filter: self.filter.filter()?,
            judge: JudgeSpec { engine: self.engine.as_ref().map(program), effort },
            threads: self.threads.unwrap_or(all),
            tables: tables.transpose()?,
            output: Some(output),
            suggest: self.suggest,
        })
    }

    fn show(&self, report: &Report, output: &Path) -> Result<(), Failure> {
        let suggestion = report.suggestion.as_ref().map(|suggestion| suggestion.settings_text());
        if let Some(text) = &suggestion {
            let path = output.join("suggestion.toml");
            let written = std::fs::write(&path, text);
            written.map_err(|error| Failure::failed(format_args!("{}: {error}", path.display())))?;
        }
        if self.json {
            return Ok(());
        }
        print(format_args!("{}{}", totals_text(&report.totals), council_text(&report.council)));
        for change in &report.changes {
            outln!("since the last report: {} {:.2} → {:.2}", change.figure, change.before, change.now);
        }
        match (&suggestion, self.suggest) {
            (Some(text), _) => print(format_args!("\n{text}")),
            (None, true) => outln!("no suggestion: at least four games with votes that were not unanimous are needed"),
            (None, false) => (),
        }
        if let Some(index) = &report.index {
            outln!("pages: {}", index.display());
        }
        Ok(())
    }
}

/// Shows the progress on standard error, in a bar made at the first call.
fn show_progress(bar: &mut Option<ProgressBar>, progress: ReportProgress) {
    let bar = bar.get_or_insert_with(|| {
        let shown = io::stderr().is_terminal();
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(progress.of as u64), target);
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len} games, {eta} left  {msg}") {
            bar.set_style(style);
        }
        bar
    });
    bar.set_position(progress.games as u64);
    if progress.of_positions > 0 {
        bar.set_message(format!("{}/{} positions", progress.positions, progress.of_positions));
    }
}
