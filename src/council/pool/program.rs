//! How somebody else's engine is started, and in which language it is spoken to.

use std::{
    collections::BTreeMap,
    env,
    path::{self, Path, PathBuf},
};

use serde::{Deserialize, Serialize};

/// Where Debian and its kin put engines; PATH often lacks it, root's always.
const GAMES: [&str; 2] = ["/usr/games", "/usr/local/games"];

/// A program that searches for us.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineProgram {
    /// The file of the program, or its name alone.
    pub path: PathBuf,
    /// The arguments that it is started with.
    pub arguments: Vec<String>,
    /// Options to set, by name.
    pub options: BTreeMap<String, String>,
    /// The language that it speaks.
    pub protocol: EngineProtocol,
    /// The folder in which it runs; `None` is ours.
    pub working_dir: Option<PathBuf>,
    /// The file to which all that is said in either direction is added; `None` for none.
    pub transcript: Option<PathBuf>,
    /// What becomes of its standard error.
    pub stderr: ErrorOutput,
}

/// The language of an engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EngineProtocol {
    /// The Universal Chess Interface.
    #[default]
    Uci,
    /// The Chess Engine Communication Protocol, as under xboard.
    #[serde(alias = "xboard")]
    Cecp,
    /// A position a line in, a move a line out (docs/own-player.md).
    Positions,
}

/// What becomes of an engine's standard error. Its last line is told where it ends, whatever is chosen here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorOutput {
    /// It is not kept.
    #[default]
    Quiet,
    /// Each line goes into the log.
    Log,
}

impl EngineProgram {
    /// The file that is started: what `path` names or, where that is a name alone, the first of that name in the folders of PATH,
    /// those of games, or ours. `None` if there is no such file.
    pub fn file(&self) -> Option<PathBuf> {
        let here = path::absolute(&self.path).ok();
        let is_name = self.path.components().count() == 1;
        let folders = env::var_os("PATH").filter(|_| is_name).unwrap_or_default();
        let games = GAMES.iter().filter(|_| is_name).map(|folder| Path::new(folder).join(&self.path));
        let named = env::split_paths(&folders).map(|folder| folder.join(&self.path)).chain(games);
        named.chain(here).find(|file| file.is_file())
    }

    /// Whether a worker may run it in our place: it is known there by its name, and nothing about it belongs to this machine.
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
    fn an_engine_is_found_by_its_name_or_its_path() {
        let file = |path: &str| EngineProgram { path: path.into(), ..EngineProgram::default() }.file();
        assert!(file("sh").is_some_and(|file| file.is_absolute() && file.ends_with("sh")));
        assert_eq!(file("/bin/sh"), Some("/bin/sh".into()));
        assert_eq!([file("no such engine"), file("/bin/no such engine")], [None, None]);
    }
}
