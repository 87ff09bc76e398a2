//! `concilio lab`: a pointer to the program that measures.

use clap::Args;

use super::Failure;

/// Measure: a program of its own
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub(super) struct LabPointer {
    /// The arguments of `concilio-lab`
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    arguments: Vec<String>,
}

impl LabPointer {
    /// Names the program and how to build it from the sources.
    pub(super) fn run(self) -> Result<(), Failure> {
        let words = if self.arguments.is_empty() { "--help".to_owned() } else { self.arguments.join(" ") };
        Err(Failure::usage(format_args!(
            "the measurements are a program of their own; in the sources: cargo run --release -p concilio-lab -- {words}"
        )))
    }
}
