use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{Failure, settings_args::SettingsArgs};
use bot::journal;
use util::outln;

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
    /// Put a backup in the place of the journal, which is kept beside it
    #[command(after_help = "Examples:
  concilio journal restore journal-2026-11-22.db --config bot.toml

The backup is checked first. The daemon must not run. The old journal stays, with the time in its name.")]
    Restore {
        /// The backup
        file: PathBuf,
        /// The journal to replace, instead of the one that the settings name
        #[arg(long, value_name = "FILE")]
        journal: Option<PathBuf>,
        #[command(flatten)]
        settings: SettingsArgs,
    },
}

impl JournalCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let path = |journal: Option<PathBuf>, settings: SettingsArgs| match journal {
            Some(journal) => Ok(journal),
            None => settings.journal().map(|journal| journal.path),
        };
        match self.what {
            What::Backup { file, journal, settings } => {
                let journal = path(journal, settings)?;
                let size = journal::back_up(&journal, &file)?;
                outln!("copied {} to {} ({} KiB)", journal.display(), file.display(), size.div_ceil(1024));
            }
            What::Restore { file, journal, settings } => {
                let journal = path(journal, settings)?;
                let restored = journal::restore(&file, &journal)?;
                let size = restored.size.div_ceil(1024);
                outln!("restored {} from {} ({size} KiB)", journal.display(), file.display());
                if let Some(kept) = restored.kept {
                    outln!("the old journal is kept as {}", kept.display());
                }
            }
        }
        Ok(())
    }
}
