use std::path::PathBuf;

use clap::Subcommand;

use super::{Failure, settings_args::JournalArgs};
use bot::{
    journal::{self, Archive, Journal, JournalSettings},
    session,
};
use util::outln;

#[derive(Debug, Subcommand)]
pub(super) enum JournalCommand {
    /// Copy the journal to a new file, also while a daemon writes it
    #[command(after_help = "Examples:
  concilio journal backup journal-2026-11-22.db
  concilio games --journal journal-2026-11-22.db

The copy is whole as soon as the file has its name. Nothing is overwritten.")]
    Backup {
        /// The new file
        file: PathBuf,
        #[command(flatten)]
        journal: JournalArgs,
    },
    /// Put a backup in the place of the journal, which is kept beside it
    #[command(after_help = "Examples:
  concilio journal restore journal-2026-11-22.db --config bot.toml

The backup is checked first. The daemon must not run. The old journal stays, with the time in its name.")]
    Restore {
        /// The backup
        file: PathBuf,
        #[command(flatten)]
        journal: JournalArgs,
    },
    /// Add the games of a PGN file, such as Lichess' export of an account's games, so that reports and books know them
    #[command(after_help = "Examples:
  concilio journal import lichess_mybot_2026-11-22.pgn --config bot.toml

The daemon must not run. A game that is there already stays as it is.")]
    Import {
        /// The PGN file
        file: PathBuf,
        /// The bot's name in the file; by default the player of the most games
        #[arg(long, value_name = "NAME")]
        player: Option<String>,
        /// The account that the games count for, by its name in the settings
        #[arg(long, value_name = "NAME", default_value = "lichess")]
        account: String,
        #[command(flatten)]
        journal: JournalArgs,
    },
    /// List the players who declined the bot's challenges, one a line, as matchmaking.avoid_files takes them
    Decliners {
        #[command(flatten)]
        journal: JournalArgs,
    },
}

impl JournalCommand {
    pub(super) async fn run(self) -> Result<(), Failure> {
        match self {
            Self::Backup { file, journal } => {
                let journal = journal.path()?;
                let size = journal::back_up(&journal, &file)?;
                outln!("copied {} to {} ({} KiB)", journal.display(), file.display(), size.div_ceil(1024));
            }
            Self::Restore { file, journal } => {
                let journal = journal.path()?;
                let (size, kept) = journal::restore(&file, &journal)?;
                let size = size.div_ceil(1024);
                outln!("restored {} from {} ({size} KiB)", journal.display(), file.display());
                if let Some(kept) = kept {
                    outln!("the old journal is kept as {}", kept.display());
                }
            }
            Self::Import { file, player, account, journal } => {
                let path = journal.path()?;
                let journal = Journal::open(&JournalSettings { path, ..JournalSettings::default() })?;
                let done = journal.import_pgn(&file, player, &account).await?;
                outln!(
                    "{} games of {} are in {} ({} others left out)",
                    done.games,
                    done.player,
                    journal.path().display(),
                    done.left_out
                );
            }
            Self::Decliners { journal } => {
                let archive = Archive::open(&journal.path()?)?;
                for (account, player, until, times) in session::decliners(&archive)? {
                    let count = if times == 1 { "once".to_owned() } else { format!("{times} times") };
                    outln!("{player:<20} # declined {count} on {account}, left alone until {until:.0}");
                }
            }
        }
        Ok(())
    }
}
