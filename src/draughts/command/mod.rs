//! `concilio draughts`: Italian draughts on the console, and what else there is to do with it.

pub(crate) mod arguments;
mod demo;
mod drawing;
mod exchange;
mod play;
mod record;
mod tables;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::{Args, Subcommand};

use bot::journal::JournalSettings;
use draughts_core::{
    board::{Board, Rules},
    endgame::EndgameTables,
    evaluation::{Evaluation, Knowledge, Strategy},
    game::{ballots, pdn},
};
use util::{Failure, outln, printable};

pub use demo::{Screen, play_demo};
pub use record::{line_of, write_pdn};

/// Play Italian draughts against the council or one of its strategies
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  concilio draughts                                  play White against the council of four
  concilio draughts --against fully-guarded --pace movetime=0.2 --color black
  concilio draughts --against published:moves=3      against the search of 2010
  concilio draughts eval W:W22:B10                   what each strategy makes of a position
  concilio demo --game draughts                      watch a game

Players: council, council:criterion=re-search,roster=peso-pedine fully-guarded, one of the strategies peso-pedine,
peso-posizione, spettacolo and fully-guarded, letters of mpgsk, or published:strategy=spettacolo,moves=3,quiescence=off.
Moves are written 22-18, captures 22x15x6, or 22x6 where that is enough. While you play, `help` lists what else can be said."
)]
pub struct DraughtsCommand<S: Args + fmt::Debug> {
    #[command(subcommand)]
    action: Option<DraughtsAction>,
    #[command(flatten)]
    play: play::PlayArguments,
    #[command(flatten)]
    settings: S,
}

#[derive(Debug, Subcommand)]
enum DraughtsAction {
    /// Say what each evaluation makes of a position
    #[command(after_help = "Values are in hundredths of a man, for the side to move. Example:
  concilio draughts eval W:W21,22,K30:B1,2")]
    Eval {
        /// The position, as PDN writes it
        #[arg(value_name = "FEN")]
        board: Board,
    },
    /// Count the leaves of the tree of legal moves
    Perft {
        /// Depth in plies
        #[arg(value_parser = clap::value_parser!(u32).range(1..=30))]
        depth: u32,
        /// The position; the start of the game by default
        #[arg(value_name = "FEN", default_value_t = Board::default(), hide_default_value = true)]
        board: Board,
        /// By the rules of the program of 2010: only the number of pieces taken counts
        #[arg(long)]
        relaxed: bool,
    },
    /// Read a file of games, and write them in one plain form
    Pdn {
        /// The file
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Build the endgame tables
    BuildTables(tables::BuildTables),
    /// Wait for other programs and play them, by the DamExchange protocol
    Serve(exchange::ServeDraughts),
    /// Play another program that waits, by the DamExchange protocol
    Connect(exchange::ConnectDraughts),
}

impl<S: Args + fmt::Debug> DraughtsCommand<S> {
    /// Runs the command; `journal` reads the journal's settings.
    pub async fn run(self, journal: impl FnOnce(S) -> Result<JournalSettings, Failure>) -> Result<(), Failure> {
        let usual = || journal(self.settings);
        match self.action {
            None => self.play.run(usual).await,
            Some(DraughtsAction::Eval { board }) => {
                evaluate(&board);
                Ok(())
            }
            Some(DraughtsAction::Perft { depth, board, relaxed }) => {
                let rules = if relaxed { Rules::Relaxed } else { Rules::Official };
                (1..=depth).for_each(|depth| outln!("{depth:>2}  {}", board.perft(depth, rules)));
                Ok(())
            }
            Some(DraughtsAction::Pdn { file }) => read_pdn(&file),
            Some(DraughtsAction::BuildTables(tables)) => tables.run(),
            Some(DraughtsAction::Serve(serve)) => serve.run(usual).await,
            Some(DraughtsAction::Connect(connect)) => connect.run(usual).await,
        }
    }
}

fn evaluate(board: &Board) {
    drawing::board(board).iter().for_each(|line| outln!("{line}"));
    let published = Strategy::ALL.map(Evaluation::Published).into_iter();
    let letters = Strategy::ALL.map(|strategy| Evaluation::Heuristics(strategy.knowledge()));
    let complete = Evaluation::Heuristics(Knowledge::COMPLETE);
    for evaluation in published.chain(letters).chain([complete]) {
        outln!("{:<16} {:>6}", evaluation.to_string(), evaluation.value(board));
    }
}

fn read_pdn(file: &Path) -> Result<(), Failure> {
    let at = |error: &dyn std::fmt::Display| Failure::failed(format_args!("{}: {error}", file.display()));
    let text = fs::read_to_string(file).map_err(|error| at(&error))?;
    for record in pdn::read(&text, Rules::Official).map_err(|error| at(&error))? {
        record.to_string().lines().for_each(|line| outln!("{}", printable(line)));
        outln!();
    }
    Ok(())
}

/// Location of the endgame tables.
#[derive(Debug, Args)]
struct TablesFile {
    /// Endgame tables; without this, data/draughts.tables where there is that file (see concilio draughts build-tables)
    #[arg(long, value_name = "FILE")]
    tables: Option<PathBuf>,
}

const TABLES: &str = "data/draughts.tables";

impl TablesFile {
    fn load(&self) -> Result<Option<Arc<EndgameTables>>, Failure> {
        let usual = PathBuf::from(TABLES);
        let path = self.tables.clone().or_else(|| usual.exists().then_some(usual));
        let tables = path.map(|path| EndgameTables::load(&path).map_err(Failure::failed)).transpose()?;
        Ok(tables.map(Arc::new))
    }
}

/// A start by name: a position, or `ballot` and a number that draws one with eleven men a side.
fn start_from(text: &str) -> Result<Board, String> {
    match text.strip_prefix("ballot") {
        Some("") => Ok(ballots::draw(1, rand::random())[0]),
        Some(number) => {
            let number = number.strip_prefix(':').and_then(|number| number.parse().ok());
            let seed = number.ok_or_else(|| format!("{text:?}: expected a position, ballot or ballot:NUMBER"))?;
            Ok(ballots::draw(1, seed)[0])
        }
        None => text.parse().map_err(|error: draughts_core::board::DraughtsError| error.to_string()),
    }
}
