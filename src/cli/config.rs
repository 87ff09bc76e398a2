//! `concilio config`: what the settings amount to.

use clap::{Args, Subcommand};

use super::{Failure, run::SettingsArgs, runtime};

/// Look at the settings
#[derive(Debug, Args)]
pub(super) struct Config {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Check the settings and print what is in effect, and where each value comes from
    Check {
        #[command(flatten)]
        settings: SettingsArgs,
    },
}

impl Config {
    /// Prints the effective settings, or every mistake in one line.
    pub(super) fn run(self) -> Result<(), Failure> {
        let What::Check { settings } = self.what;
        let loaded = settings.load()?;
        runtime::check(&loaded.settings)?;
        print!("{}", loaded.to_toml());
        Ok(())
    }
}
