//! `concilio draughts build-tables`: who wins with few pieces, solved by this program.

use std::{fs, path::PathBuf};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};

use super::TABLES;
use draughts_core::endgame::EndgameTables;
use util::{Failure, outln};

/// Build the endgame tables
#[derive(Debug, Args)]
#[command(
    after_help = "With four pieces it takes some twenty seconds and 7 MiB. All games but those on the page look for the usual file."
)]
pub(super) struct BuildTables {
    /// The file that is written
    #[arg(value_name = "FILE", default_value = TABLES)]
    file: PathBuf,
    /// The most pieces on the board
    #[arg(long, default_value_t = EndgameTables::MOST_PIECES as u64, value_parser = clap::value_parser!(u64).range(2..=EndgameTables::MOST_PIECES as u64))]
    pieces: u64,
}

impl BuildTables {
    pub(super) fn run(self) -> Result<(), Failure> {
        if let Some(folder) = self.file.parent() {
            fs::create_dir_all(folder)
                .map_err(|error| Failure::failed(format_args!("{}: {error}", folder.display())))?;
        }
        let bar = ProgressBar::no_length().with_style(
            ProgressStyle::with_template("{wide_bar} {pos}/{len} positions")
                .unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        let tables = EndgameTables::build(self.pieces as usize, |solved, of| {
            bar.set_length(of as u64);
            bar.set_position(solved as u64);
        });
        bar.finish_and_clear();
        tables.save(&self.file).map_err(Failure::failed)?;
        outln!(
            "{}: {} pieces, {:.1} MiB",
            self.file.display(),
            tables.pieces(),
            tables.bytes() as f64 / (1 << 20) as f64
        );
        Ok(())
    }
}
