//! `concilio xboard`: the council behind the Chess Engine Communication Protocol, and on a console.

use std::io::{self, BufReader};

use clap::Args;

use super::{Failure, in_runtime, runtime, settings_args::SettingsArgs};
use crate::frontend;

/// Speak CECP, for XBoard and its like; or play on the console (help says how)
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  xboard -fcp \"concilio xboard\"
  concilio xboard                                on the console: help lists the commands
  concilio xboard --config bot.toml              the council of a bot, as it plays online")]
pub(super) struct XboardCommand {
    #[command(flatten)]
    settings: SettingsArgs,
}

impl XboardCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let settings = self.settings.load()?.settings;
        in_runtime(async {
            let setup = runtime::setup(&settings).await?;
            Ok(frontend::xboard::run(BufReader::new(io::stdin()), io::stdout(), setup).await?)
        })
    }
}
