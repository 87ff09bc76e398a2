//! `concilio journal`: the journal's file.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Failure, settings_args::SettingsArgs};
use bot::journal;
use chess::outln;

/// Look after the journal
#[derive(Debug, Args)]
pub(super) struct JournalCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Copy the journal to a new file, also while a daemon writes it
    #[command(after_help = "Examples:
  concilio journal backup journal-2026-11-22.db
  concilio games --journal journal-2026-11-22.db

The copy is whole as soon as the file has its name. Nothing is overwritten.")]
    Backup {
        /// The new file
        file: PathBuf,
        /// The journal to copy, instead of the one that the settings name
        #[arg(long, value_name = "FILE")]
        journal: Option<PathBuf>,
        #[command(flatten)]
        settings: SettingsArgs,
    },
}

impl JournalCommand {
    /// Does it.
    pub(super) fn run(self) -> Result<(), Failure> {
        let What::Backup { file, journal, settings } = self.what;
        let journal = match journal {
            Some(journal) => journal,
            None => settings.journal()?.path,
        };
        let size = journal::back_up(&journal, &file)?;
        outln!("{} is copied to {} ({} KiB)", journal.display(), file.display(), size.div_ceil(1024));
        Ok(())
    }
}
