use std::io::{self, BufReader};

use clap::Args;

use super::{Failure, in_runtime, runtime, settings_args::SettingsArgs};
use crate::frontend;
use engine;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio uci                                   the council of the built-in settings
  concilio uci --config bot.toml                 the council of a bot, as it plays online
  concilio uci --set player.council.roster=unbalanced-4
  concilio uci --set cluster.nats=nats://192.168.1.10:4222     with the cores of machines that run `concilio worker`
  concilio uci --single                          one engine alone, without a council")]
pub(super) struct UciCommand {
    #[command(flatten)]
    settings: SettingsArgs,
    /// One engine alone, without a council and without settings
    #[arg(long)]
    single: bool,
}

impl UciCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        if self.single {
            engine::uci::run(io::stdin().lock(), io::stdout())?;
            return Ok(());
        }
        let settings = self.settings.load()?.settings;
        in_runtime(async {
            let setup = runtime::setup(&settings).await?;
            Ok(frontend::uci::run(BufReader::new(io::stdin()), io::stdout(), setup).await?)
        })
    }
}
