use std::io::{self, BufReader};

use super::{Failure, in_runtime, runtime, settings_args::SettingsArgs};
use crate::frontend;

pub(super) const EXAMPLES: &str = "Examples:
  xboard -fcp \"concilio xboard\"
  concilio xboard                                on the console: help lists the commands
  concilio xboard --config bot.toml              the council of a bot, as it plays online";

pub(super) fn run(settings: SettingsArgs) -> Result<(), Failure> {
    let settings = settings.load()?.settings;
    in_runtime(async {
        let setup = runtime::setup(&settings).await?;
        Ok(frontend::xboard::run(BufReader::new(io::stdin()), io::stdout(), setup).await?)
    })
}
