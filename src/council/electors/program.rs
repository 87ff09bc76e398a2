//! The start of an external engine, and its protocol.

use std::{
    collections::BTreeMap,
    env,
    path::{self, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::EngineGame;

/// Debian's folders of engines; PATH often lacks them, root's always.
const GAMES: [&str; 2] = ["/usr/games", "/usr/local/games"];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineProgram {
    /// The file of the program, or its name alone.
    pub path: PathBuf,
    pub arguments: Vec<String>,
    pub options: BTreeMap<String, String>,
    pub protocol: EngineProtocol,
    /// The working folder; `None` is the daemon's.
    pub working_dir: Option<PathBuf>,
    pub transcript: Option<PathBuf>,
    pub stderr: ErrorOutput,
    pub game: Option<EngineGame>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineProtocol {
    #[default]
    Uci,
    /// The Chess Engine Communication Protocol, as under xboard.
    #[serde(alias = "xboard")]
    Cecp,
    /// A position a line in, a move a line out (docs/own-player.md).
    Positions,
}

/// The treatment of an engine's standard error. Its last line is reported at its end in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorOutput {
    #[default]
    Quiet,
    Log,
}

impl EngineProgram {
    /// A program of the shell.
    #[cfg(test)]
    pub(super) fn shell(script: &str) -> Self {
        Self { path: "/bin/sh".into(), arguments: vec!["-c".to_owned(), script.to_owned()], ..Self::default() }
    }

    /// Returns the file to start: the one that `path` names, or for a bare name the first of that
    /// name in PATH, in the folders of games, or in the working folder. `None` if there is none.
    pub fn file(&self) -> Option<PathBuf> {
        let here = path::absolute(&self.path).ok();
        let is_name = self.path.components().count() == 1;
        let folders = env::var_os("PATH").filter(|_| is_name).unwrap_or_default();
        let games = GAMES.iter().filter(|_| is_name).map(|folder| Path::new(folder).join(&self.path));
        let named = env::split_paths(&folders).map(|folder| folder.join(&self.path)).chain(games);
        named.chain(here).find(|file| file.is_file())
    }

    /// Returns true if a worker may run it: it is known there by its name, and nothing about it
    /// belongs to this machine.
    pub fn can_travel(&self) -> bool {
        self.protocol == EngineProtocol::Uci
            && self.arguments.is_empty()
            && self.working_dir.is_none()
            && self.transcript.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn engine_is_found_by_name_or_path() {
        let file = |path: &str| EngineProgram { path: path.into(), ..EngineProgram::default() }.file();
        assert!(file("sh").is_some_and(|file| file.is_absolute() && file.ends_with("sh")));
        assert_eq!(file("/bin/sh"), Some("/bin/sh".into()));
        assert_eq!([file("no such engine"), file("/bin/no such engine")], [None, None]);
    }
}
