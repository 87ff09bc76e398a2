//! `concilio man`: the manual pages, made of the help texts.

use std::{fs, path::PathBuf};

use clap::{Args, CommandFactory as _};

use super::{Cli, Failure};
use util::outln;

/// Write the manual pages, one for each command
#[derive(Debug, Args)]
#[command(after_help = "Example:
  concilio man --output ~/.local/share/man/man1 && man concilio-run")]
pub(super) struct ManCommand {
    /// The folder they are written to; it is made where it does not exist
    #[arg(long, short, value_name = "FOLDER")]
    output: PathBuf,
}

impl ManCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let failed = |error| Failure::failed(format_args!("{}: {error}", self.output.display()));
        fs::create_dir_all(&self.output).map_err(failed)?;
        clap_mangen::generate_to(Cli::command(), &self.output).map_err(failed)?;
        outln!("manual pages are in {}", self.output.display());
        Ok(())
    }
}
