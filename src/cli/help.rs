//! Commands about the program itself: completions for shells, manual pages, and where the laboratory is.

use std::{fs, path::Path};

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use super::{Cli, Failure};
use util::{outln, print};

pub(super) fn print_completions(shell: Shell) {
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "concilio", &mut script);
    print(format_args!("{}", String::from_utf8_lossy(&script)));
}

pub(super) fn write_manual(folder: &Path) -> Result<(), Failure> {
    let failed = |error| Failure::failed(format_args!("{}: {error}", folder.display()));
    fs::create_dir_all(folder).map_err(failed)?;
    clap_mangen::generate_to(Cli::command(), folder).map_err(failed)?;
    outln!("manual pages are in {}", folder.display());
    Ok(())
}

/// Names the program that measures, and how to build it from the sources.
pub(super) fn where_the_lab_is(arguments: &[String]) -> Failure {
    let words = if arguments.is_empty() { "--help".to_owned() } else { arguments.join(" ") };
    Failure::usage(format_args!(
        "the measurements are a program of their own; in the sources: cargo run --release -p concilio-lab -- {words}"
    ))
}
