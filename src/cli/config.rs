//! `concilio config`: what the settings amount to.

use clap::{Args, Subcommand};

use super::{Failure, runtime, settings_args::SettingsArgs};
use chess::print;

/// Look at the settings
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio config check --config bot.toml
  CONCILIO__CHALLENGE__CONCURRENCY=4 concilio config check --set player.council.roster=balanced-7")]
pub(super) struct ConfigCommand {
    #[command(subcommand)]
    action: ConfigAction,
}

#[derive(Debug, Subcommand)]
enum ConfigAction {
    /// Check the settings and print what is in effect, and where each value comes from
    Check {
        #[command(flatten)]
        settings: SettingsArgs,
    },
}

impl ConfigCommand {
    /// Prints the effective settings, or every mistake in one line.
    pub(super) fn run(self) -> Result<(), Failure> {
        let ConfigAction::Check { settings } = self.action;
        let loaded = settings.load()?;
        runtime::check(&loaded.settings)?;
        print(format_args!("{}", loaded.to_toml()));
        Ok(())
    }
}
