//! `concilio uci`: our engine behind the Universal Chess Interface.

use std::io;

use clap::Args;

use super::Failure;
use crate::engine::uci;

/// Speak UCI, for any chess program
#[derive(Debug, Args)]
pub(super) struct Uci {
    /// One engine alone, without a council
    #[arg(long, required = true)]
    single: bool,
}

impl Uci {
    /// Serves until `quit`.
    pub(super) fn run(self) -> Result<(), Failure> {
        uci::run(io::stdin().lock(), io::stdout())?;
        Ok(())
    }
}
