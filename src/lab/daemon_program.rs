//! The daemon that is measured: `concilio` in the folder of `concilio-lab`, unless `--binary` names another.

use std::{
    env::{self, consts::EXE_SUFFIX},
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use clap::Args;
use practice::PracticeServer;
use util::Failure;

/// The program that is measured
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct DaemonProgram {
    /// The daemon's program [default: the concilio in this program's folder]
    #[arg(long, value_name = "PROGRAM")]
    binary: Option<PathBuf>,
}

impl DaemonProgram {
    /// Returns the program's full path, which means the same in every folder; an error has the remedy.
    pub(crate) fn path(&self) -> Result<PathBuf, Failure> {
        let path = match &self.binary {
            Some(path) => path.clone(),
            None => env::current_exe()?.with_file_name(format!("concilio{EXE_SUFFIX}")),
        };
        fs::canonicalize(&path).map_err(|error| {
            Failure::usage(format_args!(
                "cannot measure {}: {error}; build it with `cargo build --release`, or name another with --binary",
                path.display()
            ))
        })
    }
}

/// Returns the command of a daemon that plays on a practice server and keeps its journal in `folder`; it prints errors alone.
pub(crate) fn daemon_on(server: &PracticeServer, program: &Path, token: &str, folder: &Path) -> Command {
    let mut command = Command::new(program);
    command
        .args(["--log", "error", "run"])
        .env("CONCILIO_LICHESS_TOKEN", token)
        .env("CONCILIO__SERVERS__PRACTICE__URL", server.url())
        .env("CONCILIO__JOURNAL__PATH", folder.join("journal.db"))
        .env("CONCILIO__JOURNAL__PGN_DIRECTORY", folder.join("pgn"))
        .stdout(Stdio::null());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_daemon_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let missing = folder.path().join("none");
        let error = DaemonProgram { binary: Some(missing.clone()) }.path().expect_err("no such file").to_string();
        assert!(error.contains(&missing.display().to_string()) && error.contains("--binary"), "{error}");
        let there = folder.path().join("concilio");
        fs::write(&there, "").expect("a file");
        let named = DaemonProgram { binary: Some(there.clone()) }.path().map_err(|error| error.to_string());
        assert_eq!(named, Ok(fs::canonicalize(there).expect("a path")));
    }
}
