//! `concilio completions`: what a shell needs to complete our command line.

use clap::{Args, CommandFactory as _};
use clap_complete::{Shell, generate};

use super::{Cli, Failure};
use util::print;

/// Print a script that completes this program's command line in a shell
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio completions bash > ~/.local/share/bash-completion/completions/concilio
  concilio completions zsh > ~/.zfunc/_concilio          with ~/.zfunc in fpath
  concilio completions fish > ~/.config/fish/completions/concilio.fish")]
pub(super) struct CompletionsCommand {
    shell: Shell,
}

impl CompletionsCommand {
    pub(super) fn run(self) -> Result<(), Failure> {
        let mut script = Vec::new();
        generate(self.shell, &mut Cli::command(), "concilio", &mut script);
        print(format_args!("{}", String::from_utf8_lossy(&script)));
        Ok(())
    }
}
