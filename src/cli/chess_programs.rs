//! `uci` and `xboard`: the council as an engine under a chess program.

use std::io::{self, BufReader};

use clap::Args;

use super::{Failure, in_runtime, runtime, settings_args::SettingsArgs};
use crate::frontend::{self, Setup};

pub(super) const XBOARD_EXAMPLES: &str = "Examples:
  xboard -fcp \"concilio xboard\"
  concilio xboard                                on the console: help lists the commands
  concilio xboard --config bot.toml              the council of a bot, as it plays online";

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

pub(super) fn uci(command: UciCommand) -> Result<(), Failure> {
    if command.single {
        engine::uci::run(io::stdin().lock(), io::stdout());
        return Ok(());
    }
    serve(command.settings, async |setup| {
        frontend::uci::run(io::stdin().lock(), io::stdout(), setup);
        Ok(())
    })
}

pub(super) fn xboard(settings: SettingsArgs) -> Result<(), Failure> {
    serve(settings, async |setup| frontend::xboard::run(BufReader::new(io::stdin()), io::stdout(), setup).await)
}

fn serve(settings: SettingsArgs, protocol: impl AsyncFnOnce(Setup) -> io::Result<()>) -> Result<(), Failure> {
    let settings = settings.load()?.settings;
    in_runtime(async { Ok(protocol(runtime::setup(&settings).await?).await?) })
}
